"""From inputs to messages: which file is read how, and what becomes of a file that is not of the feed."""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import reduce

from pyspark.sql import DataFrame, Observation, SparkSession
from pyspark.sql import functions as F  # noqa: N812

from foresail.pipeline.errors import InputError
from foresail.pipeline.sources import gtfs_realtime, nmea
from foresail.pipeline.sources.feed import Feed, as_messages
from foresail.pipeline.sources.kafka import Topic, read_topic
from foresail.pipeline.sources.lines import check_lines_of, read_documents, read_lines, read_lines_in_order
from foresail.pipeline.sources.storage import SourceFile, first_line
from foresail.pipeline.sources.tables import PARQUET_MAGIC, lacking, parse_table, read_table
from foresail.pipeline.sources.text_rows import (
    delimiter_of,
    explode_documents,
    fits,
    is_document,
    looks_like_json,
    parse_csv,
    parse_json,
)


class NotOfFeedError(InputError):
    """No file is of the feed; `place` is where the first of them lies, if on a disk."""

    def __init__(self, feed: Feed, file: SourceFile, first: str) -> None:
        wanted = ", ".join(names[0] for names in feed.required)
        begins = "".join(sign if sign.isprintable() else "?" for sign in first[:80].strip())
        super().__init__(
            f"{file.name}: not a file of the feed '{feed.name}', which has {wanted}: it begins with '{begins}'."
        )
        self.place = file.local


@dataclass(frozen=True, slots=True)
class Reading:
    """Messages that are being read, what counts the rows as they come in, and the files that are not of the feed."""

    messages: DataFrame
    counts: tuple[Observation, ...]
    strangers: tuple[str, ...]

    def rows_in(self) -> int:
        """The rows that entered; known once the messages have been written."""
        return sum(int(count.get["rows"]) for count in self.counts)


@dataclass(slots=True)
class _Counting:
    """Puts a counter where rows enter, before anything can happen to them."""

    counts: list[Observation] = field(default_factory=list)

    def __call__(self, rows: DataFrame) -> DataFrame:
        count = Observation()
        self.counts.append(count)
        return rows.observe(count, F.count(F.lit(1)).alias("rows"))


@dataclass(frozen=True, slots=True)
class _Task:
    """What the readers of all carriers are told."""

    spark: SparkSession
    feed: Feed
    firsts: dict[SourceFile, str]
    tolerant: bool
    starts_us: int | None
    counting: _Counting


def read_messages(
    spark: SparkSession, feed: Feed, files: list[SourceFile], tolerant: bool = False, starts_us: int | None = None
) -> Reading:
    """Every row of `files` as a message of `feed`; `tolerant` reads a damaged file as far as it goes."""
    if feed.carrier in ("csv", "json", "nmea"):
        check_lines_of(spark, files)
    counting = _Counting()
    task = _Task(spark, feed, {file: first_line(spark, file) for file in files}, tolerant, starts_us, counting)
    parts, strangers = _READERS[feed.carrier](task)
    if strangers and not parts:
        raise NotOfFeedError(feed, strangers[0], task.firsts[strangers[0]])
    if strangers:
        lines = counting(read_lines(spark, strangers, tolerant)).withColumn("fault", F.lit("wrong_format"))
        parts.append(as_messages(lines, {}))
    messages = reduce(lambda one, other: one.unionByName(other, allowMissingColumns=True), parts)
    return Reading(messages, tuple(counting.counts), tuple(file.name for file in strangers))


def read_topic_messages(spark: SparkSession, feed: Feed, topic: Topic) -> Reading:
    """Everything that a Kafka topic holds now, as messages of `feed`."""
    counting = _Counting()
    messages = parse_lines(counting(read_topic(spark, topic)), feed)
    return Reading(messages, tuple(counting.counts), ())


def parse_lines(lines: DataFrame, feed: Feed) -> DataFrame:
    """Messages from `lines` (raw, source, line, recoded) of a stream or topic, where there is no file to look at."""
    match feed.carrier:
        case "csv":
            return parse_csv(lines, feed, feed.header, feed.delimiter)
        case "json":
            return parse_json(lines, feed)
        case "nmea":
            return nmea.decode_lines(lines)
        case _:
            msg = f"--from {feed.name}: comes in files, not in lines. Use a feed of lines: CSV, JSON or NMEA."
            raise InputError(msg)


_Parts = tuple[list[DataFrame], list[SourceFile]]


def _csv_parts(task: _Task) -> _Parts:
    feed = task.feed
    groups: dict[tuple[str, str], list[SourceFile]] = {}
    strangers: list[SourceFile] = []
    for file, first in task.firsts.items():
        header = feed.header if _is_headless(feed, first) else first
        delimiter = delimiter_of(feed, header) if header.strip() else feed.delimiter
        if delimiter is None:
            strangers.append(file)
        else:
            groups.setdefault((header, delimiter), []).append(file)
    parts = []
    for (header, delimiter), group in groups.items():
        lines = read_lines(task.spark, group, task.tolerant)
        headless = all(_is_headless(feed, task.firsts[file]) for file in group)
        rows = lines if headless else lines.filter("line > 1")
        parts.append(parse_csv(task.counting(rows), feed, header, delimiter))
    return parts, strangers


def _is_headless(feed: Feed, first: str) -> bool:
    """Whether the feed names its columns itself and the file does not begin with them."""
    return feed.headless and not fits(feed, first, feed.delimiter)


def _json_parts(task: _Task) -> _Parts:
    strangers = [file for file, first in task.firsts.items() if first.strip() and not looks_like_json(first)]
    documents = [file for file, first in task.firsts.items() if file not in strangers and is_document(first, task.feed)]
    lines = [file for file in task.firsts if file not in strangers and file not in documents]
    parts = []
    if lines:
        parts.append(parse_json(task.counting(read_lines(task.spark, lines, task.tolerant)), task.feed))
    if documents:
        whole = read_documents(task.spark, documents, task.tolerant)
        parts.append(parse_json(task.counting(explode_documents(whole, task.feed)), task.feed))
    return parts, strangers


def _nmea_parts(task: _Task) -> _Parts:
    files = list(task.firsts)
    starts = {file.name: task.starts_us or file.modified_ms * 1_000 for file in files}
    lines = task.counting(read_lines_in_order(task.spark, files, task.tolerant))
    return [nmea.decode_lines(lines, starts)], []


def _gtfs_parts(task: _Task) -> _Parts:
    snapshots = gtfs_realtime.read_snapshots(task.spark, list(task.firsts))
    return [task.counting(gtfs_realtime.decode_snapshots(snapshots))], []


def _parquet_parts(task: _Task) -> _Parts:
    strangers = [file for file, first in task.firsts.items() if not first.startswith(PARQUET_MAGIC)]
    files = [file for file in task.firsts if file not in strangers]
    if not files:
        return [], strangers
    table = read_table(task.spark, files)
    absent = lacking(task.feed, table)
    if absent:
        msg = (
            f"{files[0].name}: has no column {', '.join(absent)}; it has {', '.join(table.columns[:-2])[:200]}. "
            "Name the columns in a --mapping."
        )
        raise InputError(msg)
    return [parse_table(task.counting(table), task.feed)], strangers


_READERS: dict[str, Callable[[_Task], _Parts]] = {
    "csv": _csv_parts,
    "json": _json_parts,
    "nmea": _nmea_parts,
    "gtfs": _gtfs_parts,
    "parquet": _parquet_parts,
}
