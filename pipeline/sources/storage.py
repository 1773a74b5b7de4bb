"""Files as Spark sees them: listing, first line, fingerprint and soundness, through Hadoop's file systems.

Going through Hadoop means that a bucket or HDFS works as a local disk does, and that no file is loaded to look at it.
"""

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from py4j.protocol import Py4JJavaError
from pyspark.sql import SparkSession

from foresail.pipeline.errors import InputError
from foresail.pipeline.sources.zip_files import archive_name, is_zip, with_unpacked

LONGEST_HEADER_BYTES = 1 << 16
NEVER_SPLIT_BELOW_BYTES = 4 << 20
"""Spark splits no file smaller than `spark.sql.files.openCostInBytes`, whose default this is."""


@dataclass(frozen=True, slots=True)
class SourceFile:
    """One input file; `path` is what Spark is told, `name` what `source` says in the rows."""

    path: str
    name: str
    size_bytes: int
    modified_ms: int
    compressed: bool

    @property
    def local(self) -> Path | None:
        """Where it lies on a disk of this machine; None where it does not."""
        return Path(self.path.removeprefix("file:")) if self.path.startswith("file:") else None

    @property
    def may_be_split(self) -> bool:
        """Whether Spark may read it in several parts."""
        return not self.compressed and self.size_bytes > NEVER_SPLIT_BELOW_BYTES


def list_files(spark: SparkSession, inputs: Iterable[str]) -> list[SourceFile]:
    """Every file that `inputs` (files, folders, globs) name, hidden ones left out; one that names none is a fault.

    In the place of a zip stand the files inside.
    """
    files: dict[str, SourceFile] = {}
    for given in inputs:
        found = [file for listed in _expand(spark, given) for file in _members(spark, listed)]
        if not found:
            msg = f"{given}: no such file or folder, or nothing in it. Name files, folders or globs that exist."
            raise InputError(msg)
        files |= {file.path: file for file in found}
    return sorted(files.values(), key=lambda file: file.name)


def _members(spark: SparkSession, file: SourceFile) -> list[SourceFile]:
    if file.local is None:
        if file.name.lower().endswith(".zip"):
            msg = f"{file.name}: a zip is read from local disks only. Copy it here, or unpack it there."
            raise InputError(msg)
        return [file]
    if not is_zip(file.local):
        return [file]
    inside = with_unpacked([str(file.local)], spark.conf.get("spark.local.dir", None))
    return [member for path in inside for member in _expand(spark, path)]


def first_line(spark: SparkSession, file: SourceFile) -> str:
    """The first line without a byte order mark, at most 64 KB of it; empty when the file is empty or unreadable."""
    jvm: Any = spark._jvm
    text = jvm.org.apache.hadoop.io.Text()
    try:
        stream = _open(spark, file)
        try:
            jvm.org.apache.hadoop.util.LineReader(stream).readLine(text, LONGEST_HEADER_BYTES)
        finally:
            stream.close()
    except Py4JJavaError:
        return ""
    return _decoded(bytes(text.copyBytes()))


def endless_line(spark: SparkSession, file: SourceFile, longest_bytes: int) -> int | None:
    """Where a stretch of so many bytes begins in which no line ends; None where there is none, or nothing to read.

    A line is looked for, not kept, and by Java: of every stretch a few kilobytes are read, and none come here. Of a
    compressed file only the first stretch is looked at.
    """
    jvm: Any = spark._jvm
    try:
        stream = _open(spark, file)
        try:
            for place in range(0, longest_bytes if file.compressed else file.size_bytes, longest_bytes):
                if place:
                    stream.seek(place)
                lines = jvm.org.apache.hadoop.util.LineReader(stream)
                if lines.readLine(jvm.org.apache.hadoop.io.Text(), 1, longest_bytes) >= longest_bytes:
                    return place
        finally:
            stream.close()
    except Py4JJavaError:  # whoever reads it will say so
        return None
    return None


