"""Counts as a file: arrays and a JSON header, without pickle, checked when read."""

from dataclasses import fields
from pathlib import Path

from models.archive import Archive, from_bytes, read_archive, to_bytes, write_archive
from models.counts.table import Counts, Intervals, Level
from models.errors import ModelFileError
from models.identity import identity_as_json, identity_from_json

KIND = "counts"
_PLAIN = ("max_order", "events", "tracks", "matches", "first_us", "last_us")


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


def _archive(counts: Counts) -> Archive:
    values = {"identity": identity_as_json(counts.identity), **{name: getattr(counts, name) for name in _PLAIN}}
    arrays = {f"intervals_{field.name}": getattr(counts.intervals, field.name) for field in fields(Intervals)}
    for length, level in enumerate(counts.levels, start=1):
        arrays |= {f"codes_{length}": level.codes, f"counts_{length}": level.counts}
    return Archive(KIND, values, arrays)


def _counts(archive: Archive, where: str) -> Counts:
    values, arrays = archive.values, archive.arrays
    try:
        lengths = range(1, values["max_order"] + 2)
        return Counts(
            identity=identity_from_json(values["identity"]),
            levels=tuple(Level(arrays[f"codes_{n}"], arrays[f"counts_{n}"]) for n in lengths),
            intervals=Intervals(*(arrays[f"intervals_{field.name}"] for field in fields(Intervals))),
            **{name: values[name] for name in _PLAIN},
        )
    except (KeyError, TypeError) as error:
        msg = f"{where}: the counts lack {error}. Train anew with `foresail train`."
        raise ModelFileError(msg) from None
