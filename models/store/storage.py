"""Where a store keeps its files: a few verbs that a local folder has, and any other file system can be given.

Paths are relative, with slashes. A write is seen whole or not at all; the lock keeps two writers apart.
"""

import fcntl
import os
import shutil
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Protocol

from foresail.models.archive import bounded_bytes
from foresail.models.errors import StoreBusyError, StoreWriteError

LOCK = ".lock"
WAIT_S = 30.0
_AGAIN_AFTER_S = 0.05


class Storage(Protocol):
    """Files by relative path."""

    @property
    def place(self) -> str:
        """What errors call it."""

    def read(self, path: str) -> bytes:
        """The content; FileNotFoundError when there is none, ModelFileError when it is larger than any of ours."""

    def write(self, path: str, content: bytes) -> None:
        """Replace the file in one move."""

    def names(self, path: str) -> list[str]:
        """What the folder holds, sorted; nothing when there is no such folder."""

    def exists(self, path: str) -> bool:
        """Whether a file or folder is there."""

    def remove(self, path: str) -> None:
        """Remove a file, or a folder with all in it."""

    def locked(self) -> AbstractContextManager[None]:
        """Keep every other writer waiting."""


class LocalStorage:
    """A folder of this machine, or one that it mounts."""

    def __init__(self, folder: Path, wait_s: float = WAIT_S) -> None:
        self.folder = folder
        self._wait_s = wait_s

    @property
    def place(self) -> str:
        """The folder."""
        return str(self.folder)

    def read(self, path: str) -> bytes:
        """The content of a file."""
        return bounded_bytes(self.folder / path)

    def write(self, path: str, content: bytes) -> None:
        """Write beside the file and move it there, so that a reader sees the old one or the new one."""
        file = self.folder / path
        half = file.with_name(f".{file.name}.{os.getpid()}.half")
        try:
            file.parent.mkdir(parents=True, exist_ok=True)
            with half.open("wb") as handle:
                handle.write(content)
                handle.flush()
                os.fsync(handle.fileno())
            half.replace(file)
        except OSError as error:
            msg = (
                f"{file}: cannot be written ({error.strerror}). What the store held is as it was: "
                "free some space or set the rights, then try again."
            )
            raise StoreWriteError(msg) from error
        finally:
            half.unlink(missing_ok=True)

    def names(self, path: str) -> list[str]:
        """What the folder holds; files that are half written are nobody's."""
        folder = self.folder / path
        return sorted(entry.name for entry in folder.glob("[!.]*")) if folder.is_dir() else []

    def exists(self, path: str) -> bool:
        """Whether a file or folder is there."""
        return (self.folder / path).exists()

    def remove(self, path: str) -> None:
        """Remove a file, or a folder with all in it."""
        target = self.folder / path
        if target.is_dir():
            shutil.rmtree(target)
        else:
            target.unlink(missing_ok=True)

    @contextmanager
    def locked(self) -> Iterator[None]:
        """A lock that the system gives back when its holder dies."""
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            handle = (self.folder / LOCK).open("a")
        except OSError as error:
            msg = f"{self.folder}: cannot be written ({error.strerror}). Set its rights, or name another folder."
            raise StoreWriteError(msg) from error
        with handle:
            wait_for(lambda: _taken(handle.fileno()), self._wait_s, str(self.folder / LOCK))
            yield


def wait_for(take: Callable[[], bool], wait_s: float, lock: str) -> None:
    """Try until the lock is taken, or say who is in the way."""
    until = time.monotonic() + wait_s
    while not take():
        if time.monotonic() > until:
            msg = f"{lock}: another writer has held the store for {wait_s:g} s. Wait for it, then try again."
            raise StoreBusyError(msg)
        time.sleep(_AGAIN_AFTER_S)


def _taken(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


class MemoryStorage:
    """Files that are kept in this process, for models that nobody asked to keep."""

    place = "models in memory"

    def __init__(self) -> None:
        self._files: dict[str, bytes] = {}
        self._lock = threading.RLock()

    def read(self, path: str) -> bytes:
        """The content of a file."""
        if path not in self._files:
            raise FileNotFoundError(path)
        return self._files[path]

    def write(self, path: str, content: bytes) -> None:
        """Replace the file."""
        self._files[path] = content

    def names(self, path: str) -> list[str]:
        """What the folder holds, sorted."""
        below = f"{path}/" if path else ""
        return sorted({file[len(below) :].partition("/")[0] for file in self._files if file.startswith(below)})

    def exists(self, path: str) -> bool:
        """Whether a file or folder is there."""
        return path in self._files or any(file.startswith(f"{path}/") for file in self._files)

    def remove(self, path: str) -> None:
        """Remove a file, or a folder with all in it."""
        self._files = {f: held for f, held in self._files.items() if f != path and not f.startswith(f"{path}/")}

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Keep every other thread waiting."""
        with self._lock:
            yield
