"""`foresail ingest`: files of a feed become canonical positions laid out by track, and no row is lost on the way.

Rows are read, judged one by one and kept in a staging folder; then each track is settled (repeats, spikes, jumps),
derived and written. Nothing is put into place before the rows written add up to the rows read.
"""

import shutil
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass, replace
from functools import reduce
from pathlib import Path

import pyarrow.parquet
from py4j.protocol import Py4JJavaError
from pyspark import StorageLevel
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812

from foresail.pipeline.errors import InputError
from foresail.pipeline.jobs.ingest_order import IngestOrder, IngestResult, check_balance
from foresail.pipeline.jobs.ingest_pieces import Ingested, goes_in_pieces, ingest_pieces
from foresail.pipeline.progress import SILENT, Progress
from foresail.pipeline.quality.measure import (
    looks_like,
    measure_events,
    measure_rows,
    rejected_share,
    rejection_warning,
)
from foresail.pipeline.quality.report import write_quality
from foresail.pipeline.reports.page import count_of
from foresail.pipeline.runtime.interruption import interruption_delayed
from foresail.pipeline.schemas import DERIVED_COLUMNS
from foresail.pipeline.sinks.output_folder import replaced
from foresail.pipeline.sinks.set_aside import Ledger, aside_rows, read_aside, read_ledger, write_aside
from foresail.pipeline.sources.kafka import SCHEME, Topic, parse_topic
from foresail.pipeline.sources.reading import NotOfFeedError, Reading, read_messages, read_topic_messages
from foresail.pipeline.sources.repairs import REPAIRS, has_repair
from foresail.pipeline.sources.static_data import fill_static, read_static, static_messages
from foresail.pipeline.sources.storage import SourceFile, fingerprint, is_sound, list_files
from foresail.pipeline.stages.clean import REASONS, clean, position_columns
from foresail.pipeline.stages.derive import as_sent, derive
from foresail.pipeline.stages.layout import by_track, files_for, read_layout, rows_in, write_layout
from foresail.pipeline.stages.tracks import came_late, settle

NARROW_COLUMNS = ("track", "time", "lon", "lat", "source", "offset", "age")
"""What settling looks at; the rows it takes out are found with these alone."""
MOST_ROWS_LEFT_OUT = 1_000_000
"""More rows than this are not sent to every worker to be left out; settling the whole rows again finds them too."""
SPLIT_TRACK = r"#\d+$"


@dataclass(frozen=True, slots=True)
class Staged:
    """Messages as read and judged, in a folder of their own until the job ends."""

    rows: DataFrame
    rows_in: int
    strange: tuple[str, ...]
    truncated: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Counts:
    """Of the staged rows: how many are positions, and how often each repair was made."""

    positions: int
    repairs: dict[str, int]


def ingest(spark: SparkSession, order: IngestOrder, progress: Progress = SILENT) -> IngestResult:
    """Ingest what `order` says; its folder holds the result when this returns, and is as it was if it fails."""
    began = time.monotonic()
    ledger = read_ledger(order.out) if order.append else Ledger()
    topics = [parse_topic(address) for address in order.inputs if address.startswith(SCHEME)]
    files = list_files(spark, [path for path in order.inputs if not path.startswith(SCHEME)])
    with progress.step(f"looking at {count_of(len(files), 'file')}"):
        prints = {file: fingerprint(spark, file) for file in files}
    fresh = [file for file in files if not ledger.knows(prints[file])]
    if not fresh and not topics and order.append:
        return replace(_nothing(order, files), seconds=round(time.monotonic() - began, 3))
    with ExitStack() as unbroken, _staging_folder(order.out) as folder:
        if goes_in_pieces(order, fresh) and not topics:
            with _named_as_seen(order):
                ingested = ingest_pieces(spark, order, fresh, folder, progress, unbroken)
        else:
            ingested = _through_spark(spark, order, fresh, topics, folder, progress, unbroken)
        result = replace(
            ingested.result,
            files_read=(*(file.name for file in fresh), *(topic.name for topic in topics)),
            files_skipped=tuple(file.name for file in files if file not in fresh),
        )
        result = _with_warning(result, order, fresh)
        write_quality(order.out, asdict(result), ingested.before, ingested.after)
        ledger.with_files(order.feed.name, {file.name: prints[file] for file in fresh}, order.now).write(order.out)
    return replace(result, seconds=round(time.monotonic() - began, 3))


def _through_spark(
    spark: SparkSession,
    order: IngestOrder,
    fresh: list[SourceFile],
    topics: list[Topic],
    folder: Path,
    progress: Progress,
    unbroken: ExitStack,
) -> Ingested:
    """What workers cannot read themselves: other carriers than CSV, files elsewhere, what is joined to other rows."""
    with progress.step(f"reading {count_of(len(fresh) + len(topics), 'input')} as {order.feed.name}"):
        staged = _stage(spark, order, fresh, topics, folder)
    written = _write(spark, order, staged, folder, progress, unbroken)
    with progress.step("measuring the quality"):
        return Ingested(written, measure_rows(staged.rows), measure_events(spark, order.out / "events"))


