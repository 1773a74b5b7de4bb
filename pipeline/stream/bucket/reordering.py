"""The first stateful step of a line that derives attributes: positions in order, each beside the one before it.

The arithmetic stays in Spark's expressions, as in a batch; here rows only wait, are sorted and meet what came before.
Everything that is no event passes through untouched.
"""

import json
from collections.abc import Iterator
from dataclasses import astuple
from typing import Any

import numpy as np
import pandas as pd
from pyspark.sql import DataFrame
from pyspark.sql import types as T  # noqa: N812
from pyspark.sql.streaming.stateful_processor import StatefulProcessor, StatefulProcessorHandle

from foresail.pipeline.stages.derive import DeriveOptions, status, with_attributes
from foresail.pipeline.stages.derive_stream import with_previous_schema
from foresail.pipeline.stages.track_memory import decode_memory, empty_memory, encode_memory, meet
from foresail.pipeline.stream.bucket.eviction import CHUNKS, chunk_of
from foresail.pipeline.stream.bucket.operator import AGAIN, CONTROL, EVENT, LATE, PACKED, last_tick_us
from foresail.pipeline.stream.bucket.ordering import agreed_us, due, together
from foresail.pipeline.stream.bucket.recent_positions import RecentPositions
from foresail.pipeline.stream.bucket.rules import BucketRules
from foresail.pipeline.stream.control.message import ControlMessage, parse_control
from foresail.pipeline.stream.messages.packing import unpacked
from foresail.pipeline.stream.state.saved import BucketClock

ARRANGED_DDL = "about string, memory binary, waiting binary, past binary, recent binary"
SWEPT_AT_ONCE = 4
NAV_STATUSES = 16


def arranged(rows: DataFrame, options: DeriveOptions, rules: BucketRules) -> DataFrame:
    """`rows` (bucket, kind, track, time, ...) in order, with derived attributes."""
    met = beside_previous(rows.withColumn("status", status()), rules)
    derived = with_attributes(met.drop("status"), options)
    return derived.select(*rows.columns, *[name for name in derived.columns if name not in rows.columns])


def beside_previous(rows: DataFrame, rules: BucketRules) -> DataFrame:
    """`rows` (bucket, kind, track, time, status, ...) in order, events with the one before them as `previous_*`."""
    schema = with_previous_schema(rows.schema)
    schema = T.StructType([field for field in schema.fields if field.name != "late_reason"])
    return rows.groupBy("bucket").transformWithStateInPandas(ArrangeProcessor(rules, schema), schema, "append", "None")


class ArrangeProcessor(StatefulProcessor):
    """A bucket's last positions in the state store: those at hand in one value, those at rest in chunks."""

    def __init__(self, rules: BucketRules, schema: T.StructType) -> None:
        self._rules, self._schema = rules, schema

    def init(self, handle: StatefulProcessorHandle) -> None:
        """Name what is kept."""
        self._saved = handle.getValueState("positions", ARRANGED_DDL)
        self._chunks = handle.getMapState("resting", "number int", "memory binary")

    def handleInputRows(  # noqa: N802 - Spark's name
        self,
        key: Any,  # noqa: ARG002
        rows: Iterator[pd.DataFrame],
        timerValues: Any,  # noqa: ARG002, N803
    ) -> Iterator[pd.DataFrame]:
        """One micro-batch of one bucket."""
        arrived = unpacked_among(pd.concat(list(rows), ignore_index=True))
        held = self._saved.get()
        arranging = Arranging(self._rules, held, self._take, self._put)
        out = arranging.advance(arrived)
        self._saved.update(arranging.row())
        yield fitted(out, self._schema)

    def _take(self, number: int) -> pd.DataFrame:
        row = self._chunks.getValue((number,))
        return empty_memory() if row is None else decode_memory(bytes(row[0]))

    def _put(self, number: int, memory: pd.DataFrame) -> None:
        if len(memory):
            self._chunks.updateValue((number,), (encode_memory(memory),))
        else:
            self._chunks.removeKey((number,))

    def close(self) -> None:
        """Nothing is held open."""


