"""Lines without end: a file with a line that memory cannot hold is refused before Spark tries to hold it."""

import gzip
import zlib
from collections.abc import Iterable
from pathlib import Path
from typing import BinaryIO, cast

from foresail.pipeline.errors import InputError

LONGEST_BYTES = 1 << 26
"""A line of twice as many is found for sure, one of fewer is never refused."""
_AT_ONCE = 1 << 16


def check_lines(files: Iterable[Path]) -> None:
    """Refuse local files of text with an endless line; folders are looked through, what is not there is not our matter.

    Only a few bytes are read: a line that long covers a whole stretch of the file, so it is enough to look whether a
    line ends in each. Of a compressed file only the first stretch is looked at.
    """
    for given in files:
        for file in sorted(given.rglob("*")) if given.is_dir() else [given]:
            if file.is_file() and (place := _endless(file)) is not None:
                msg = (
                    f"{file}: a line of more than {LONGEST_BYTES:,} bytes, which is the limit, after byte {place:,}. "
                    "Is it text? Break it into lines."
                )
                raise InputError(msg)


def _endless(file: Path) -> int | None:
    """Where a stretch begins in which no line ends; None where there is none."""
    packed = file.suffix == ".gz"
    try:
        with cast(BinaryIO, gzip.open(file)) if packed else file.open("rb") as handle:
            for place in range(0, LONGEST_BYTES if packed else file.stat().st_size, LONGEST_BYTES):
                handle.seek(place)
                if not _line_ends(handle):
                    return place
    except (OSError, EOFError, zlib.error):  # whoever reads it will say so
        return None
    return None


def _line_ends(handle: BinaryIO) -> bool:
    for _ in range(LONGEST_BYTES // _AT_ONCE):
        part = handle.read(_AT_ONCE)
        if len(part) < _AT_ONCE or b"\n" in part or b"\r" in part:
            return True
    return False
