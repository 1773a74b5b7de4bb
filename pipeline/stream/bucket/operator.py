"""Spark's side of a bucket: load, obey control messages, advance, save. Every decision is made by `bucket`.

A line that derives attributes and joins no layer does all of it in one stateful operator: positions are put in order,
attributes derived, conditions evaluated, patterns recognised. Where layers are joined, Spark does that between two:
the first puts positions in order (`beside_previous`), the second recognises.
"""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import pandas as pd
import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import types as T  # noqa: N812
from pyspark.sql.streaming.stateful_processor import StatefulProcessor, StatefulProcessorHandle

from foresail.pipeline.stages.derive import REMEMBERED
from foresail.pipeline.stages.track_memory import decode_memory, empty_memory, encode_memory
from foresail.pipeline.stream.bucket import findings
from foresail.pipeline.stream.bucket.alerts import Alerting
from foresail.pipeline.stream.bucket.bucket import Bucket
from foresail.pipeline.stream.bucket.deriving import Deriving
from foresail.pipeline.stream.bucket.input_rows import BucketInput, by_kind
from foresail.pipeline.stream.bucket.line_spec import LineSpec
from foresail.pipeline.stream.bucket.near import check_near
from foresail.pipeline.stream.bucket.reordering import REORDER_DDL, Reordering
from foresail.pipeline.stream.bucket.rules import BucketRules
from foresail.pipeline.stream.control.obeying import obey
from foresail.pipeline.stream.state.saved import (
    CHUNK_DDL,
    SAVED_DDL,
    Chunk,
    Saved,
    chunk_from_row,
    chunk_to_row,
    from_row,
    to_row,
)


class StoredChunks:
    """The cold store: chunks of idle tracks in the state store."""

    def __init__(self, chunks: Any) -> None:
        self._chunks = chunks

    def take(self, number: int) -> Chunk | None:
        """The chunk of that number, if there is one."""
        row = self._chunks.getValue((number,))
        return None if row is None else chunk_from_row(tuple(row))

    def put(self, number: int, chunk: Chunk | None) -> None:
        """Keep a chunk, or drop it."""
        if chunk is None:
            self._chunks.removeKey((number,))
        else:
            self._chunks.updateValue((number,), chunk_to_row(chunk))


class StoredPositions:
    """What reordering keeps of a bucket: the last positions of its tracks in one value, of idle ones in chunks."""

    def __init__(self, handle: StatefulProcessorHandle, chunks: str) -> None:
        self._saved = handle.getValueState("positions", REORDER_DDL)
        self._chunks = handle.getMapState(chunks, "number int", "memory binary")

    def reordered(self, arrived: pd.DataFrame, rules: BucketRules) -> pd.DataFrame:
        """The rows of a micro-batch that are due, beside the positions before them; what was kept is replaced."""
        reordering = Reordering(rules, self._saved.get(), self._take, self._put)
        rows = reordering.advance(arrived)
        self._saved.update(reordering.row())
        return rows

    def _take(self, number: int) -> pd.DataFrame:
        row = self._chunks.getValue((number,))
        return empty_memory() if row is None else decode_memory(bytes(row[0]))

    def _put(self, number: int, memory: pd.DataFrame) -> None:
        if len(memory):
            self._chunks.updateValue((number,), (encode_memory(memory),))
        else:
            self._chunks.removeKey((number,))


@dataclass(frozen=True, slots=True)
class BucketLine:
    """What the buckets of one kind of events run, and the columns of their rows."""

    spec: LineSpec
    rules: BucketRules
    alerts: Alerting
    columns: tuple[str, ...] = ()
    deriving: Deriving | None = None
    """Where attributes are derived here: then `rules` need not wait for order any more."""


