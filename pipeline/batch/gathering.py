"""Events on their way to the worker of their track, many in one row: a shuffle then moves few and large rows.

A worker that has read events sorts them by track, cuts them into buckets of tracks, and sends each bucket as one row
of plain bytes. The worker of a bucket puts the pieces of each track together in order of time.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any
from zlib import crc32

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from foresail.patterns.recognition.events import EventBatch, LayerEvents, Near, ranges
from foresail.pipeline.batch.parquet_source import OFFSET
from foresail.pipeline.batch.skewed_tracks import Slices

NO_SLICE = -1
_BYTES = pa.map_(pa.string(), pa.binary())
GATHERED = pa.schema(
    [
        ("bucket", pa.int32()),
        ("slice", pa.int32()),
        ("tracks", pa.list_(pa.string())),
        ("sizes", pa.list_(pa.int32())),
        ("times", pa.binary()),
        ("words", pa.binary()),
        ("columns", _BYTES),
        ("layers", _BYTES),
    ]
)
"""Rows that are shuffled; `columns` and `layers` name the arrays they hold, whatever was asked for."""
GATHERED_DDL = (
    "bucket int, slice int, tracks array<string>, sizes array<int>, times binary, words binary, "
    "columns map<string, binary>, layers map<string, binary>"
)
ROWS_PER_CALL = 500_000
_TYPE = ":"
"""Between the name of a column and the type of its values."""
_PARTS = ("far", "counts", "feature", "near")


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


def gathered(batch: EventBatch, keys: Sequence[int], slices: Slices | None = None) -> pa.RecordBatch:
    """The events of a batch, a row for each bucket that has any, and for each slice of a long track.

    A row without times holds no events: it tells a bucket how many the slice has, wherever they go.
    """
    names = batch.keys.dictionary.to_pylist()
    codes = np.repeat(batch.keys.indices.to_numpy(), np.diff(batch.first_of))
    long = {code: slices[name] for code, name in enumerate(names) if slices and name in slices}
    bucket_of = np.array([crc32(name.encode()) % len(keys) for name in names], dtype=np.int64)
    bucket_of[list(long)] = len(keys) + np.arange(len(long))
    # tracks in order of bucket, so that one stable sort brings buckets and tracks together
    rank = np.empty(len(names), dtype=np.int64)
    rank[np.argsort(bucket_of, kind="stable")] = np.arange(len(names))
    order = _in_order(rank[codes], batch.times, batch.columns[OFFSET])
    if order is not None:
        codes, batch = codes[order], batch.take(order, batch.first_of, batch.keys)
    first = np.concatenate([[0], np.flatnonzero(codes[1:] != codes[:-1]) + 1, [len(codes)]])
    segments = codes[first[:-1]]
    ends = np.concatenate([[0], np.flatnonzero(np.diff(bucket_of[segments])) + 1, [len(segments)]])
    rows: list[dict[str, object]] = []
    for begin, end in pairwise(ends):
        events = slice(int(first[begin]), int(first[end]))
        code = int(segments[begin])
        if code in long:
            rows += _sliced(batch, events, names[code], long[code], keys)
            continue
        tracks = [names[code] for code in segments[begin:end]]
        head = {"bucket": keys[bucket_of[code]], "slice": NO_SLICE, "tracks": tracks}
        rows.append(head | {"sizes": np.diff(first[begin : end + 1])} | _as_bytes(batch, events))
    return pa.RecordBatch.from_pylist(rows, schema=GATHERED)


def _sliced(
    batch: EventBatch, events: slice, name: str, cuts: Sequence[int], keys: Sequence[int]
) -> Iterator[dict[str, object]]:
    """The events of a long track, a row for each slice, whose buckets take turns; all buckets are told its size."""
    times = batch.times[events]
    bounds = [0, *np.searchsorted(times, np.array(cuts)).tolist(), len(times)]
    for number, (begin, end) in enumerate(pairwise(bounds)):
        if end > begin:
            head = {"bucket": keys[number % len(keys)], "slice": number, "tracks": [name], "sizes": [end - begin]}
            yield head | _as_bytes(batch, slice(events.start + begin, events.start + end))
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


def _as_bytes(batch: EventBatch, events: slice) -> dict[str, object]:
    columns = {f"{name}{_TYPE}{values.dtype.str}": values[events] for name, values in batch.columns.items()}
    layers: dict[str, NDArray[Any]] = {}
    for name, own in batch.layers.items():
        mine = own.slice(events.start, events.stop)
        counts = np.diff(mine.near.at).astype(np.int32)
        arrays: tuple[NDArray[Any], ...] = (mine.words, counts, mine.near.feature, mine.near.words)
        layers |= {f"{name}{_TYPE}{part}": values for part, values in zip(_PARTS, arrays, strict=True)}
    return {
        "times": batch.times[events].tobytes(),
        "words": batch.words[events].tobytes(),
        "columns": [(name, values.tobytes()) for name, values in columns.items()],
        "layers": [(name, values.tobytes()) for name, values in layers.items()],
    }


def put_together(
    batches: Iterable[pa.RecordBatch],
    words: int,
    layers: Mapping[str, tuple[int, Sequence[str]]],
    most: int = ROWS_PER_CALL,
) -> Iterator[EventBatch]:
    """The events of one bucket in order of track and time, some at a time.

    `layers` tells of each how many words its families have and the names of its features.
    """
    held = list(batches)
    rows = pa.Table.from_batches(held) if held else None
    if rows is None or not rows.num_rows:
        return
    tracks = rows["tracks"].combine_chunks().flatten().dictionary_encode()
    sizes = rows["sizes"].combine_chunks().flatten().to_numpy().astype(np.int64)
    times = _joined([value.as_buffer() for value in rows["times"]], np.int64)
    columns = {
        name: _joined(buffers, kind)
        for (name, _, kind), buffers in ((key.rpartition(_TYPE), some) for key, some in _named(rows["columns"]).items())
    }
    begin = np.cumsum(sizes) - sizes
    codes = tracks.indices.to_numpy().astype(np.int64)
    segments = np.lexsort((times[begin], codes))
    order, _ = ranges(begin[segments], sizes[segments])
    per_track = np.bincount(codes, weights=sizes).astype(np.int64)
    first_of = np.concatenate([[0], np.cumsum(per_track)]).astype(np.int64)
    order = _mended(order, np.repeat(np.arange(len(per_track)), per_track), times, columns[OFFSET])
    near = _named(rows["layers"])
    whole = EventBatch(
        _joined([value.as_buffer() for value in rows["words"]], np.int64).reshape(-1, words),
        times,
        first_of,
        tracks.dictionary,
        columns,
        {name: _layer(near, name, count, names) for name, (count, names) in layers.items()},
    )
    yield from whole.take(order, first_of, tracks.dictionary).in_slices(most)


def _mended(
    order: NDArray[np.int64], track: NDArray[np.int64], times: NDArray[np.int64], offsets: NDArray[np.int64]
) -> NDArray[np.int64]:
    """The order, corrected where pieces of a track overlap in time."""
    time, offset = times[order], offsets[order]
    same, step = track[1:] == track[:-1], time[1:] - time[:-1]
    if not (same & ((step < 0) | ((step == 0) & (offset[1:] < offset[:-1])))).any():
        return order
    return order[np.lexsort((offset, time, track))]


def _joined(buffers: Sequence[pa.Buffer], kind: str | type[np.generic]) -> NDArray[Any]:
    parts = [np.frombuffer(buffer, kind) for buffer in buffers]
    return np.concatenate(parts) if len(parts) > 1 else parts[0]


def _named(column: pa.ChunkedArray) -> dict[str, list[pa.Buffer]]:
    """The arrays of each name, row after row."""
    found: dict[str, list[pa.Buffer]] = {}
    for chunk in column.chunks:
        low, high = (chunk.offsets[at].as_py() for at in (0, len(chunk)))  # `keys` and `items` are not cut
        names, values = chunk.keys[low:high].to_pylist(), chunk.items[low:high]
        for name, value in zip(names, values, strict=True):
            found.setdefault(name, []).append(value.as_buffer())
    return found


def _layer(near: Mapping[str, list[pa.Buffer]], layer: str, words: int, names: Sequence[str]) -> LayerEvents:
    kinds: tuple[type[np.generic], ...] = (np.int64, np.int32, np.int32, np.int64)
    far, counts, feature, close = (
        _joined(near[f"{layer}{_TYPE}{part}"], kind) for part, kind in zip(_PARTS, kinds, strict=True)
    )
    at = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    return LayerEvents(far.reshape(-1, words), Near(at, feature, close.reshape(-1, words)), names)
