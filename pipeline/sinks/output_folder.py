"""Output folders: what a command writes it may replace, what it did not write it never touches.

`claim_output` makes a folder ours with a marker file; `replaced` swaps a finished result into place, so that a reader
sees the old one or the new one, and a job that fails or is killed leaves the old one as it was.
"""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

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
