"""Judged rows on their way to the worker of their track: positions, the rows that are none, and what was counted.

A worker that has read a piece of a file sends each of the workers that settle tracks a parcel for each batch. Lines are
counted within the piece; only when all pieces are read is it known where in its file each begins, so the last parcel of
a piece tells everyone how many lines it has.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from foresail.pipeline.feeds.judging import REASON_CODES, Judge, Judged, Value, as_arrow, judge
from foresail.pipeline.feeds.pieces import Piece, batches_of
from foresail.pipeline.feeds.rows import SplitFile
from foresail.pipeline.feeds.texts import Longs, Mask, Texts
from foresail.pipeline.quality.figures import merged_box
from foresail.pipeline.quality.measure import ATTRIBUTES
from foresail.pipeline.sources.repairs import BITS, REPAIRS
from foresail.pipeline.stages.array_functions import Nullable
from foresail.pipeline.stream.messages.text_kernels import place_kernel

REASONS = tuple(REASON_CODES)
LINE = "line"
RAW = "raw"


@dataclass(frozen=True, slots=True)
class Parcel:
    """What one batch of a piece has for one bucket of tracks."""

    bucket: int
    piece: int
    batch: int
    positions: pa.RecordBatch | None = None
    """Columns of positions, with `line`."""
    texts: Callable[[], pa.RecordBatch] | None = None
    """Their lines as they were, in the same order; few are ever asked for."""
    aside: pa.RecordBatch | None = None
    """Rows that are no positions: line, reason, raw."""
    lines: int | None = None
    """How many lines the piece has; of its last parcel."""
    truncated: bool = False
    """Whether the file ends in the middle."""
    counted: "RowFigures | None" = None


@dataclass(slots=True)
class RowFigures:
    """What is counted over all rows as they come in, positions or not."""

    rows: int = 0
    positions: int = 0
    tracks: set[str] = field(default_factory=set)
    times: tuple[int, int] | None = None
    box: list[float | None] = field(default_factory=lambda: [None] * 4)
    known: Counter[str] = field(default_factory=Counter)
    repairs: Counter[str] = field(default_factory=Counter)

    def add(self, judged: Judged) -> None:
        """Count the rows of a batch."""
        self.rows += len(judged.lines)
        self.positions += int(judged.positions.sum())
        track = judged.columns.get("track")
        if isinstance(track, Texts):
            self.tracks.update(value for value in track.array().unique().to_pylist() if value is not None)
        time = judged.columns.get("time")
        if isinstance(time, Nullable) and time.known.any():
            self._span(time.values[time.known])
        self._extend(judged.columns)
        self.known.update(
            {name: int(judged.columns[name].known.sum()) for name in ATTRIBUTES if name in judged.columns}
        )
        if judged.repairs.any():
            made = {kind: int(((judged.repairs & BITS[kind]) != 0).sum()) for kind in REPAIRS}
            self.repairs.update({kind: count for kind, count in made.items() if count})

    def _span(self, times: Longs) -> None:
        low, high = int(times.min()), int(times.max())
        self.times = (min(low, self.times[0]), max(high, self.times[1])) if self.times else (low, high)

    def _extend(self, columns: Mapping[str, Value]) -> None:
        for place, (name, extreme) in enumerate((("lon", min), ("lat", min), ("lon", max), ("lat", max))):
            column = columns.get(name)
            if isinstance(column, Nullable) and column.known.any():
                values = column.values[column.known]
                mine, before = float(values.min() if extreme is min else values.max()), self.box[place]
                self.box[place] = mine if before is None else extreme(mine, before)

    def merge(self, other: "RowFigures") -> None:
        """Add what was counted elsewhere."""
        self.rows += other.rows
        self.positions += other.positions
        self.tracks |= other.tracks
        spans = [times for times in (self.times, other.times) if times]
        self.times = (min(low for low, _ in spans), max(high for _, high in spans)) if spans else None
        self.box = merged_box(self.box, other.box)
        self.known.update(other.known)
        self.repairs.update(other.repairs)


def parcels_of(piece: Piece, file: SplitFile, by: Judge, buckets: int) -> Iterator[Parcel]:
    """Everything that a piece of a file holds, in parcels for each bucket; the last are for all of them."""
    counted, batch, lines, truncated = RowFigures(), 0, 0, False
    for data in batches_of(piece):
        if isinstance(data, bool):
            truncated = True
            continue
        first = piece.first_line + lines
        judged = judge(data, first, file, by)
        counted.add(judged)
        lines += int(judged.lines.numbers[-1]) - first + 1 if len(judged.lines) else int(first == 1 and file.has_header)
        yield from _packed(judged, piece, batch, buckets)
        batch += 1
    for bucket in range(buckets):
        mine = bucket == piece.number % buckets
        yield Parcel(
            bucket, piece.number, batch, None, None, None, lines, truncated and mine, counted if mine else None
        )


def _packed(judged: Judged, piece: Piece, batch: int, buckets: int) -> Iterator[Parcel]:
    good = judged.positions
    rejected = ~good
    aside = _aside(judged, rejected) if rejected.any() else None
    home = piece.number % buckets
    places = _places(judged.columns.get("track"), good, buckets)
    if places is None:
        if aside is not None:
            yield Parcel(home, piece.number, batch, aside=aside)
        return
    rows = np.flatnonzero(good)
    order = rows if buckets == 1 else rows[np.argsort(places.astype(np.uint16), kind="stable")]
    whole = order if len(order) < len(good) or buckets > 1 else slice(None)
    names = list(judged.columns)
    table = pa.RecordBatch.from_arrays(
        [*(as_arrow(judged.columns[name], whole) for name in names), pa.array(judged.lines.numbers[whole])],
        names=[*names, LINE],
    )
    texts = pa.RecordBatch.from_arrays([judged.lines.raw.take(whole).array()], names=[RAW])
    cuts = np.concatenate([[0], np.cumsum(np.bincount(places, minlength=buckets))])
    for bucket in range(buckets):
        begin, count = int(cuts[bucket]), int(cuts[bucket + 1] - cuts[bucket])
        mine = aside if bucket == home else None
        if count or mine is not None:
            positions = table.slice(begin, count) if count else None
            yield Parcel(
                bucket,
                piece.number,
                batch,
                positions,
                partial(texts.slice, begin, count) if count else None,
                aside=mine,
            )


def _places(track: Value | None, good: Mask, buckets: int) -> Longs | None:
    """Of each position the bucket of its track, as Spark's hash partitioning has it; None where there is none."""
    if not isinstance(track, Texts) or not good.any():
        return None
    coded = track.take(good).array().dictionary_encode()
    _, offsets, data = coded.dictionary.buffers()
    cuts = np.frombuffer(offsets, np.int32)[: len(coded.dictionary) + 1]
    places = np.empty(len(coded.dictionary), np.int64)
    place_kernel()(np.frombuffer(data, np.uint8), cuts, buckets, places)
    found: Longs = places[coded.indices.to_numpy()]
    return found


def _aside(judged: Judged, which: Mask) -> pa.RecordBatch:
    rows = np.flatnonzero(which)
    names = pa.array(REASONS).take(pa.array(judged.reasons[rows].astype(np.int32)))
    raw = judged.lines.raw.take(rows).array()
    return pa.RecordBatch.from_arrays([pa.array(judged.lines.numbers[rows]), names, raw], names=[LINE, "reason", RAW])


def count_reasons(aside: Iterable[pa.Table]) -> Counter[str]:
    """How many rows there are for each reason."""
    counts: Counter[str] = Counter()
    for table in aside:
        for entry in pc.value_counts(table.column("reason")).to_pylist():
            counts[entry["values"]] += entry["counts"]
    return counts
