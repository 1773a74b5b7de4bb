"""A recorded stream sent again: events into a topic in the order of their times, at a pace, through Spark's writer.

Events are sent in slices. A slice is done when the broker has acknowledged all of it; only then the next one begins.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from pyspark import StorageLevel
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812

from foresail.pipeline.errors import InputError, OptionError
from foresail.pipeline.kafka import create_topics
from foresail.pipeline.progress import SILENT, Progress
from foresail.pipeline.quality.measure import check_some_good
from foresail.pipeline.schemas import TIME_FORMAT
from foresail.pipeline.sources.table import read_events
from foresail.pipeline.stream.monitoring.lag import Reader, end_offsets, lag_of

DUPLICATE_WITHIN_S = 1.0
"""A duplicate follows its event within so many seconds, or within the jitter where that is longer."""
LAG_ASKED_EVERY_S = 0.5
STEPS = 1_000_000
FINEST = 5_000
"""Into so many parts the span is cut when slices of equal size are looked for."""
_SENT = "sent_us"


@dataclass(frozen=True, slots=True)
class ReplayRequest:
    """What to send where, and how."""

    events: Sequence[str]
    topic: str
    servers: str
    speed: float | None = None
    """How many times faster than it happened; None is as fast as possible."""
    first: datetime | None = None
    last: datetime | None = None
    jitter_s: float = 0.0
    """Each event is held back by up to so many seconds, so that some overtake others."""
    duplicates: float = 0.0
    """The share of events that are sent twice."""
    seed: int = 0
    partitions: int = 4
    slice_s: float = 1.0
    """How much wall-clock time a slice stands for, at a given speed."""
    slice_events: int = 200_000
    """How many events a slice has at most, about, when there is no speed."""
    reader: Reader | None = None
    most_lag: int | None = None
    """Wait while the reader is further behind than so many events."""
    time_unit: str | None = None

    def __post_init__(self) -> None:
        if self.most_lag is not None and self.reader is None:
            msg = (
                "--max-lag: nothing says what the reader has read. Name its --group, "
                "or for a live line its --checkpoint: a Spark query commits no offsets to the broker."
            )
            raise OptionError(msg)


@dataclass(slots=True)
class _Pace:
    """What the sending has come to so far."""

    waited_s: float = 0.0
    behind_s: float = 0.0
    starts: dict[int, int] = field(default_factory=dict)


def run_replay(
    spark: SparkSession,
    request: ReplayRequest,
    progress: Progress = SILENT,
    clock: Callable[[], float] = time.monotonic,
    sleep: Callable[[float], None] = time.sleep,
) -> dict[str, Any]:
    """Send the events; the summary."""
    create_topics(request.servers, [request.topic], request.partitions)
    with progress.step("reading events"):
        read = read_events(spark, request.events, time_unit=request.time_unit)
        rows = read.rows()
        check_some_good(rows, request.events)
        messages = _messages(_chosen(read.good, request), request).persist(StorageLevel.MEMORY_AND_DISK)
        total, first_us, last_us, duplicates = _span(messages)
        slices = _slices(messages, request, first_us, last_us)
    began = clock()
    pace = _Pace(starts=end_offsets(request.servers, request.topic))
    try:
        with progress.count(f"replaying into {request.topic}", total, "events") as advance:
            for part in slices:
                _wait(request, pace, part.since_us - first_us, began, clock, sleep)
                _send(messages, request, part)
                advance(part.records)
    finally:
        messages.unpersist()
    seconds = clock() - began
    return {
        "events": total - duplicates,
        "duplicates": duplicates,
        **rows.summary,
        "slices": len(slices),
        "seconds": round(seconds, 3),
        "events_per_second": round(total / seconds) if seconds else 0,
        "waited_for_reader_s": round(pace.waited_s, 3),
        "most_behind_s": round(pace.behind_s, 3),
        "topic": request.topic,
    }


def _chosen(events: DataFrame, request: ReplayRequest) -> DataFrame:
    if request.first:
        events = events.where(F.col("time") >= F.lit(request.first))
    return events.where(F.col("time") < F.lit(request.last)) if request.last else events


def _messages(events: DataFrame, request: ReplayRequest) -> DataFrame:
    """Keys and values with the time at which each is due, copies too; each track in one partition, in order."""
    shown = [F.col(f"`{name}`") for name in events.columns if name not in ("source", "offset")]
    value = F.to_json(F.struct(*shown), {"timestampFormat": TIME_FORMAT, "ignoreNullFields": "true"})
    due = F.unix_micros("time") + (_chance(request, 1) * request.jitter_s * 1e6).cast("long")
    later = (_chance(request, 3) * max(request.jitter_s, DUPLICATE_WITHIN_S) * 1e6).cast("long")
    once = F.struct(due.alias(_SENT), F.lit(False).alias("copy"))
    twice = F.struct((due + later).alias(_SENT), F.lit(True).alias("copy"))
    sent = F.array(once)
    if request.duplicates:
        sent = F.when(_chance(request, 2) < request.duplicates, F.array(once, twice)).otherwise(sent)
    rows = events.select(F.col("track").alias("key"), value.alias("value"), "offset", F.explode(sent).alias("sent"))
    rows = rows.select("key", "value", "offset", "sent.*")
    return rows.repartition(F.col("key")).sortWithinPartitions(_SENT, "offset", "copy")


def _chance(request: ReplayRequest, which: int) -> Column:
    """A number from 0 to 1 that looks random, the same for the same event and seed."""
    drawn = F.xxhash64("track", "time", "offset", F.lit(request.seed), F.lit(which))
    return F.pmod(drawn, F.lit(STEPS)) / F.lit(STEPS)


def _span(messages: DataFrame) -> tuple[int, int, int, int]:
    copies = F.coalesce(F.sum(F.col("copy").cast("long")), F.lit(0))
    row = messages.agg(F.count("*"), F.min(_SENT), F.max(_SENT), copies).first()
    assert row is not None, "an aggregate has a row"
    if not row[0]:
        msg = "events: there is none to be sent in that span. Widen --from and --to."
        raise InputError(msg)
    return int(row[0]), int(row[1]), int(row[2]), int(row[3])


@dataclass(frozen=True, slots=True)
class Slice:
    """Records that are sent together: from when to when in event time, the end not included, and how many."""

    since_us: int
    until_us: int
    records: int


def _slices(messages: DataFrame, request: ReplayRequest, first_us: int, last_us: int) -> list[Slice]:
    """Slices of equal time at a given speed, else of about as many records each; none is empty."""
    span = last_us + 1 - first_us
    width = max(1, round(request.speed * request.slice_s * 1e6) if request.speed else -(-span // FINEST))
    number = F.floor((F.col(_SENT) - first_us) / F.lit(width))
    counted = messages.groupBy(number.alias("number")).count().orderBy("number").collect()
    bins = [Slice(first_us + row[0] * width, first_us + (row[0] + 1) * width, row[1]) for row in counted]
    return bins if request.speed else together(bins, request.slice_events)


def together(bins: Sequence[Slice], most: int) -> list[Slice]:
    """Neighbouring slices made one as long as they have no more than `most` records."""
    out: list[Slice] = []
    for one in bins:
        if out and out[-1].records + one.records <= most:
            out[-1] = Slice(out[-1].since_us, one.until_us, out[-1].records + one.records)
        else:
            out.append(one)
    return out


def _wait(
    request: ReplayRequest,
    pace: _Pace,
    since_us: int,
    began: float,
    clock: Callable[[], float],
    sleep: Callable[[float], None],
) -> None:
    """Wait until the slice is due and the reader has caught up."""
    if request.most_lag is not None and request.reader is not None:
        asked = clock()
        while lag_of(request.servers, request.topic, request.reader, pace.starts) > request.most_lag:
            sleep(LAG_ASKED_EVERY_S)
        pace.waited_s += clock() - asked
    if request.speed is not None:
        left = began + since_us / 1e6 / request.speed - clock()
        pace.behind_s = max(pace.behind_s, -left)
        if left > 0:
            sleep(left)


def _send(messages: DataFrame, request: ReplayRequest, part: Slice) -> None:
    """Write one slice; returns when the broker has acknowledged all of it."""
    rows = messages.where((F.col(_SENT) >= part.since_us) & (F.col(_SENT) < part.until_us)).select("key", "value")
    options = {"kafka.bootstrap.servers": request.servers, "topic": request.topic, "kafka.acks": "all"}
    rows.write.format("kafka").options(**options).save()
