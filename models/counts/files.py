"""Counts as a file: arrays and a JSON header, without pickle, checked when read."""

from dataclasses import fields
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from foresail.models.archive import Archive, from_bytes, read_archive, to_bytes, write_archive
from foresail.models.counts.counting import MOST_ORDER
from foresail.models.counts.grouped import GroupedCounts
from foresail.models.counts.table import Counts, Intervals, Level
from foresail.models.errors import ModelFileError
from foresail.models.identity import identity_as_json, identity_from_json

KIND = "counts"
GROUPED_KIND = "counts by group"
_PLAIN = ("max_order", "events", "tracks", "matches", "first_us", "last_us")
_PER_GROUP = _PLAIN[1:]


def write_counts(counts: Counts, file: Path) -> None:
    """Write the counts; a reader sees the old file or the new one, never half of it."""
    write_archive(_archive(counts), file)


def read_counts(file: Path) -> Counts:
    """The counts of a file."""
    return _counts(read_archive(file, KIND), str(file))


def counts_to_bytes(counts: Counts) -> bytes:
    """The content of a counts file, to be sent from a worker to the driver."""
    return to_bytes(_archive(counts))


def counts_from_bytes(content: bytes, where: str = "counts") -> Counts:
    """The counts that `counts_to_bytes` wrote."""
    return _counts(from_bytes(content, KIND, where), where)


def grouped_to_bytes(counts: GroupedCounts) -> bytes:
    """The content of a file of counts by group."""
    values = {
        "identity": identity_as_json(counts.identity),
        "max_order": counts.max_order,
        "groups": list(counts.groups),
    }
    arrays = _arrays(counts.levels, counts.intervals) | {name: getattr(counts, name) for name in _PER_GROUP}
    return to_bytes(Archive(GROUPED_KIND, values, arrays))


def grouped_from_bytes(content: bytes, where: str = "counts") -> GroupedCounts:
    """The counts that `grouped_to_bytes` wrote."""
    archive = from_bytes(content, GROUPED_KIND, where)
    try:
        by_group: dict[str, Any] = {name: archive.arrays[name] for name in _PER_GROUP}
        return GroupedCounts(groups=tuple(archive.values["groups"]), **_shared(archive), **by_group)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise _lacking(where, error) from None


def _archive(counts: Counts) -> Archive:
    values = {"identity": identity_as_json(counts.identity), **{name: getattr(counts, name) for name in _PLAIN}}
    return Archive(KIND, values, _arrays(counts.levels, counts.intervals))


def _arrays(levels: tuple[Level, ...], intervals: Intervals) -> dict[str, NDArray[Any]]:
    arrays: dict[str, NDArray[Any]] = {
        f"intervals_{field.name}": getattr(intervals, field.name) for field in fields(Intervals)
    }
    for length, level in enumerate(levels, start=1):
        arrays |= {f"codes_{length}": level.codes, f"counts_{length}": level.counts}
    return arrays


def _shared(archive: Archive) -> dict[str, Any]:
    """What counts of either kind hold."""
    values, arrays = archive.values, archive.arrays
    lengths = range(1, min(values["max_order"], MOST_ORDER) + 2)
    return {
        "identity": identity_from_json(values["identity"]),
        "max_order": values["max_order"],
        "levels": tuple(Level(arrays[f"codes_{n}"], arrays[f"counts_{n}"]) for n in lengths),
        "intervals": Intervals(*(arrays[f"intervals_{field.name}"] for field in fields(Intervals))),
    }


def _counts(archive: Archive, where: str) -> Counts:
    try:
        return Counts(**_shared(archive), **{name: archive.values[name] for name in _PLAIN[1:]})
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise _lacking(where, error) from None


def _lacking(where: str, error: Exception) -> ModelFileError:
    return ModelFileError(f"{where}: the counts lack {error}. Train anew with `foresail train`.")
