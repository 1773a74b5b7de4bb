"""Events on their way to the worker of their track, many in one row: a shuffle then moves few and large rows.

A worker that has read events sorts them by track, cuts them into buckets of tracks, and sends each bucket as one row
of plain bytes. The worker of a bucket puts the pieces of each track together in order of time.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any
from zlib import crc32

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from foresail.patterns.compiler import CompiledPattern
from foresail.patterns.recognition.families import Near
from foresail.patterns.recognition.tables import WORD_BITS, shared_conditions
from foresail.pipeline.batch.parquet_reader import ReadBatch
from foresail.pipeline.batch.recognition_line import EventRows, FamilyRows
from foresail.pipeline.batch.skewed_tracks import Slices
from foresail.pipeline.results.match_batch import Places

NO_SLICE = -1
HEAD = (
    ("bucket", pa.int32()),
    ("slice", pa.int32()),
    ("tracks", pa.list_(pa.string())),
    ("sizes", pa.list_(pa.int32())),
)
BYTES = ("times", "offsets", "words", "lon", "lat")
FAMILY_BYTES = ("far", "counts", "feature", "near")
ROWS_PER_CALL = 500_000


def gathered_schema(families: int) -> pa.Schema:
    """The columns of the rows that are shuffled."""
    names = [*BYTES, *(f"{name}_{n}" for n in range(families) for name in FAMILY_BYTES)]
    return pa.schema([*HEAD, *((name, pa.binary()) for name in names)])


def gathered_ddl(families: int) -> str:
    """The same for Spark."""
    kinds = {"bucket": "int", "slice": "int", "tracks": "array<string>", "sizes": "array<int>"}
    return ", ".join(f"{field.name} {kinds.get(field.name, 'binary')}" for field in gathered_schema(families))


def bucket_keys(buckets: int) -> tuple[int, ...]:
    """A key for each bucket such that Spark's hash partitioning sends each to a partition of its own."""
    keys: dict[int, int] = {}
    key = 0
    while len(keys) < buckets:
        keys.setdefault(spark_hash(key) % buckets, key)
        key += 1
    return tuple(keys[place] for place in range(buckets))


def spark_hash(value: int) -> int:
    """What Spark's `hash` makes of one integer: Murmur3 of 32 bits with seed 42, as a signed number."""
    mask = 0xFFFFFFFF

    def turned(x: int, by: int) -> int:
        return ((x << by) | (x >> (32 - by))) & mask

    k = turned(value * 0xCC9E2D51 & mask, 15) * 0x1B873593 & mask
    h = (turned(42 ^ k, 13) * 5 + 0xE6546B64) & mask
    h ^= 4
    h = (h ^ (h >> 16)) * 0x85EBCA6B & mask
    h = (h ^ (h >> 13)) * 0xC2B2AE35 & mask
    h ^= h >> 16
    return h - (1 << 32) if h >> 31 else h


def gathered(batch: ReadBatch, keys: Sequence[int], slices: Slices | None = None) -> pa.RecordBatch:
    """The events of a batch, a row for each bucket that has any, and for each slice of a long track.

    A row without times holds no events: it tells a bucket how many the slice has, wherever they go.
    """
    assert batch.offsets is not None, "events that are shuffled need their order"
    names = batch.names.to_pylist()
    long = {code: slices[name] for code, name in enumerate(names) if slices and name in slices}
    bucket_of = np.array([crc32(name.encode()) % len(keys) for name in names], dtype=np.int64)
    bucket_of[list(long)] = len(keys) + np.arange(len(long))
    # tracks in order of bucket, so that one stable sort brings buckets and tracks together
    rank = np.empty(len(names), dtype=np.int64)
    rank[np.argsort(bucket_of, kind="stable")] = np.arange(len(names))
    order = _in_order(rank[batch.codes], batch.times, batch.offsets)
    codes = batch.codes if order is None else batch.codes[order]
    first = np.concatenate([[0], np.flatnonzero(codes[1:] != codes[:-1]) + 1, [len(codes)]])
    segments = codes[first[:-1]]
    ends = np.concatenate([[0], np.flatnonzero(np.diff(bucket_of[segments])) + 1, [len(segments)]])
    columns = _columns(batch, order)
    rows: list[dict[str, object]] = []
    for begin, end in pairwise(ends):
        events = slice(int(first[begin]), int(first[end]))
        code = int(segments[begin])
        if code in long:
            rows += _sliced(columns, events, names[code], long[code], keys)
            continue
        tracks = [names[code] for code in segments[begin:end]]
        head = {"bucket": keys[bucket_of[code]], "slice": NO_SLICE, "tracks": tracks}
        rows.append(head | {"sizes": np.diff(first[begin : end + 1])} | columns.cut(events))
    return pa.RecordBatch.from_pylist(rows, schema=gathered_schema(len(batch.families)))