@contextmanager
def _named_as_seen(order: IngestOrder) -> Iterator[None]:
    """A file that is of another feed is answered with the one that it looks like."""
    try:
        yield
    except NotOfFeedError as error:
        seen = looks_like(error.place, order.feed.name) if error.place else ""
        msg = f"{error} {seen or 'Choose another --from, or write a --mapping.'}"
        raise InputError(msg) from None


def _stage(
    spark: SparkSession, order: IngestOrder, files: list[SourceFile], topics: list[Topic], folder: Path
) -> Staged:
    """Read and judge every row; where a file turns out to be damaged, again, as far as it goes."""
    try:
        readings = [read_topic_messages(spark, order.feed, topic) for topic in topics]
        with _named_as_seen(order):
            readings += _read_files(spark, order, files)
        return _judge(spark, order, readings, folder / "messages")
    except (PySparkException, Py4JJavaError) as error:
        truncated = tuple(file.name for file in files if not is_sound(spark, file))
        if not truncated:
            msg = f"{', '.join(order.inputs)}: reading failed ({_first_line(error)}). Check the files and --from."
            raise InputError(msg) from error
    return _judge(spark, order, _read_files(spark, order, files, tolerant=True), folder / "readable", truncated)


def _read_files(
    spark: SparkSession, order: IngestOrder, files: list[SourceFile], tolerant: bool = False
) -> list[Reading]:
    received = order.policy.received_at
    starts_us = round(received.timestamp() * 1_000_000) if received else None
    return [read_messages(spark, order.feed, files, tolerant, starts_us)] if files else []


def _judge(
    spark: SparkSession, order: IngestOrder, readings: list[Reading], folder: Path, truncated: tuple[str, ...] = ()
) -> Staged:
    messages = reduce(lambda one, other: one.unionByName(other), (reading.messages for reading in readings))
    judged = clean(messages, order.policy, order.feed.domain, order.now, swaps_judged_later=True)
    judged.write.option("compression", "zstd").parquet(str(folder))
    for name in truncated:
        mark = spark.createDataFrame([(name, "truncated_file")], "source string, reason string")
        mark.write.mode("append").parquet(str(folder))
    rows = spark.read.schema(judged.schema).parquet(str(folder))
    strange = tuple(name for reading in readings for name in reading.strangers)
    return Staged(rows, sum(reading.rows_in() for reading in readings) + len(truncated), strange, truncated)


def _write(
    spark: SparkSession, order: IngestOrder, staged: Staged, folder: Path, progress: Progress, unbroken: ExitStack
) -> IngestResult:
    stored = _stored_positions(spark, order)
    stored_rows = stored.count() if stored is not None else 0
    positions = _all_positions(_fresh_positions(spark, order, staged.rows), stored)
    before = read_layout(order.out / "events") if stored is not None else None
    counts = _count(staged.rows)
    files = files_for(
        counts.positions + stored_rows, spark.sparkContext.defaultParallelism, before.files if before else None
    )
    with progress.step("finding repeats and spikes"):
        out_of_order = _find_late(positions, order, files, folder / "late")
    late = spark.read.parquet(str(folder / "late")) if _holds_rows(folder / "late") else None
    with (
        replaced(order.out / "events") as events_folder,
        replaced(order.out / "rejected") as rejected_folder,
        replaced(order.out / "duplicates") as duplicates_folder,
    ):
        with progress.step(f"writing {count_of(counts.positions, 'position')} by track into {count_of(files, 'file')}"):
            layout = write_layout(_events(positions, order, late, files), events_folder, files)
        with progress.step("writing what was set aside"):
            rejected = write_aside(
                aside_rows(staged.rows, late, "rejected"), rejected_folder, _former(spark, order, "rejected")
            )
            duplicates = write_aside(
                aside_rows(staged.rows, late, "duplicates"), duplicates_folder, _former(spark, order, "duplicates")
            )
        result = IngestResult(
            feed=order.feed.name,
            rows_in=staged.rows_in,
            rows_out=layout.rows - stored_rows,
            rejected=sum(rejected.values()),
            duplicates=sum(duplicates.values()),
            reasons=rejected,
            duplicate_kinds=duplicates,
            repairs=_with_late_repairs(counts.repairs, folder / "late"),
            out_of_order=out_of_order,
            rows_stored=layout.rows,
            tracks=layout.tracks,
            files_strange=staged.strange,
            files_truncated=staged.truncated,
        )
        check_balance(result)
        unbroken.enter_context(interruption_delayed())  # what is put into place now belongs together
    return result


def _with_warning(result: IngestResult, order: IngestOrder, files: list[SourceFile]) -> IngestResult:
    share = rejected_share(result.rows_in, result.reasons)
    warned = replace(result, rejected_share=round(share, 4))
    if not result.rejected or share < order.warn_share:
        return warned
    place = next((file.local for file in files if file.local), None)
    seen = looks_like(place, order.feed.name) if place else ""
    return replace(warned, warnings=(rejection_warning(result.rows_in, result.reasons, REASONS, seen),))


