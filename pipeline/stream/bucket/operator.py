"""Spark's side of a bucket: load, obey control messages, advance, save. Every decision is made by `bucket`."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import pandas as pd
import pyarrow as pa
from pyspark.sql.streaming.stateful_processor import StatefulProcessor, StatefulProcessorHandle

from foresail.pipeline.stream.bucket import findings
from foresail.pipeline.stream.bucket.alerts import Alerting
from foresail.pipeline.stream.bucket.bucket import Bucket
from foresail.pipeline.stream.bucket.line_spec import LineSpec
from foresail.pipeline.stream.bucket.rules import BucketRules
from foresail.pipeline.stream.control.obeying import obey
from foresail.pipeline.stream.messages.packing import unpacked
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

EVENT, CONTROL, TICK, REJECTED_MESSAGE, LATE, AGAIN, PACKED = 0, 1, 2, 3, 4, 5, 6
"""What a row of the input is: an event, a control message, the wall clock, something to pass on, a late event, an event
of the past as it should have been, many events packed."""
PASSED_ON = {REJECTED_MESSAGE: findings.REJECTED, LATE: findings.LATE}


class StoredChunks:
    """The chunks of resting tracks in the state store."""

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


@dataclass(frozen=True, slots=True)
class BucketLine:
    """What the buckets of one kind of events run, and the columns of their rows."""

    spec: LineSpec
    rules: BucketRules
    alerts: Alerting
    columns: tuple[str, ...] = ()


class BucketProcessor(StatefulProcessor):
    """A bucket in the state store: one value for the tracks at hand, a map of chunks for those at rest.

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
        saved = None if held is None else from_row(held)
        bucket, told = step(line, self._specs, number, arrived, saved, self._chunks)
        self._saved.update(to_row(bucket.saved()))
        yield findings.frame(told)

    def close(self) -> None:
        """Nothing is held open."""


def step(
    line: BucketLine,
    specs: Sequence[LineSpec],
    number: int,
    arrived: pd.DataFrame,
    saved: Saved | None,
    chunks: Any,
) -> tuple[Bucket, list[pa.Table]]:
    """One micro-batch of the bucket `number`: the bucket after it, and all rows to be told.

    `specs` are those of all buckets of the query, in one order: every bucket must answer a control message alike.
    """
    bucket = Bucket(line.spec, line.rules, line.alerts, saved, chunks)
    kind = arrived["kind"].to_numpy()
    messages = arrived[kind == CONTROL].sort_values("offset", kind="stable")
    told, flush = obey(bucket, specs, messages)
    passed = [(what, arrived[kind == code]["payload"].tolist()) for code, what in PASSED_ON.items()]
    told += [findings.told_rows(what, payloads) for what, payloads in passed if payloads]
    bucket.tally.rejected = len(passed[0][1])
    late = sum('"reason": "late"' in text for text in passed[1][1])
    bucket.tally.late, bucket.tally.repeated = late, len(passed[1][1]) - late
    told += bucket.advance(events_of(arrived), last_tick_us(arrived), flush, arrived[kind == AGAIN])
    tally = bucket.tally.of_pairs() if line.spec.reads == "pairs" else bucket.tally
    stats = {"bucket": number, **asdict(tally), "outcomes": bucket.outcomes.tally, "anew": bucket.anew}
    told.append(findings.told_rows(findings.STATS, [stats]))
    return bucket, told


def events_of(rows: pd.DataFrame) -> pd.DataFrame:
    """The events among `rows`: those that are rows of their own, and the packed ones."""
    kind = rows["kind"].to_numpy()
    single: pd.DataFrame = rows[kind == EVENT].drop(columns="packed", errors="ignore")
    packed = kind == PACKED
    if not packed.any():
        return single
    many = unpacked(rows.loc[packed, "packed"].tolist())
    return pd.concat([single, many], ignore_index=True) if len(single) else many


def last_tick_us(rows: pd.DataFrame) -> int:
    """The wall clock as the ticks among `rows` tell it; 0 without any."""
    ticks = rows.loc[(rows["kind"] == TICK).to_numpy(), "arrived_us"]
    return int(ticks.max()) if len(ticks) else 0