def _decoded(line: bytes) -> str:
    """`line` as `foresail.pipeline.sources.lines` reads it: Latin-1 where it is not UTF-8."""
    try:
        return line.decode("utf-8-sig")
    except UnicodeDecodeError:
        return line.decode("latin-1")


def fingerprint(spark: SparkSession, file: SourceFile) -> str:
    """SHA-256 of the bytes as stored: two files with the same fingerprint hold the same messages."""
    if file.local is not None:
        with file.local.open("rb") as content:
            return hashlib.file_digest(content, "sha256").hexdigest()
    jvm: Any = spark._jvm
    stream = _raw_stream(spark, file)
    try:
        digest: str = jvm.org.apache.commons.codec.digest.DigestUtils.sha256Hex(stream)
    finally:
        stream.close()
    return digest


def is_sound(spark: SparkSession, file: SourceFile) -> bool:
    """Whether the file can be read, and decompressed, to its end."""
    jvm: Any = spark._jvm
    try:
        stream = _open(spark, file)
        try:
            jvm.org.apache.commons.io.IOUtils.consume(stream)
        finally:
            stream.close()
    except Py4JJavaError:
        return False
    return True


def escaped(path: str) -> str:
    """`path` with glob signs escaped, so that Spark reads the file of that name and no other."""
    return "".join(f"\\{sign}" if sign in "*?[]{}\\" else sign for sign in path)


def _expand(spark: SparkSession, given: str) -> list[SourceFile]:
    jvm: Any = spark._jvm
    try:
        path = jvm.org.apache.hadoop.fs.Path(given)
        file_system = path.getFileSystem(_configuration(spark))
        statuses = [file_system.getFileStatus(path)] if file_system.exists(path) else file_system.globStatus(path)
    except Py4JJavaError as error:
        msg = f"{given}: cannot be read ({_reason(error)}). Check the path and its rights."
        raise InputError(msg) from None
    found: list[SourceFile] = []
    for status in statuses or ():
        found += _walk(spark, file_system, status)
    return found


def _walk(spark: SparkSession, file_system: Any, status: Any) -> list[SourceFile]:
    name = status.getPath().getName()
    if not status.isDirectory():
        return [_source_file(spark, status)]
    found: list[SourceFile] = []
    for inner in file_system.listStatus(status.getPath()):
        name = inner.getPath().getName()
        if not name.startswith(("_", ".")):
            found += _walk(spark, file_system, inner)
    return found


def _source_file(spark: SparkSession, status: Any) -> SourceFile:
    jvm: Any = spark._jvm
    path = status.getPath()
    codec = jvm.org.apache.hadoop.io.compress.CompressionCodecFactory(_configuration(spark)).getCodec(path)
    uri: str = path.toUri().toString()
    return SourceFile(
        path=path.toString(),
        name=plain_name(uri),
        size_bytes=status.getLen(),
        modified_ms=status.getModificationTime(),
        compressed=codec is not None,
    )


def plain_name(uri: str) -> str:
    """A local path without its scheme; any other address as it is."""
    if not uri.startswith("file:"):
        return uri
    return archive_name(unquote(uri.removeprefix("file://").removeprefix("file:")))


def _open(spark: SparkSession, file: SourceFile) -> Any:
    jvm: Any = spark._jvm
    codec = jvm.org.apache.hadoop.io.compress.CompressionCodecFactory(_configuration(spark)).getCodec(
        jvm.org.apache.hadoop.fs.Path(file.path)
    )
    stream = _raw_stream(spark, file)
    return codec.createInputStream(stream) if codec else stream


def _raw_stream(spark: SparkSession, file: SourceFile) -> Any:
    jvm: Any = spark._jvm
    path = jvm.org.apache.hadoop.fs.Path(file.path)
    return path.getFileSystem(_configuration(spark)).open(path)


def _configuration(spark: SparkSession) -> Any:
    return spark.sparkContext._jsc.hadoopConfiguration()


def _reason(error: Py4JJavaError) -> str:
    return str(error.java_exception.getMessage() or error.java_exception.toString()).splitlines()[0]