def _stored_positions(spark: SparkSession, order: IngestOrder) -> DataFrame | None:
    """What an earlier ingest has written and this one adds to; tracks that were cut are joined again."""
    folder = order.out / "events"
    if not order.append or not folder.is_dir():
        return None
    stored = as_sent(spark.read.parquet(str(folder))).drop(*DERIVED_COLUMNS).withColumn("age", F.lit(0))
    if order.policy.jumps == "split":
        return stored.withColumn("track", F.regexp_replace("track", SPLIT_TRACK, ""))
    return stored


def _fresh_positions(spark: SparkSession, order: IngestOrder, judged: DataFrame) -> DataFrame:
    """The rows that are positions, completed with the static data that the feed or a file has for them."""
    rows = judged.filter(F.col("reason").isNull()).withColumn("offset", F.col("line"))
    positions = rows.select(*position_columns(judged))
    if order.feed.carrier == "nmea":
        positions = fill_static(positions, static_messages(judged))
    if order.static:
        positions = fill_static(positions, read_static(spark, order.static))
    return positions.withColumn("age", F.lit(1))


def _all_positions(fresh: DataFrame, stored: DataFrame | None) -> DataFrame:
    if stored is None:
        return fresh
    known = dict(stored.dtypes)
    alike = fresh.select(*[F.col(name).try_cast(known.get(name, kind)).alias(name) for name, kind in fresh.dtypes])
    return stored.unionByName(alike, allowMissingColumns=True)


def _find_late(positions: DataFrame, order: IngestOrder, files: int, folder: Path) -> int:
    """Write which rows leave their tracks or were mended in them; how many came out of order comes back."""
    narrow = by_track(positions.select(*NARROW_COLUMNS), files).persist(StorageLevel.MEMORY_AND_DISK)
    try:
        settled = settle(narrow, order.policy, order.options)
        mended = settled.mended.withColumn("late_reason", F.lit("swapped_coordinates"))
        found = ((settled.repeated, "duplicates"), (settled.rejected, "rejected"), (mended, "repairs"))
        key = ("source", F.col("offset").alias("line"), F.col("late_reason").alias("reason"))
        parts = (rows.select(*key, F.lit(kind).alias("kind")) for rows, kind in found)
        reduce(lambda one, other: one.unionByName(other), parts).coalesce(1).write.parquet(str(folder))
        return narrow.filter("age = 1").select(came_late().alias("late")).filter("late").count()
    finally:
        narrow.unpersist()


def _holds_rows(folder: Path) -> bool:
    return any(rows_in(part) for part in folder.glob("*.parquet"))


def _with_late_repairs(repairs: dict[str, int], folder: Path) -> dict[str, int]:
    """`repairs` and those that were made when the neighbours were known."""
    late = pyarrow.parquet.read_table(folder, filters=[("kind", "=", "repairs")], columns=["reason"])
    return dict(Counter(repairs) + Counter(late.column("reason").to_pylist()))


def _events(positions: DataFrame, order: IngestOrder, late: DataFrame | None, files: int) -> DataFrame:
    """What the tracks keep, with derived attributes; where only a few rows go, they are left out by their place."""
    whole = by_track(positions, files)
    if order.policy.jumps == "split":
        whole = by_track(settle(whole, order.policy, order.options).kept, files)
    elif late is not None and late.count() <= MOST_ROWS_LEFT_OUT and not late.filter("kind = 'repairs'").head(1):
        gone = late.select("source", F.col("line").alias("offset"), F.lit(1).alias("age"))
        whole = by_track(positions.join(F.broadcast(gone), ["source", "offset", "age"], "left_anti"), files)
    elif late is not None:
        whole = settle(whole, order.policy, order.options).kept
    return derive(whole.drop("age"), order.options)


def _count(staged: DataFrame) -> Counts:
    sums = [F.count_if(has_repair(F.col("repairs"), kind)).alias(kind) for kind in REPAIRS]
    row = staged.agg(F.count_if(F.col("reason").isNull()).alias("positions"), *sums).first()
    assert row is not None, "an aggregate without groups has one row"
    return Counts(row["positions"], {kind: row[kind] for kind in REPAIRS if row[kind]})


def _former(spark: SparkSession, order: IngestOrder, what: str) -> DataFrame | None:
    folder = order.out / what
    return read_aside(spark, folder) if order.append and folder.is_dir() else None


def _nothing(order: IngestOrder, files: list[SourceFile]) -> IngestResult:
    layout = read_layout(order.out / "events")
    return IngestResult(
        feed=order.feed.name,
        files_skipped=tuple(file.name for file in files),
        rows_stored=layout.rows if layout else 0,
        tracks=layout.tracks if layout else 0,
    )


@contextmanager
def _staging_folder(out: Path) -> Iterator[Path]:
    folder = out / ".ingest"
    shutil.rmtree(folder, ignore_errors=True)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _first_line(error: Exception) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0][:200]