def unpacked_among(rows: pd.DataFrame) -> pd.DataFrame:
    """`rows` with packed events as rows of their own."""
    packed = (rows["kind"] == PACKED).to_numpy()
    if not packed.any():
        return rows
    events = unpacked(rows.loc[packed, "packed"].tolist())
    time = pd.Series(events["time_us"].to_numpy().view("datetime64[us]")).astype(rows["time"].dtype)
    events = events.assign(bucket=rows["bucket"].iloc[0], kind=EVENT, time=time, status=_status(events))
    return pd.concat([rows[~packed], events.reindex(columns=rows.columns)], ignore_index=True)


def _status(events: pd.DataFrame) -> "pd.Series[Any]":
    """What `foresail.pipeline.stages.derive.status` is: the engine, or the navigational status as text."""
    if not {"engine", "nav_status"} <= set(events.columns):  # where nothing is derived, nobody asks since when
        return pd.Series(None, index=events.index, dtype=object)
    engine, number = events["engine"].to_numpy(dtype=object), events["nav_status"].to_numpy(dtype=np.float64)
    texts = np.array([*map(str, range(NAV_STATUSES)), None], dtype=object)
    spelled = texts[np.where(np.isnan(number), NAV_STATUSES, number).astype(np.int64)]
    return pd.Series(np.where(pd.isna(engine), spelled, engine), dtype=object)


