"""A folder that one job writes to at a time: a second one is told who holds it, and what killed ones left is swept.

The lock is the system's, on the folder's marker: it is given back when its holder ends, however it ends.
What the marker says of the holder is for people.
"""

import fcntl
import os
import re
import shutil
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import TextIO

from foresail.pipeline.errors import OutputError
from foresail.pipeline.sinks.output_folder import MARKER, MARKER_PREFIX, claim_output

STAGING = re.compile(r"\.(?P<name>.+)\.(?P<role>staging|staging\.parts|former)")
WORKPLACES = (".ingest",)
HOLDER = "held by "


def _now() -> datetime:
    return datetime.now(UTC)


@contextmanager
def held_output(path: Path, command: str, now: Callable[[], datetime] = _now) -> Iterator[Path]:
    """`path` for `foresail <command>` alone while the block runs; what is unfinished in it afterwards is taken away."""
    claim_output(path, command)
    with (path / MARKER).open("r+", encoding="utf-8") as marker:
        _lock(marker, path)
        sweep(path)
        holder = f"process {os.getpid()} on {socket.gethostname()} since {now():%Y-%m-%d %H:%M:%S} UTC"
        _write(marker, f"{MARKER_PREFIX}{command}\n{HOLDER}{holder}\n")
        try:
            yield path
        finally:
            sweep(path)
            _write(marker, f"{MARKER_PREFIX}{command}\n")


def sweep(path: Path) -> None:
    """Take away what jobs that ended in the middle have left in `path`; a result that was being replaced comes back."""
    for entry in list(path.iterdir()) if path.is_dir() else ():
        found = STAGING.fullmatch(entry.name)
        if found and found["role"] == "former" and not (path / found["name"]).exists():
            entry.rename(path / found["name"])
        elif found or entry.name in WORKPLACES:
            _take_away(entry)


def _take_away(entry: Path) -> None:
    if entry.is_dir():
        shutil.rmtree(entry, ignore_errors=True)
    else:
        entry.unlink(missing_ok=True)


def _lock(marker: TextIO, path: Path) -> None:
    try:
        fcntl.flock(marker, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        first, _, second = marker.read().partition("\n")
        who = second.strip().removeprefix(HOLDER) or "another process"
        msg = f"{path}: `{first.strip()}` is writing there ({who}). Wait until it ends, or name another folder."
        raise OutputError(msg) from None
    except OSError:
        return  # a file system without locks


def _write(marker: TextIO, text: str) -> None:
    marker.seek(0)
    marker.truncate()
    marker.write(text)
    marker.flush()
