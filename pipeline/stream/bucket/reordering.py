"""Positions of a bucket put in order, each beside the one before it; late ones set aside, or read after all.

Where late positions are taken after all, the recent ones of each track are kept: a late one changes what is derived for
the one after it, and since when a status holds. So every position of the track from the late one on is made anew and
sent once more, to be read in place of what was sent before. Everything that is no event passes through untouched.
"""

import json
from collections.abc import Callable
from dataclasses import astuple, dataclass
from typing import Any, TypeAlias

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from foresail.pipeline.stages.derive import DEFAULT_GAP_US
from foresail.pipeline.stages.track_memory import decode_memory, empty_memory, encode_memory, meet
from foresail.pipeline.stream.bucket.eviction import CHUNKS, chunk_of
from foresail.pipeline.stream.bucket.input_rows import (
    AGAIN,
    CONTROL,
    EVENT,
    LATE,
    SAME_TIME,
    last_tick_us,
    unpacked_among,
    with_status,
)
from foresail.pipeline.stream.bucket.ordering import LATE as LATE_REASON
from foresail.pipeline.stream.bucket.ordering import agreed_us, due, together
from foresail.pipeline.stream.bucket.rules import BucketRules
from foresail.pipeline.stream.control.message import ControlMessage, parse_control
from foresail.pipeline.stream.state.saved import BucketClock

REORDER_DDL = "about string, memory binary, waiting binary, past binary, recent binary"
SWEPT_AT_ONCE = 4

TakeChunk: TypeAlias = Callable[[int], pd.DataFrame]
PutChunk: TypeAlias = Callable[[int, pd.DataFrame], None]
"""Last positions of idle tracks in the cold store, by the number of their chunk."""


class Reordering:
    """The positions of one bucket through one micro-batch."""

    def __init__(self, rules: BucketRules, held: Any, take: TakeChunk, put: PutChunk) -> None:
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
        arrived = with_status(unpacked_among(arrived))
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
        self._evict()
        self._recent.note(arrived.iloc[:0], self._memory)
        out: pd.DataFrame = pd.concat(parts, ignore_index=True)
        return out.drop(columns="status")

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
        """Bring idle tracks back from the cold store."""
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

    def _evict(self) -> None:
        """Move positions of idle tracks to the cold store, forget those that have been there too long."""
        forgotten = self._reached - self._rules.forget_after_us
        for number in [(self._sweep + n) % CHUNKS for n in range(SWEPT_AT_ONCE)]:
            if number in self._known:
                chunk = self._take(number)
                kept = chunk[_micros(chunk["time"]) >= forgotten]
                if len(kept) < len(chunk):
                    self._keep(number, kept)
        self._sweep = (self._sweep + SWEPT_AT_ONCE) % CHUNKS
        time = _micros(self._memory["time"])
        idle = self._memory[(time < self._reached - self._rules.rest_after_us) & (time >= forgotten)]
        if len(idle):
            for number, some in idle.groupby(idle["track"].map(chunk_of)):
                there = [self._take(number)] if number in self._known else []
                self._keep(int(number), pd.concat([*there, some], ignore_index=True))
        self._memory = self._memory[time >= self._reached - self._rules.rest_after_us].reset_index(drop=True)

    def row(self) -> tuple[str, bytes, bytes, bytes, bytes]:
        """What to keep until the next micro-batch."""
        about = {"clock": astuple(self._clock), "chunks": sorted(self._known), "sweep": self._sweep}
        waiting = encode_memory(self._waiting) if self._waiting is not None and len(self._waiting) else b""
        return json.dumps(about), encode_memory(self._memory), waiting, *self._recent.encoded()


