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

from foresail.patterns.recognition.events import EventBatch, Places
from foresail.patterns.recognition.monitor import Monitor, MonitorState
from foresail.patterns.recognition.stitching import Beginning, beginning_of, state_after, stitch
from foresail.pipeline.batch.gathering import NO_SLICE, ROWS_PER_CALL, put_together
from foresail.pipeline.batch.match_writer import WRITTEN, Writing
from foresail.pipeline.batch.partition import UNKNOWN_PLACE, PartitionRecogniser
from foresail.pipeline.batch.tally import EVENTS, Tally
from foresail.pipeline.batch.workers import Receive, Search

SPECULATED_DDL = "track string, slice int, content binary"
SPECULATED = pa.schema([("track", pa.string()), ("slice", pa.int32()), ("content", pa.binary())])
Counts: TypeAlias = Counter[tuple[str, str]]
SliceKey: TypeAlias = tuple[str, int]
"""A track and the number of its slice."""


@dataclass(frozen=True, slots=True)
class Opened:
    """A slice as it goes on to the worker that stitches."""

    events: EventBatch
    """Those of its beginning."""
    beginning: Beginning
    last: MonitorState | None
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
        monitor, recogniser = self.search.monitor(), self.search.recogniser()
        for track, number in sorted(bucket.slices):
            parts, before = bucket.slices[track, number], bucket.events_before(track, number)
            (events,) = put_together(parts, self.search.words, {}, most=bucket.sizes[track, number])
            yield from self._slice(monitor, recogniser, events, before, (track, number), opened)
            counts[EVENTS, ""] += len(events)
        counts.update(recogniser.matches)

    def _slice(
        self,
        monitor: Monitor,
        recogniser: PartitionRecogniser,
        events: EventBatch,
        before: int,
        key: SliceKey,
        opened: dict[SliceKey, Opened],
    ) -> Iterator[pa.RecordBatch]:
        """The matches after the beginning of a slice, which is put among those opened."""
        beginning = beginning_of(monitor, events)
        end, length = beginning.events, len(events)
        recogniser.take_up(key[0], state_after(beginning, before), _place(events, end))
        if end < length:
            for part in events.slice(end, length).in_slices(ROWS_PER_CALL):
                yield from recogniser.advance(part)
        last = recogniser.state if end < length else None
        opened[key] = Opened(events.slice(0, end), beginning, last, _place(events, length))


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
        monitor, recogniser = self.search.monitor(), self.search.recogniser()
        (patterns,) = (part.patterns for part in monitor.recognisers)  # type: ignore[attr-defined]
        last, state, place = None, monitor.fresh(1), UNKNOWN_PLACE
        for track, number in sorted(slices):
            if track != last:
                last, state, place = track, monitor.fresh(1), UNKNOWN_PLACE
            if track in unsettled:
                continue
            slice_ = slices[track, number]
            stitched = stitch(monitor, slice_.events, slice_.beginning, state)
            if slice_.last is not None and not stitched.settled:
                unsettled.append(track)
            recogniser.take_up(track, state, place)
            yield from recogniser.rows(stitched.matches, patterns, slice_.events)
            state, place = slice_.last or stitched.after, slice_.place
        counts.update(recogniser.matches)


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
        is_summary = batch.column("times").is_null().to_pylist()
        for place, number in enumerate(batch.column("slice").to_pylist()):
            row = batch.slice(place, 1)
            if number == NO_SLICE:
                bucket.whole.append(row)
                continue
            key = batch.column("tracks")[place].as_py()[0], number  # a row of a slice is of one track
            if is_summary[place]:
                bucket.sizes[key] += batch.column("sizes")[place].as_py()[0]
            else:
                bucket.slices.setdefault(key, []).append(row)
    return bucket


def _place(events: EventBatch, end: int) -> Places:
    """Where the last event before place `end` was."""
    places = events.places
    return Places(places.lon[end - 1 : end], places.lat[end - 1 : end]) if places else UNKNOWN_PLACE


def _row(track: str | None, number: int, content: object) -> pa.RecordBatch:
    row = {"track": track, "slice": number, "content": pickle.dumps(content, protocol=5)}
    return pa.RecordBatch.from_pylist([row], schema=SPECULATED)