class Arranging:
    """The positions of one bucket through one micro-batch."""

    def __init__(self, rules: BucketRules, held: Any, take: Any, put: Any) -> None:
        about: dict[str, Any] = {"clock": [0, 0, 0], "chunks": [], "sweep": 0}
        if held is not None:
            about = json.loads(held[0])
        self._rules, self._take, self._put = rules, take, put
        self._clock = BucketClock(*about["clock"])
        self._known, self._sweep = set(about["chunks"]), int(about["sweep"])
        self._memory = decode_memory(bytes(held[1])) if held is not None else empty_memory()
        self._waiting = decode_memory(bytes(held[2])) if held is not None and len(held[2]) else None
        past, recent = (bytes(held[3]), bytes(held[4])) if held is not None else (b"", b"")
        self._recent = RecentPositions.stored(rules.rerun_us, past, recent, rules.gap_us)

    def advance(self, arrived: pd.DataFrame) -> pd.DataFrame:
        """The rows that are due, beside what came before them; late ones marked; all others as they are."""
        kind = arrived["kind"].to_numpy()
        events, others = arrived[kind == EVENT], arrived[kind != EVENT]
        waiting = together(events.assign(time_us=_micros(events["time"])), self._waiting)
        agreed = self._agreed(waiting) if len(events) else None
        flush = _flushes(arrived[kind == CONTROL]["payload"].tolist())
        until = self._until(agreed, last_tick_us(arrived), flush)
        rows, self._waiting = due(waiting, until, self._rules.out_of_order_us)
        parts = [others]
        if len(rows):
            self._fetch(rows["track"].unique())
            parts += self._met(rows.drop(columns="time_us").reset_index(drop=True))
        self._settle()
        self._recent.note(arrived.iloc[:0], self._memory)
        out: pd.DataFrame = pd.concat(parts, ignore_index=True)
        return out

    def _met(self, rows: pd.DataFrame) -> list[pd.DataFrame]:
        """Positions beside those before them; first those of the past that late ones make different."""
        parts = []
        taken = self._recent.taken(rows, self._memory)
        if taken.any():
            again, self._memory = self._recent.again(rows[taken], self._memory)
            parts.append(again.assign(kind=AGAIN))
        met = meet(rows, self._memory, gap_us=self._rules.gap_us)
        self._memory = met.memory
        read = met.positions["late_reason"].isna()
        self._recent.note(met.positions.loc[read, rows.columns], self._memory)
        parts.append(_marked(met.positions, rows[taken]))
        return parts

    def _agreed(self, rows: pd.DataFrame) -> int | None:
        at_hand = self._memory["track"].to_numpy(dtype=object)
        return agreed_us(rows, at_hand, _micros(self._memory["time"]).to_numpy(dtype=np.int64))

    def _until(self, agreed: int | None, tick_us: int, flush: bool) -> int:
        self._clock = self._clock.hearing(agreed, tick_us)
        self._reached = self._clock.reached_us
        return int(np.iinfo(np.int64).max) if flush else self._reached - self._rules.out_of_order_us

    def _fetch(self, tracks: Any) -> None:
        """Bring tracks that rest back to hand."""
        unknown = pd.Index(tracks).difference(pd.Index(self._memory["track"]))
        numbers = {chunk_of(track) for track in unknown} & self._known
        for number in sorted(numbers):
            chunk = self._take(number)
            wanted = chunk["track"].isin(unknown)
            self._memory = pd.concat([self._memory, chunk[wanted]], ignore_index=True)
            self._recent.begin(chunk[wanted])
            self._keep(number, chunk[~wanted])

    def _keep(self, number: int, memory: pd.DataFrame) -> None:
        (self._known.add if len(memory) else self._known.discard)(number)
        self._put(number, memory.reset_index(drop=True))

    def _settle(self) -> None:
        """Lay down positions of tracks that rest, forget those that have rested too long."""
        forgotten = self._reached - self._rules.forget_after_us
        for number in [(self._sweep + n) % CHUNKS for n in range(SWEPT_AT_ONCE)]:
            if number in self._known:
                chunk = self._take(number)
                kept = chunk[_micros(chunk["time"]) >= forgotten]
                if len(kept) < len(chunk):
                    self._keep(number, kept)
        self._sweep = (self._sweep + SWEPT_AT_ONCE) % CHUNKS
        time = _micros(self._memory["time"])
        resting = self._memory[(time < self._reached - self._rules.rest_after_us) & (time >= forgotten)]
        if len(resting):
            for number, some in resting.groupby(resting["track"].map(chunk_of)):
                there = [self._take(number)] if number in self._known else []
                self._keep(int(number), pd.concat([*there, some], ignore_index=True))
        self._memory = self._memory[time >= self._reached - self._rules.rest_after_us].reset_index(drop=True)

    def row(self) -> tuple[str, bytes, bytes, bytes, bytes]:
        """What to keep until the next micro-batch."""
        about = {"clock": astuple(self._clock), "chunks": sorted(self._known), "sweep": self._sweep}
        waiting = encode_memory(self._waiting) if self._waiting is not None and len(self._waiting) else b""
        return json.dumps(about), encode_memory(self._memory), waiting, *self._recent.encoded()


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


def _flushes(texts: list[str]) -> bool:
    messages = map(parse_control, texts)
    return any(isinstance(message, ControlMessage) and bool(message.flush) for message in messages)


def _marked(met: pd.DataFrame, taken: pd.DataFrame) -> pd.DataFrame:
    """Late rows as such, with what there is to tell of them; those of `taken` are read after all."""
    late = met["late_reason"].notna()
    if not late.any():
        return met
    after_all = set(zip(taken["track"], taken["offset"], strict=True))
    told = met[late]
    columns = (told[name] for name in ("track", "offset", "time", "late_reason", "lon", "lat"))
    texts = [
        json.dumps(
            {
                "track": track,
                "time": time.isoformat() + "Z",
                "reason": reason,
                "lon": lon,
                "lat": lat,
                "rerun": (track, offset) in after_all,
            }
        )
        for track, offset, time, reason, lon, lat in zip(*columns, strict=True)
    ]
    met = met.copy()
    met.loc[late, "kind"] = LATE
    met.loc[late, "payload"] = pd.Series(texts, index=told.index, dtype=object)
    return met


def _micros(time: "pd.Series[Any]") -> "pd.Series[Any]":
    return time.astype("datetime64[us]").astype("int64")