@dataclass(slots=True, eq=False)
class RecentPositions:
    """`memory` of the tracks as it was before `rows`."""

    rerun_us: int
    memory: pd.DataFrame
    rows: pd.DataFrame | None = None
    gap_us: int = DEFAULT_GAP_US

    @classmethod
    def stored(cls, rerun_us: int, memory: bytes, rows: bytes, gap_us: int = DEFAULT_GAP_US) -> "RecentPositions":
        """What `encoded` made bytes of; of nothing where there are none."""
        return cls(
            rerun_us,
            decode_memory(memory) if memory else empty_memory(),
            decode_memory(rows) if rows else None,
            gap_us,
        )

    def encoded(self) -> tuple[bytes, bytes]:
        """What to keep until the next micro-batch."""
        rows = encode_memory(self.rows) if self.rows is not None and len(self.rows) else b""
        return encode_memory(self.memory) if len(self.memory) else b"", rows

    def begin(self, memory: pd.DataFrame) -> None:
        """Begin with tracks that come back from the cold store, as they are remembered."""
        if self.rerun_us and len(memory):
            self.memory = pd.concat([self.memory, memory], ignore_index=True)

    def taken(self, arrived: pd.DataFrame, memory: pd.DataFrame) -> NDArray[np.bool_]:
        """Which of `arrived` are late but of a time that is kept, and the first of their instant."""
        last = memory.set_index("track")["time"].reindex(arrived["track"]).to_numpy(dtype="datetime64[us]")
        time = arrived["time"].to_numpy(dtype="datetime64[us]")
        if not self.rerun_us or self.rows is None or not len(self.rows):
            return np.zeros(len(arrived), dtype=np.bool_)
        near: NDArray[np.bool_] = (time < last) & (time >= last - np.timedelta64(self.rerun_us, "us"))
        began = self.memory.set_index("track")["time"].reindex(arrived["track"]).to_numpy(dtype="datetime64[us]")
        near &= arrived["track"].isin(self.rows["track"]).to_numpy() & ~(time <= began)
        mine = _instants(arrived)
        first: NDArray[np.bool_] = near & ~mine.isin(_instants(self.rows)) & ~mine.duplicated()
        return first

    def again(self, late: pd.DataFrame, memory: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame]:
        """The positions from each late one on beside those before them, and the memory after all of them."""
        assert self.rows is not None
        mine = self.rows["track"].isin(late["track"])
        self.rows = pd.concat([self.rows, late], ignore_index=True)
        met = meet(
            pd.concat([self.rows[: len(mine)][mine], late], ignore_index=True),
            self.memory[self.memory["track"].isin(late["track"])],
            gap_us=self.gap_us,
        )
        first = late.groupby("track")["time"].min().reindex(met.positions["track"]).to_numpy()
        changed = met.positions[met.positions["time"].to_numpy() >= first]
        others = memory[~memory["track"].isin(late["track"])]
        return changed, pd.concat([others, met.memory], ignore_index=True)

    def note(self, rows: pd.DataFrame, memory: pd.DataFrame) -> None:
        """Keep positions that were sent; let those go that are too old, or whose track is not in `memory` any more."""
        if not self.rerun_us:
            return
        there = self.rows is not None and len(self.rows)
        held: pd.DataFrame = pd.concat([self.rows, rows], ignore_index=True) if there else rows.reset_index(drop=True)
        last = memory.set_index("track")["time"].reindex(held["track"]).to_numpy(dtype="datetime64[us]")
        gone = np.isnat(last)
        leaving = ~gone & (held["time"].to_numpy(dtype="datetime64[us]") < last - np.timedelta64(self.rerun_us, "us"))
        if leaving.any():
            self.memory = meet(held[leaving], self.memory, gap_us=self.gap_us).memory
        self.rows = held[~(leaving | gone)].reset_index(drop=True)
        self.memory = self.memory[self.memory["track"].isin(memory["track"])].reset_index(drop=True)


def _flushes(texts: list[str]) -> bool:
    messages = map(parse_control, texts)
    return any(isinstance(message, ControlMessage) and bool(message.flush) for message in messages)


def _marked(met: pd.DataFrame, taken: pd.DataFrame) -> pd.DataFrame:
    """Late rows as such, with what there is to tell of them; those of `taken` are read after all."""
    late = met["late_reason"].notna()
    if not late.any():
        return met
    after_all = set(zip(taken["track"], taken["offset"], strict=True))
    late_rows = met[late]
    columns = (late_rows[name] for name in ("track", "offset", "time", "late_reason", "lon", "lat"))
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
    met.loc[late, "kind"] = np.where(late_rows["late_reason"] == LATE_REASON, LATE, SAME_TIME)
    met.loc[late, "payload"] = pd.Series(texts, index=late_rows.index, dtype=object)
    return met


def _micros(time: "pd.Series[Any]") -> "pd.Series[Any]":
    return time.astype("datetime64[us]").astype("int64")


def _instants(rows: pd.DataFrame) -> Any:
    return pd.MultiIndex.from_arrays([rows["track"].to_numpy(dtype=object), rows["time"].to_numpy("datetime64[us]")])
