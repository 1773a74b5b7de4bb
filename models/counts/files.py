"""Counts as a file: arrays and a JSON header, without pickle, checked when read."""

from pathlib import Path

from models.counts.table import Counts


def write_counts(counts: Counts, file: Path) -> None:
    """Write the counts; a reader sees the old file or the new one, never half of it."""
    raise NotImplementedError


def read_counts(file: Path) -> Counts:
    """The counts of a file."""
    raise NotImplementedError


def counts_to_bytes(counts: Counts) -> bytes:
    """The content of a counts file, to be sent from a worker to the driver."""
    raise NotImplementedError


def counts_from_bytes(content: bytes, where: str = "counts") -> Counts:
    """The counts that `counts_to_bytes` wrote."""
    raise NotImplementedError
