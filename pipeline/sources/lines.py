"""Text files as numbered lines: the form in which every message enters, so that none can get lost.

A line is `raw` (its text), `source` (the file's name) and `line` (counted from 1). Text that is not UTF-8 is read as
Latin-1, which has a letter for every byte, and marked in `recoded`.

Lines without end: a file with a line that memory cannot hold is refused before Spark tries to hold it.
"""

import gzip
import zlib
from collections.abc import Iterable
from itertools import groupby
from pathlib import Path
from typing import BinaryIO, NoReturn, cast

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812

from foresail.pipeline.errors import InputError
from foresail.pipeline.sources import storage
from foresail.pipeline.sources.storage import SourceFile, escaped
from foresail.pipeline.sources.zip_files import FOLDER_PREFIX, UNPACKED_PREFIX


def read_lines(spark: SparkSession, files: list[SourceFile], tolerant: bool = False) -> DataFrame:
    """Every line of `files`; `tolerant` reads a damaged file as far as it goes."""
    text = _with_places(spark, files, tolerant)
    if len(files) == 1 and not files[0].may_be_split:
        return _as_lines(text.withColumn("line", F.col("place") + 1), F.lit(files[0].name))
    blocks = spark.createDataFrame(
        [(*block, storage.plain_name(block[0])) for block in _first_lines(text)],
        "file string, block long, first_place long, first_line long, name string",
    )
    numbered = text.join(F.broadcast(blocks), ["file", "block"])
    line = F.col("place") - F.col("first_place") + F.col("first_line")
    return _as_lines(numbered.withColumn("line", line), F.col("name"))


def read_lines_in_order(spark: SparkSession, files: list[SourceFile], tolerant: bool = False) -> DataFrame:
    """Like `read_lines`, but no file is spread over partitions: its lines come one after the other."""
    whole = [file for file in files if not file.may_be_split]
    parts = [read_lines(spark, whole, tolerant)] if whole else []
    parts += [read_lines(spark, [file], tolerant).coalesce(1) for file in files if file.may_be_split]
    lines = parts[0]
    for part in parts[1:]:
        lines = lines.unionByName(part)
    return lines


def stream_lines(spark: SparkSession, directory: str) -> DataFrame:
    """The lines of files that arrive in `directory`, and when their file `arrived`, in microseconds.

    A stream does not number lines, so `line` is null.
    """
    text = spark.readStream.text(directory)
    arrived = F.unix_micros("_metadata.file_modification_time").alias("arrived")
    places = text.select("value", F.col("_metadata.file_path").alias("file"), arrived)
    return _as_lines(places.withColumn("line", F.lit(None)), further=("arrived",))


def read_documents(spark: SparkSession, files: list[SourceFile], tolerant: bool = False) -> DataFrame:
    """Each file as one text, for formats whose messages span lines."""
    reader = spark.read.option("ignoreCorruptFiles", str(tolerant).lower())
    text = reader.text([escaped(file.path) for file in files], wholetext=True)
    return _as_lines(text.select("value", F.col("_metadata.file_path").alias("file"), F.lit(1).alias("line")))


def _with_places(spark: SparkSession, files: list[SourceFile], tolerant: bool) -> DataFrame:
    reader = spark.read.option("ignoreCorruptFiles", str(tolerant).lower())
    return reader.text([escaped(file.path) for file in files]).select(
        "value",
        F.col("_metadata.file_path").alias("file"),
        F.col("_metadata.file_block_start").alias("block"),
        F.monotonically_increasing_id().alias("place"),
    )


def _first_lines(text: DataFrame) -> list[tuple[str, int, int, int]]:
    """For each block of each file: the place of its first line in the scan, and the number of that line in the file."""
    blocks = text.groupBy("file", "block").agg(F.min("place"), F.count("*")).orderBy("file", "block").collect()
    numbered: list[tuple[str, int, int, int]] = []
    for _, of_file in groupby(blocks, key=lambda block: str(block["file"])):
        next_line = 1
        for file, block, place, lines in of_file:
            numbered.append((file, block, place, next_line))
            next_line += lines
    return numbered


def _as_lines(text: DataFrame, name: Column | None = None, further: tuple[str, ...] = ()) -> DataFrame:
    valid = F.is_valid_utf8("value")
    readable = F.when(valid, F.col("value")).otherwise(F.decode(F.col("value").cast("binary"), "ISO-8859-1"))
    return text.select(
        readable.alias("raw"),
        (plain_name(F.col("file")) if name is None else name).alias("source"),
        F.col("line").cast("long").alias("line"),
        (~valid).alias("recoded"),
        *further,
    )


def plain_name(uri: Column) -> Column:
    """A local path without its scheme; any other address as it is."""
    local = F.url_decode(F.replace(F.regexp_replace(uri, "^file:(//)?", ""), F.lit("+"), F.lit("%2B")))
    inside = F.when(local.contains(FOLDER_PREFIX), F.regexp_replace(local, UNPACKED_PREFIX, "")).otherwise(local)
    return F.when(uri.startswith("file:"), inside).otherwise(uri)


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
            if file.is_file():
                _refuse(str(file), _endless(file))


def check_lines_of(spark: SparkSession, files: Iterable[SourceFile]) -> None:
    """The same for files wherever they are: what is not on a disk of this machine is looked at through Hadoop.

    There is no rejecting the one row: Hadoop's reader of lines passes by one that is longer than it may hold, and the
    rows that come out of it do not say so.
    """
    for file in files:
        local = file.local
        _refuse(file.name, storage.endless_line(spark, file, LONGEST_BYTES) if local is None else _endless(local))


def _refuse(name: str, place: int | None) -> None:
    if place is not None:
        raise_endless(name, place)


def raise_endless(name: str, place: int) -> NoReturn:
    """Say that a line has no end."""
    msg = (
        f"{name}: a line of more than {LONGEST_BYTES:,} bytes, which is the limit, after byte {place:,}. "
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
