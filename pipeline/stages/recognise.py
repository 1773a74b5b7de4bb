"""Spark's side of recognition: conditions in the JVM, events sorted by track, one kernel call per Arrow batch.

Only track, time and the words of condition bits cross into Python; only matches return. Every decision is made by
`patterns.recognition`.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812

from patterns.compiler import CompiledPattern
from patterns.recognition.matches import NOT_COUNTED, STATUS, Matches
from patterns.recognition.recogniser import Batch, Recogniser, RecogniserState
from patterns.recognition.tables import shared_conditions
from patterns.spec import Output
from pipeline.conditions import packed_words

EVENT_KEYS = ("track", "time", "offset")
FOUND = pa.schema(
    [
        ("pattern", pa.string()),
        ("pattern_version", pa.int32()),
        ("instance", pa.string()),
        ("track", pa.string()),
        ("time_us", pa.int64()),
        ("index", pa.int64()),
        ("events", pa.list_(pa.int64())),
        ("start_time_us", pa.int64()),
        ("count", pa.int64()),
        ("omitted", pa.int64()),
        ("status", pa.string()),
        ("id_time_us", pa.int64()),
        ("id_tie", pa.int64()),
    ]
)
FOUND_DDL = (
    "pattern string, pattern_version int, instance string, track string, time_us long, index long, events array<long>, "
    "start_time_us long, count long, omitted long, status string, id_time_us long, id_tie long"
)
ID_DIGITS = 32


def recognise_with(patterns: Sequence[CompiledPattern]) -> "Recognise":
    """The stage that finds these patterns."""
    return Recognise(tuple(patterns))


@dataclass(frozen=True, slots=True)
class Recognise:
    """Events to matches, by track: the scheme `partition`."""

    patterns: tuple[CompiledPattern, ...]

    def __call__(self, events: DataFrame) -> DataFrame:
        """A row per match, per counted detection, or per change of an episode."""
        conditions = shared_conditions(self.patterns)
        words = packed_words(conditions, events.schema) or [F.lit(0).cast("long")]
        crossing = events.select(
            "track",
            F.unix_micros("time").alias("time_us"),
            "offset",
            *(word.alias(f"word_{n}") for n, word in enumerate(words)),
        )
        # AQE would merge small partitions into fewer tasks than there are cores.
        by_track = crossing.repartition(_partitions(events), "track").sortWithinPartitions("track", "time_us", "offset")
        found = by_track.drop("offset").mapInArrow(_Partition(self.patterns), FOUND_DDL)
        return found.select(*_match_columns())


def _partitions(events: DataFrame) -> int:
    return int(events.sparkSession.conf.get("spark.sql.shuffle.partitions") or 2)


def _match_columns() -> list[Column]:
    """The columns of a match; its id is a hash of what names it, the same however and wherever it was found."""
    relative = F.concat_ws(",", F.transform("events", lambda e: (F.col("index") - e).cast("string")))
    named = F.concat_ws(
        "\x1f",
        "pattern",
        F.col("pattern_version").cast("string"),
        F.coalesce("instance", F.lit("")),
        "track",
        F.col("id_time_us").cast("string"),
        F.col("id_tie").cast("string"),
        F.coalesce(relative, F.lit("")),
    )
    return [
        F.substring(F.sha2(named, 256), 1, ID_DIGITS).alias("match_id"),
        F.col("pattern"),
        F.col("pattern_version"),
        F.col("instance"),
        F.col("track"),
        F.timestamp_micros("time_us").alias("time"),
        F.col("index"),
        F.col("events"),
        F.timestamp_micros("start_time_us").alias("start_time"),
        F.lit(None).cast("map<string,string>").alias("registers"),
        F.col("count"),
        F.col("omitted"),
        F.col("status"),
    ]


@dataclass(frozen=True, slots=True)
class _Partition:
    """What runs in a Python worker: Arrow batches of one partition in, matches out."""

    patterns: tuple[CompiledPattern, ...]

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        recogniser = Recogniser(self.patterns)
        last_track: str | None = None
        state: RecogniserState | None = None
        for arrow in batches:
            if arrow.num_rows == 0:
                continue
            tracks, batch = _batch_of(arrow, recogniser.words)
            before = recogniser.fresh(batch.tracks)
            if state is not None and tracks[0].as_py() == last_track:
                before = recogniser.rearranged(state, _only_first(batch.tracks))
            matches, after = recogniser.advance(batch, before)
            state = recogniser.rearranged(after, np.array([batch.tracks - 1]))
            last_track = tracks[-1].as_py()
            if len(matches):
                yield _found(matches, self.patterns, arrow.column(0))


def _batch_of(arrow: pa.RecordBatch, words: int) -> tuple[pa.Array, Batch]:
    """The tracks of an Arrow batch and its events as the kernels read them."""
    track = arrow.column(0)
    changes = pc.not_equal(track[1:], track[:-1]).to_numpy(zero_copy_only=False)
    first = np.concatenate([[0], np.flatnonzero(changes) + 1])
    columns = [arrow.column(2 + n).to_numpy() for n in range(words)]
    packed = columns[0].reshape(-1, 1) if words == 1 else np.column_stack(columns)
    times = arrow.column(1).to_numpy()
    return track.take(pa.array(first)), Batch(packed, times, np.append(first, len(times)).astype(np.int64))


def _only_first(tracks: int) -> NDArray[np.int64]:
    """Keep the one remembered track in front of fresh ones."""
    rows = np.full(tracks, -1, dtype=np.int64)
    rows[0] = 0
    return rows


def _found(matches: Matches, patterns: Sequence[CompiledPattern], track: pa.Array) -> pa.RecordBatch:
    names = pa.array([p.name for p in patterns])
    versions = pa.array([p.version for p in patterns], pa.int32())
    listed = np.array([p.spec.output is Output.ENUMERATE for p in patterns])[matches.pattern]
    counted = np.array([p.spec.output is Output.COUNT for p in patterns])[matches.pattern]
    offsets = pa.array(np.concatenate([[0], matches.members_end]), pa.int32())
    columns = [
        names.take(pa.array(matches.pattern)),
        versions.take(pa.array(matches.pattern)),
        pa.nulls(len(matches), pa.string()),
        track.take(pa.array(matches.event)),
        pa.array(matches.time),
        pa.array(matches.index),
        pa.ListArray.from_arrays(offsets, pa.array(matches.members), mask=pa.array(~listed)),
        pa.array(matches.start_time),
        pa.array(matches.count, mask=~counted | (matches.count == NOT_COUNTED)),
        pa.array(matches.omitted, mask=~listed),
        pa.array(STATUS).take(pa.array(matches.status)),
        pa.array(matches.id_time),
        pa.array(matches.id_tie),
    ]
    return pa.RecordBatch.from_arrays(columns, schema=FOUND)
