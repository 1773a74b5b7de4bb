"""Output folders: what a command writes it may replace, what it did not write it never touches.

`claim_output` makes a folder ours with a marker file; `replaced` swaps a finished result into place, so that a reader
sees the old one or the new one, and a job that fails or is killed leaves the old one as it was.

A folder that one job writes to at a time: a second one is told who holds it, and what killed ones left is swept.

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

MARKER = ".foresail"
MARKER_PREFIX = "foresail "


def claim_output(path: Path, command: str) -> Path:
    """`path` as a folder that `foresail <command>` may write to; made if absent, refused if its content is foreign."""
    owner = owner_of(path)
    if owner is None and _holds_foreign_content(path):
        msg = f"{path}: holds files that foresail did not write. Name a new or empty folder."
        raise OutputError(msg)
    if owner not in (None, command):
        msg = f"{path}: holds the result of `foresail {owner}`. Name another folder for `foresail {command}`."
        raise OutputError(msg)
    made = not path.exists()
    try:
        path.mkdir(parents=True, exist_ok=True)
        if owner is None:
            (path / MARKER).write_text(f"{MARKER_PREFIX}{command}\n", encoding="utf-8")
    except OSError as error:
        if made:
            shutil.rmtree(path, ignore_errors=True)
        msg = f"{path}: cannot be written ({error.strerror}). Name another folder, or make room and set its rights."
        raise OutputError(msg) from None
    return path


def owner_of(path: Path) -> str | None:
    """The command whose result `path` holds; None for a folder that is absent or not ours."""
    try:
        text = (path / MARKER).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return None
    first = text.partition("\n")[0]
    return first.removeprefix(MARKER_PREFIX).strip() or None if first.startswith(MARKER_PREFIX) else None


@contextmanager
def replaced(path: Path) -> Iterator[Path]:
    """A place beside `path`, not made yet, to write a file or folder to; it becomes `path` when the block ends well."""
    staging, former = (path.with_name(f".{path.name}.{role}") for role in ("staging", "former"))
    _mend(path, staging, former)
    try:
        yield staging
    except BaseException:
        shutil.rmtree(staging, ignore_errors=True)  # workers of a job that was cut off may still write to it
        if not staging.is_dir():
            staging.unlink(missing_ok=True)
        raise
    if not staging.exists():
        msg = f"{path}: the job ended without writing it. Nothing was replaced."
        raise OutputError(msg)
    if path.is_dir() and not path.is_symlink():
        path.rename(former)
    staging.replace(path)
    _remove(former)


def _mend(path: Path, staging: Path, former: Path) -> None:
    """Undo what a run that was killed in the middle of a swap has left."""
    _remove(staging)
    if former.exists() and not path.exists():
        former.rename(path)
    _remove(former)


def _holds_foreign_content(path: Path) -> bool:
    if not path.exists():
        return False
    if not path.is_dir():
        msg = f"{path}: is a file, not a folder. Name a new or empty folder."
        raise OutputError(msg)
    try:
        return any(entry.name != MARKER for entry in path.iterdir())
    except OSError as error:
        msg = f"{path}: cannot be read ({error.strerror}). Name another folder, or set its rights."
        raise OutputError(msg) from None


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


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
