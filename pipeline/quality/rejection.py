"""When so many rows were set aside that the user should hear of it: the share, and the sentence that says so."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from foresail.pipeline.errors import PipelineError
from foresail.pipeline.sources.zip_files import archive_name

SOUND = ("blank_line", "header_line", "comment", "other_sentence", "message_part", "not_a_position")
"""Reasons of rows that are as they should be and were never to become positions; they count on neither side."""
COMMONEST = 2


def rejected_share(rows: int, reasons: Mapping[str, int]) -> float:
    """Of the rows that could have been positions the share that was rejected; 1 where every row was, sound or not."""
    rejected = sum(reasons.values())
    sound = sum(reasons.get(reason, 0) for reason in SOUND)
    if not rows:
        return 0.0
    return 1.0 if rejected >= rows else (rejected - sound) / (rows - sound)


def rejection_warning(rows: int, reasons: Mapping[str, int], meanings: Mapping[str, str], seen: str = "") -> str:
    """How many rows were rejected, why most of them, and what the file was `seen` to be."""
    rejected = sum(reasons.values())
    commonest = sorted(reasons.items(), key=lambda entry: -entry[1])[:COMMONEST]
    why = "; ".join(f"{count:,} {reason}" + _meaning(meanings.get(reason)) for reason, count in commonest)
    return f"{rejected:,} of {rows:,} rows were rejected: {why}. {seen}".rstrip()


def table_warning(rows: int, rejected: int, paths: Sequence[str], where: str) -> str:
    """How many rows of a table were rejected, where they are, and what its first file looks like."""
    file = next((Path(path) for path in paths if Path(path).is_file()), None)
    seen = looks_like(file) if file else ""
    return f"{rejected:,} of {rows:,} rows were rejected: they are in {where}, each with its reason. {seen}".rstrip()


def looks_like(path: Path, feed: str | None = None) -> str:
    """What `path` looks like in a sentence, with the way on; nothing where it cannot be looked at."""
    from foresail.pipeline.look import look_at  # noqa: PLC0415 - only where something is wrong

    try:
        look = look_at(path)
    except PipelineError:
        return ""
    if look.feed not in (None, "mapped", feed):
        way_on = f"It looks like --from {look.feed}."
    elif look.faults:
        way_on = f"It cannot be read as it is: {look.faults[0]}."
    else:
        way_on = f"See how it can be read: `foresail look {_as_named(path)}`."
    return f"{path.name} is {look.says}. {way_on}"


def _as_named(path: Path) -> Path:
    """The file that the user named: of an unpacked member the archive."""
    named = Path(archive_name(str(path)))
    return next((place for place in (named, *named.parents) if place.is_file()), path)


def _meaning(text: str | None) -> str:
    return f" ({text})" if text else ""