def _sliced(
    columns: "_Columns", events: slice, name: str, cuts: Sequence[int], keys: Sequence[int]
) -> Iterator[dict[str, object]]:
    """The events of a long track, a row for each slice, whose buckets take turns; all buckets are told its size."""
    times = columns.times(events)
    bounds = [0, *np.searchsorted(times, np.array(cuts)).tolist(), len(times)]
    for number, (begin, end) in enumerate(pairwise(bounds)):
        if end > begin:
            head = {"bucket": keys[number % len(keys)], "slice": number, "tracks": [name], "sizes": [end - begin]}
            yield head | columns.cut(slice(events.start + begin, events.start + end))
            yield from (head | {"bucket": key} for key in keys)


def _in_order(
    rank: NDArray[np.int64], times: NDArray[np.int64], offsets: NDArray[np.int64]
) -> NDArray[np.int64] | None:
    """How to sort the events by track, time and offset; None when they are sorted."""
    small = rank.astype(np.uint16) if rank.max(initial=0) < 1 << 16 else rank
    order = None if (rank[1:] >= rank[:-1]).all() else np.argsort(small, kind="stable")
    if order is not None:
        rank, times, offsets = rank[order], times[order], offsets[order]
    same, step = rank[1:] == rank[:-1], times[1:] - times[:-1]
    if not (same & ((step < 0) | ((step == 0) & (offsets[1:] < offsets[:-1])))).any():
        return order
    inner = np.lexsort((offsets, times, rank))
    return inner if order is None else order[inner]


@dataclass(frozen=True, slots=True, eq=False)
class _Columns:
    """All arrays of the events in order, and of each family those of the near features."""

    batch: ReadBatch
    order: NDArray[np.int64] | None
    families: tuple[FamilyRows, ...]

    def times(self, events: slice) -> NDArray[np.int64]:
        return self.batch.times[events] if self.order is None else self.batch.times[self.order[events]]

    def cut(self, events: slice) -> dict[str, bytes | None]:
        batch = self.batch
        places = batch.places
        cut = {
            "times": self._bytes(batch.times, events),
            "offsets": self._bytes(batch.offsets, events),
            "words": self._bytes(batch.words, events),
            "lon": self._bytes(places.lon, events) if places else None,
            "lat": self._bytes(places.lat, events) if places else None,
        }
        for n, family in enumerate(self.families):
            near = slice(int(family.near.at[events.start]), int(family.near.at[events.stop]))
            cut |= {
                f"far_{n}": family.words[events].tobytes(),
                f"counts_{n}": np.diff(family.near.at[events.start : events.stop + 1]).astype(np.int32).tobytes(),
                f"feature_{n}": family.near.feature[near].tobytes(),
                f"near_{n}": family.near.words[near].tobytes(),
            }
        return cut

    def _bytes(self, values: NDArray[np.generic] | None, events: slice) -> bytes:
        assert values is not None, "offsets are read wherever events are shuffled"
        return (values[events] if self.order is None else values[self.order[events]]).tobytes()


def _columns(batch: ReadBatch, order: NDArray[np.int64] | None) -> _Columns:
    families = batch.families if order is None else tuple(sorted_family(f, order) for f in batch.families)
    return _Columns(batch, order, families)


def sorted_family(family: FamilyRows, order: NDArray[np.int64]) -> FamilyRows:
    """The same for events in another order."""
    near = family.near
    rows, at = _spread(near.at[order], np.diff(near.at)[order])
    return FamilyRows(family.words[order], Near(at, near.feature[rows], near.words[rows]), family.names)


