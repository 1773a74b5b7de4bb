"""Which Parquet files of a folder can be read: the bad ones are named before a job begins, and can be left out."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from foresail.pipeline.errors import InputError

FOOTER_THREADS = 8
EVENTS = "events"
"""The folder in which commands write events."""


@dataclass(frozen=True, slots=True)
class UsableFiles:
    """What to read: the paths as they were given, or without the files that cannot be read."""

    paths: tuple[str, ...]
    folder: str | None = None
    """The one folder that all of `paths` are files of, where files were left out."""
    corrupt: tuple[str, ...] = ()


def usable_files(paths: Sequence[str], skip_corrupt: bool) -> UsableFiles:
    """The paths without corrupt Parquet files; one of these is an error unless they are to be skipped."""
    files = [file for path in paths if "://" not in path for file in parquet_files(Path(path))]
    with ThreadPoolExecutor(FOOTER_THREADS) as threads:
        faults = list(threads.map(footer_fault, files))
    bad = {str(file): fault for file, fault in zip(files, faults, strict=True) if fault}
    if not bad:
        return UsableFiles(tuple(paths))
    if not skip_corrupt:
        file, fault = next(iter(bad.items()))
        msg = f"{file}: cannot be read as Parquet ({fault}). Mend or remove it, or go on without it: --skip-corrupt."
        raise InputError(msg)
    good = [str(file) for file in files if str(file) not in bad]
    if not good:
        msg = f"{', '.join(paths)}: no file among {len(bad)} can be read as Parquet. Name others."
        raise InputError(msg)
    return UsableFiles(tuple(good), paths[0] if len(paths) == 1 else None, tuple(bad))


def parquet_files(path: Path) -> list[Path]:
    """The files that Spark reads at `path`: names that begin with a dot or an underscore are not data."""
    if path.is_file():
        return [path] if path.suffix == ".parquet" else []
    found = (file for file in sorted(path.rglob("*.parquet")) if file.is_file())
    return [file for file in found if not any(part.startswith((".", "_")) for part in file.relative_to(path).parts)]


def footer_fault(file: Path) -> str | None:
    """Why the footer of `file` cannot be read, or None."""
    try:
        pq.read_metadata(file)
    except (OSError, pa.ArrowException) as error:
        return str(error).strip().splitlines()[0].rstrip(".")[:120]
    return None


def events_folder(path: str) -> str:
    """Where the events of `path` lie: in its folder `events` if a command wrote it, else in itself."""
    return str(Path(path) / EVENTS) if (Path(path) / EVENTS).is_dir() else path