class BucketProcessor(StatefulProcessor):
    """A bucket in the state store: one value for its tracks, a map of chunks for idle ones.

    Positions and pairs of tracks have buckets of their own; `pair_buckets` are the numbers of the latter.
    """

    def __init__(
        self, positions: BucketLine, pairs: BucketLine | None = None, pair_buckets: frozenset[int] = frozenset()
    ) -> None:
        self._positions, self._pairs, self._pair_buckets = positions, pairs, pair_buckets
        self._specs = (positions.spec, *([pairs.spec] if pairs else []))

    def init(self, handle: StatefulProcessorHandle) -> None:
        """Name what is kept."""
        self._saved = handle.getValueState("bucket", SAVED_DDL)
        self._chunks = StoredChunks(handle.getMapState("resting", "number int", CHUNK_DDL))
        if self._positions.deriving is not None:
            self._stored_positions = StoredPositions(handle, "positions_resting")

    def handleInputRows(  # noqa: N802 - Spark's name
        self,
        key: Any,
        rows: Iterator[pd.DataFrame],
        timerValues: Any,  # noqa: ARG002, N803
    ) -> Iterator[pd.DataFrame]:
        """One micro-batch of one bucket."""
        held, number = self._saved.get(), int(key[0])
        line = self._pairs if self._pairs is not None and number in self._pair_buckets else self._positions
        arrived = pd.concat(list(rows), ignore_index=True)[list(line.columns)]
        if line.deriving is not None:
            arrived = self._stored_positions.reordered(arrived, line.deriving.rules)
        saved = None if held is None else from_row(held)
        for kept in (saved.waiting, saved.recent) if saved else ():
            check_near(kept)
        bucket, emitted = step(line, self._specs, number, by_kind(arrived, line.deriving), saved, self._chunks)
        self._saved.update(to_row(bucket.saved()))
        yield findings.frame(emitted)

    def close(self) -> None:
        """Nothing is held open."""


def step(
    line: BucketLine,
    specs: Sequence[LineSpec],
    number: int,
    arrived: BucketInput,
    saved: Saved | None,
    chunks: Any,
) -> tuple[Bucket, list[pa.Table]]:
    """One micro-batch of the bucket `number`: the bucket after it, and all rows to emit.

    `specs` are those of all buckets of the query, in one order: every bucket must answer a control message alike.
    """
    bucket = Bucket(line.spec, line.rules, line.alerts, saved, chunks)
    emitted, flush = obey(bucket, specs, arrived.control)
    passed_on = {findings.REJECTED: arrived.rejected, findings.LATE: arrived.late}
    emitted += [findings.payload_rows(kind, payloads) for kind, payloads in passed_on.items() if payloads]
    bucket.tally.rejected = len(arrived.rejected)
    bucket.tally.late, bucket.tally.repeated = arrived.late_count, len(arrived.late) - arrived.late_count
    emitted += bucket.advance(arrived.events, arrived.tick_us, flush, arrived.again)
    tally = bucket.tally.of_pairs() if line.spec.reads == "pairs" else bucket.tally
    stats = {"bucket": number, **asdict(tally), "outcomes": bucket.outcomes.tally, "anew": bucket.anew}
    emitted.append(findings.payload_rows(findings.STATS, [stats]))
    return bucket, emitted


def beside_previous(rows: DataFrame, rules: BucketRules) -> DataFrame:
    """`rows` (bucket, kind, track, time, ...) in order, events with the one before them as `previous_*`."""
    before = [T.StructField(f"previous_{name}", T.DoubleType()) for name in REMEMBERED if name != "time"]
    times = [T.StructField(name, T.TimestampType()) for name in ("previous_time", "status_since", "heard_since")]
    schema = T.StructType([*rows.schema.fields, *before, *times])
    return rows.groupBy("bucket").transformWithStateInPandas(ReorderProcessor(rules, schema), schema, "append", "None")


class ReorderProcessor(StatefulProcessor):
    """The first of two stateful operators, where Spark joins layers or makes pairs after it."""

    def __init__(self, rules: BucketRules, schema: T.StructType) -> None:
        self._rules, self._schema = rules, schema

    def init(self, handle: StatefulProcessorHandle) -> None:
        """Name what is kept."""
        self._stored = StoredPositions(handle, "resting")

    def handleInputRows(  # noqa: N802 - Spark's name
        self,
        key: Any,  # noqa: ARG002
        rows: Iterator[pd.DataFrame],
        timerValues: Any,  # noqa: ARG002, N803
    ) -> Iterator[pd.DataFrame]:
        """One micro-batch of one bucket."""
        arrived = pd.concat(list(rows), ignore_index=True)
        yield fitted(self._stored.reordered(arrived, self._rules), self._schema)

    def close(self) -> None:
        """Nothing is held open."""


def fitted(rows: pd.DataFrame, schema: T.StructType) -> pd.DataFrame:
    """`rows` with the columns of `schema`, each as Spark can take it even where nothing is known."""
    return pd.DataFrame({field.name: _fitted(rows, field) for field in schema.fields}, index=rows.index)


def _fitted(rows: pd.DataFrame, field: T.StructField) -> "pd.Series[Any]":
    column = rows[field.name] if field.name in rows.columns else pd.Series(None, index=rows.index, dtype=object)
    if isinstance(field.dataType, T.TimestampType):
        return pd.to_datetime(column)
    if isinstance(field.dataType, T.StringType | T.BooleanType):
        plain: pd.Series[Any] = column.astype(object)
        return plain.where(plain.notna(), None)
    return column
