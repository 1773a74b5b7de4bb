"""Workers that walk over whole tracks, wherever their events come from: rows from Spark, files, gathered buckets.

What is done on the way (counting, forecasting) is a `Walk`. As for recognition, workers read Parquet themselves where
they can, because rows that cross from the JVM into Python cost more than anything that is done with them.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Protocol

import pyarrow as pa
from pyspark.sql import DataFrame

from foresail.models.inputs.columns import InputColumn
from foresail.patterns.compiler import CompiledPattern
from foresail.patterns.recognition.events import EventBatch
from foresail.pipeline.batch.facts import prepare
from foresail.pipeline.batch.gathering import GATHERED_DDL, bucket_keys, put_together
from foresail.pipeline.batch.kernel_columns import FamilyGroup, has_places
from foresail.pipeline.batch.parquet_reader import read_piece
from foresail.pipeline.batch.parquet_source import Piece, in_pieces
from foresail.pipeline.batch.planner import Scheme
from foresail.pipeline.batch.running import near_layers
from foresail.pipeline.batch.sorted_rows import SortedRows, whole_events
from foresail.pipeline.batch.workers import Search, Send, left_out
from foresail.pipeline.stages.recognise import Recognise


class Walk(Protocol):
    """What is done with the events of one partition, in order of track and time."""

    def advance(self, events: EventBatch) -> Iterator[pa.RecordBatch]:
        """What some further events give."""
        ...

    def finish(self) -> Iterator[pa.RecordBatch]:
        """What is left to give when all have been read."""
        ...


Begin = Callable[[], Walk]
"""Makes a fresh walk; is sent to workers."""


@dataclass(frozen=True, slots=True)
class Walked:
    """The events to walk over, and the patterns whose conditions the walk reads."""

    events: DataFrame
    plain: tuple[CompiledPattern, ...]
    families: tuple[FamilyGroup, ...] = ()
    paths: tuple[str, ...] = ()
    """The files the events came from, as they are; none where the events were changed or chosen since."""
    partitions: int | None = None
    inputs: tuple[InputColumn, ...] = ()
    """What trees read of an event."""


def walk_tracks(walked: Walked, begin: Begin, ddl: str) -> DataFrame:
    """What the walks of all partitions give, each track in one of them."""
    stage = Recognise(walked.plain, walked.families, partitions=walked.partitions, inputs=walked.inputs)
    prepared = prepare(walked.paths, walked.events, stage, Scheme.AUTO, as_read=bool(walked.paths))
    layers = near_layers(walked.families)
    if prepared.source is None or layers is None:
        over = OverRows(tuple(g.name for g in walked.families), begin, walked.inputs)
        return stage.sorted_rows(walked.events).mapInArrow(over, ddl)
    spark, choice = walked.events.sparkSession, prepared.choice
    groups = {group.name: group.patterns for group in walked.families}
    search = Search(walked.plain, groups, layers, has_places(walked.events), inputs=walked.inputs)
    if choice.in_place and choice.scheme is not Scheme.PATTERN:
        tasks = [(piece,) for piece in prepared.source.pieces]
        return _tasks(walked.events, len(tasks)).mapInArrow(OverFiles(tuple(tasks), search, begin), ddl)
    pieces = [(piece,) for piece in in_pieces(prepared.source, spark.sparkContext.defaultParallelism)]
    buckets = walked.partitions or choice.buckets
    send = Send(tuple(pieces), search, bucket_keys(buckets), slices={})  # a walk needs every track in one piece
    sent = _tasks(walked.events, len(pieces)).mapInArrow(send, GATHERED_DDL)
    return sent.repartition(buckets, "bucket").mapInArrow(OverBucket(search, begin), ddl)


@dataclass(frozen=True, slots=True)
class OverRows:
    """Walks over rows that Spark has sorted."""

    layers: tuple[str, ...]
    begin: Begin
    inputs: tuple[InputColumn, ...] = ()

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """What the walk over one partition gives."""
        walk, rows = self.begin(), SortedRows(self.layers, inputs=self.inputs)
        for batch in whole_events(batches) if self.layers else batches:
            if batch.num_rows:
                yield from walk.advance(rows.events(batch))
        yield from walk.finish()


@dataclass(frozen=True, slots=True)
class OverFiles:
    """Walks over files that hold whole tracks in order; a row of its input names a task."""

    tasks: tuple[tuple[Piece, ...], ...]
    search: Search
    begin: Begin

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """What the walks over the named files give."""
        reading = self.search.reading(offsets=False)
        for task in (number for batch in batches for number in batch.column("id").to_pylist()):
            for piece in self.tasks[task]:
                walk = self.begin()
                for batch in read_piece(piece, reading, left_out(None)):
                    yield from walk.advance(batch)
                yield from walk.finish()


@dataclass(frozen=True, slots=True)
class OverBucket:
    """Walks over the tracks of one bucket, put together from what other workers have read."""

    search: Search
    begin: Begin

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """What the walk over the bucket gives."""
        walk = self.begin()
        for events in put_together(batches, self.search.words, self.search.layer_words):
            yield from walk.advance(events)
        yield from walk.finish()


def _tasks(events: DataFrame, count: int) -> DataFrame:
    return events.sparkSession.range(0, max(1, count), 1, max(1, count))