def _spread(begin: NDArray[np.int64], sizes: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """All places of ranges, one range after the other, and where each range begins in them (and the end)."""
    at = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    return np.arange(at[-1]) + np.repeat(begin - at[:-1], sizes), at


def put_together(
    batches: Iterable[pa.RecordBatch],
    words: int,
    family_words: Sequence[tuple[int, Sequence[str]]],
    most: int = ROWS_PER_CALL,
) -> Iterator[EventRows]:
    """The events of one bucket in order of track and time, some at a time.

    `family_words` tells of each family how many words it has and the names of its features.
    """
    held = list(batches)
    rows = pa.Table.from_batches(held) if held else None
    if rows is None or not rows.num_rows:
        return
    tracks = rows["tracks"].combine_chunks().flatten().dictionary_encode()
    sizes = rows["sizes"].combine_chunks().flatten().to_numpy().astype(np.int64)
    times, offsets = (_joined(rows, name, np.int64) for name in ("times", "offsets"))
    begin = np.cumsum(sizes) - sizes
    codes = tracks.indices.to_numpy().astype(np.int64)
    segments = np.lexsort((times[begin], codes))
    order, _ = _spread(begin[segments], sizes[segments])
    per_track = np.bincount(codes, weights=sizes).astype(np.int64)
    first_of = np.concatenate([[0], np.cumsum(per_track)]).astype(np.int64)
    order = _mended(order, np.repeat(np.arange(len(per_track)), per_track), times, offsets)
    whole = EventRows(
        tracks.dictionary,
        first_of,
        times[order],
        _joined(rows, "words", np.int64).reshape(-1, words)[order],
        tuple(sorted_family(_family(rows, n, count, names), order) for n, (count, names) in enumerate(family_words)),
        _places(rows, order),
    )
    yield from in_slices(whole, most)


def _mended(
    order: NDArray[np.int64], track: NDArray[np.int64], times: NDArray[np.int64], offsets: NDArray[np.int64]
) -> NDArray[np.int64]:
    """The order, corrected where pieces of a track overlap in time."""
    time, offset = times[order], offsets[order]
    same, step = track[1:] == track[:-1], time[1:] - time[:-1]
    if not (same & ((step < 0) | ((step == 0) & (offset[1:] < offset[:-1])))).any():
        return order
    return order[np.lexsort((offset, time, track))]


def _joined(rows: pa.Table, name: str, kind: type[np.generic]) -> NDArray[Any]:
    parts = [np.frombuffer(value.as_buffer(), kind) for value in rows[name]]
    return np.concatenate(parts) if len(parts) > 1 else parts[0]


def _places(rows: pa.Table, order: NDArray[np.int64]) -> Places | None:
    if rows["lon"].null_count:
        return None
    return Places(*(_joined(rows, axis, np.float64)[order] for axis in ("lon", "lat")))


def _family(rows: pa.Table, n: int, words: int, names: Sequence[str]) -> FamilyRows:
    counts = _joined(rows, f"counts_{n}", np.int32)
    at = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    near_words = _joined(rows, f"near_{n}", np.int64).reshape(-1, words)
    near = Near(at, _joined(rows, f"feature_{n}", np.int32), near_words)
    return FamilyRows(_joined(rows, f"far_{n}", np.int64).reshape(-1, words), near, names)


def word_count(patterns: Sequence[CompiledPattern]) -> int:
    """How many words the conditions of these patterns need."""
    return max(1, -(-len(shared_conditions(patterns)) // WORD_BITS))


def in_slices(rows: EventRows, most: int) -> Iterator[EventRows]:
    """The same events, at most so many at a time."""
    for begin in range(0, len(rows.times), most):
        yield part_of(rows, begin, min(begin + most, len(rows.times)))


def part_of(rows: EventRows, begin: int, end: int) -> EventRows:
    """The events from place `begin` up to `end`."""
    low = int(np.searchsorted(rows.first_of, begin, side="right")) - 1
    high = int(np.searchsorted(rows.first_of, end, side="left"))
    first_of = np.clip(rows.first_of[low : high + 1], begin, end) - begin
    families = tuple(_family_slice(family, begin, end) for family in rows.families)
    places = Places(rows.places.lon[begin:end], rows.places.lat[begin:end]) if rows.places else None
    return EventRows(rows.tracks[low:high], first_of, rows.times[begin:end], rows.words[begin:end], families, places)


def _family_slice(family: FamilyRows, begin: int, end: int) -> FamilyRows:
    at = family.near.at[begin : end + 1]
    rows = slice(int(at[0]), int(at[-1]))
    near = Near(at - at[0], family.near.feature[rows], family.near.words[rows])
    return FamilyRows(family.words[begin:end], near, family.names)
