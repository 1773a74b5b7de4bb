"""Workers for long tracks: every slice is run at once as if it came first, then one worker stitches their beginnings.

A slice writes by itself what it shows after its beginning, so only beginnings travel on, however long the track is.
"""

import pickle
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import TypeAlias

import pyarrow as pa

from foresail.patterns.recognition.recogniser import Batch, Recogniser, RecogniserState
from foresail.patterns.recognition.stitching import Beginning, beginning_of, state_after, stitch
from foresail.pipeline.batch.gathering import (
    NO_SLICE,
    ROWS_PER_CALL,
    in_slices,
    part_of,
    put_together,
    word_count,
)
from foresail.pipeline.batch.match_writer import WRITTEN, Writing
from foresail.pipeline.batch.recognition_line import UNKNOWN_PLACE, EventRows, Line
from foresail.pipeline.batch.tally import EVENTS, Tally
from foresail.pipeline.batch.workers import Receive, Search
from foresail.pipeline.results.match_batch import Places

SPECULATED_DDL = "track string, slice int, content binary"
SPECULATED = pa.schema([("track", pa.string()), ("slice", pa.int32()), ("content", pa.binary())])
Counts: TypeAlias = Counter[tuple[str, str]]
SliceKey: TypeAlias = tuple[str, int]
"""A track and the number of its slice."""


@dataclass(frozen=True, slots=True)
class Opened:
    """A slice as it goes on to the worker that stitches."""

    rows: EventRows
    """The events of its beginning."""
    beginning: Beginning
    last: RecogniserState | None
    """The state after the slice, if what follows the beginning stands; None where nothing follows."""
    place: Places
    """Where the last event of the slice was."""


@dataclass(frozen=True, slots=True)
class Speculate:
    """Recognises in the whole tracks of a bucket and in its slices of long tracks, and writes all but beginnings."""

    search: Search
    writing: Writing
    """Where matches go; its worker is replaced by one for these."""

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """A row for each slice, and one for what was counted and written."""
        counts: Counts = Counter()
        opened: dict[SliceKey, Opened] = {}
        written = [*self.writing.with_worker(partial(self._found, counts, opened))(batches)]
        yield _row(None, NO_SLICE, (counts, [batch.to_pylist() for batch in written]))
        for (track, number), slice_ in opened.items():
            yield _row(track, number, slice_)

    def _found(
        self, counts: Counts, opened: dict[SliceKey, Opened], batches: Iterable[pa.RecordBatch]
    ) -> Iterator[pa.RecordBatch]:
        bucket = _sorted_out(batches)
        yield from Receive(self.search, counts=counts)(bucket.whole)
        recogniser, line = self.search.recogniser(), self.search.line()
        for track, number in sorted(bucket.slices):
            parts = bucket.slices[track, number]
            (rows,) = put_together(parts, word_count(self.search.plain), [], most=bucket.sizes[track, number])
            yield from self._slice(recogniser, line, rows, bucket.events_before(track, number), (track, number), opened)
            counts[EVENTS, ""] += len(rows.times)
        counts.update(line.matches)

    def _slice(
        self,
        recogniser: Recogniser,
        line: Line,
        rows: EventRows,
        before: int,
        key: SliceKey,
        opened: dict[SliceKey, Opened],
    ) -> Iterator[pa.RecordBatch]:
        """The matches after the beginning of a slice, which is put among those opened."""
        beginning = beginning_of(recogniser, _events(rows))
        end, length = beginning.events, len(rows.times)
        line.take_up(key[0], state_after(beginning, before), _place(rows, end))
        for part in in_slices(part_of(rows, end, length), ROWS_PER_CALL):
            yield from line.advance(part)
        last = line.state if end < length else None
        opened[key] = Opened(part_of(rows, 0, end), beginning, last, _place(rows, length))


@dataclass(frozen=True, slots=True)
class Stitch:
    """Runs the beginnings of slices in order and writes what they show; tells what all workers have counted."""

    search: Search
    writing: Writing
    tally: Tally | None = None

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """The files that were written, by this worker and by those before it; the tracks that cannot be stitched."""
        counts: Counts = Counter()
        slices: dict[SliceKey, Opened] = {}
        for batch in batches:
            for row in batch.to_pylist():
                if row["track"] is None:
                    counted, written = pickle.loads(row["content"])
                    counts.update(counted)
                    for part in written:
                        yield pa.RecordBatch.from_pylist(part, schema=WRITTEN)
                else:
                    slices[row["track"], row["slice"]] = pickle.loads(row["content"])
        unsettled: list[str] = []
        yield from self.writing.with_worker(lambda _: self._stitched(slices, counts, unsettled))([])
        yield pa.RecordBatch.from_pylist([{"unsettled": track} for track in unsettled], schema=WRITTEN)
        if self.tally is not None:
            self.tally.add(
                counts if self.search.counts_events else Counter({k: n for k, n in counts.items() if k[0] != EVENTS})
            )

    def _stitched(
        self, slices: dict[SliceKey, Opened], counts: Counts, unsettled: list[str]
    ) -> Iterator[pa.RecordBatch]:
        recogniser, line = self.search.recogniser(), self.search.line()
        last, state, place = None, recogniser.fresh(1), UNKNOWN_PLACE
        for track, number in sorted(slices):
            if track != last:
                last, state, place = track, recogniser.fresh(1), UNKNOWN_PLACE
            if track in unsettled:
                continue
            slice_ = slices[track, number]
            stitched = stitch(recogniser, _events(slice_.rows), slice_.beginning, state)
            if slice_.last is not None and not stitched.settled:
                unsettled.append(track)
            line.take_up(track, state, place)
            yield from line.found(stitched.matches, recogniser.patterns, slice_.rows)
            state, place = slice_.last or stitched.after, slice_.place
        counts.update(line.matches)


@dataclass(frozen=True, slots=True)
class _Bucket:
    """What a worker has received: rows of whole tracks, rows of slices, and how many events all slices have."""

    whole: list[pa.RecordBatch]
    slices: dict[SliceKey, list[pa.RecordBatch]]
    sizes: Counter[SliceKey]

    def events_before(self, track: str, number: int) -> int:
        """How many events of the track come before a slice of it."""
        return sum(size for (name, n), size in self.sizes.items() if name == track and n < number)


def _sorted_out(batches: Iterable[pa.RecordBatch]) -> _Bucket:
    bucket = _Bucket([], {}, Counter())
    for batch in batches:
        told = batch.column("times").is_null().to_pylist()
        for place, number in enumerate(batch.column("slice").to_pylist()):
            row = batch.slice(place, 1)
            if number == NO_SLICE:
                bucket.whole.append(row)
                continue
            key = batch.column("tracks")[place].as_py()[0], number  # a row of a slice is of one track
            if told[place]:
                bucket.sizes[key] += batch.column("sizes")[place].as_py()[0]
            else:
                bucket.slices.setdefault(key, []).append(row)
    return bucket


def _events(rows: EventRows) -> Batch:
    return Batch(rows.words, rows.times, rows.first_of)


def _place(rows: EventRows, end: int) -> Places:
    """Where the last event before place `end` was."""
    return Places(rows.places.lon[end - 1 : end], rows.places.lat[end - 1 : end]) if rows.places else UNKNOWN_PLACE


def _row(track: str | None, number: int, content: object) -> pa.RecordBatch:
    row = {"track": track, "slice": number, "content": pickle.dumps(content, protocol=5)}
    return pa.RecordBatch.from_pylist([row], schema=SPECULATED)
