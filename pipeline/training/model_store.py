"""The model store that a place names: a folder, or a URI of any file system that Hadoop knows.

A model store on any file system that Hadoop knows (hdfs, s3a, abfs, file): its verbs, by Spark's Java process.
"""

import re
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any

from foresail.models.archive import MOST_BYTES
from foresail.models.errors import ModelFileError, StoreWriteError
from foresail.models.store import ModelStore
from foresail.models.store.storage import LOCK, WAIT_S, wait_for
from foresail.pipeline.runtime.java_process import one_line

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


_URI = re.compile(r"[a-z][a-z0-9+.-]+:.*")


def is_uri(place: str) -> bool:
    """Whether `place` is no folder of this machine."""
    return _URI.fullmatch(place) is not None


def open_store(place: str, spark: "Callable[[], SparkSession]") -> ModelStore:
    """The store at `place`; Spark is started only for a URI such as hdfs://host/models."""
    if not is_uri(place):
        return ModelStore(Path(place))

    return ModelStore(HadoopStorage(spark(), place))


STALE_LOCK_MS = 600_000
"""A lock older than this was left by a writer that died: none holds it for more than a second."""


class HadoopStorage:
    """Files below a URI. Replacing a file is a rename that overwrites, which HDFS and local disks do in one move."""

    def __init__(self, spark: "SparkSession", uri: str, wait_s: float = WAIT_S) -> None:
        jvm: Any = spark._jvm
        self._jvm = jvm
        self._java_path = jvm.org.apache.hadoop.fs.Path
        self.place = uri.rstrip("/")
        root = self._java_path(self.place)
        conf = spark._jsc.hadoopConfiguration()
        self._files = root.getFileSystem(conf)
        # rename that overwrites is only in the newer interface
        self._context = jvm.org.apache.hadoop.fs.FileContext.getFileContext(root.toUri(), conf)
        rename = getattr(self._jvm, "org.apache.hadoop.fs.Options$Rename")
        self._overwrite = spark.sparkContext._gateway.new_array(rename, 1)  # type: ignore[union-attr]
        self._overwrite[0] = rename.OVERWRITE
        self._wait_s = wait_s

    def read(self, path: str) -> bytes:
        """The content of a file."""
        if not self.exists(path):
            msg = f"{self.place}/{path}"
            raise FileNotFoundError(msg)
        if self._files.getFileStatus(self._at(path)).getLen() > MOST_BYTES:
            msg = f"{self.place}/{path}: larger than {MOST_BYTES:,} bytes, which is the limit. This is no file of ours."
            raise ModelFileError(msg)
        stream = self._files.open(self._at(path))
        try:
            return bytes(self._jvm.org.apache.commons.io.IOUtils.toByteArray(stream))
        finally:
            stream.close()

    def write(self, path: str, content: bytes) -> None:
        """Write beside the file and move it there."""
        whole = PurePosixPath(path)
        half = self._at(str(whole.with_name(f".{whole.name}.{time.time_ns()}.half")))
        try:
            stream = self._files.create(half, True)
            stream.write(bytearray(content))
            stream.close()
            self._context.rename(half, self._at(path), self._overwrite)
        except Exception as error:
            self._files.delete(half, True)
            msg = (
                f"{self.place}/{path}: cannot be written ({one_line(error)}). What the store held is as it was: "
                "free some space or set the rights, then try again."
            )
            raise StoreWriteError(msg) from error

    def names(self, path: str) -> list[str]:
        """What the folder holds; files that are half written are nobody's."""
        if not self.exists(path):
            return []
        found = (status.getPath().getName() for status in self._files.listStatus(self._at(path)))
        return sorted(name for name in found if not name.startswith("."))

    def exists(self, path: str) -> bool:
        """Whether a file or folder is there."""
        return bool(self._files.exists(self._at(path)))

    def remove(self, path: str) -> None:
        """Remove a file, or a folder with all in it."""
        self._files.delete(self._at(path), True)

    @contextmanager
    def locked(self) -> Iterator[None]:
        """A file that only one writer can create; it is removed at the end, or by others when it is stale."""
        lock = self._at(LOCK)
        wait_for(lambda: self._created(lock), self._wait_s, f"{self.place}/{LOCK}")
        try:
            yield
        finally:
            self._files.delete(lock, False)

    def _created(self, lock: Any) -> bool:
        try:
            self._files.create(lock, False).close()
        except Exception:
            if not self._files.exists(lock):
                raise
            if time.time() * 1000 - self._files.getFileStatus(lock).getModificationTime() > STALE_LOCK_MS:
                self._files.delete(lock, False)
            return False
        return True

    def _at(self, path: str) -> Any:
        return self._java_path(f"{self.place}/{path}" if path else self.place)
