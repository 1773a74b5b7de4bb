"""What runs in a Python worker: Arrow batches of one partition in, matches out, the state of the last track carried.

A row is an event, or (for pattern families) says that the event before it is near a feature of a layer.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray
from pyspark import Accumulator

from patterns.compiler import CompiledPattern
from patterns.recognition.families import FamilyRecogniser, Near
from patterns.recognition.family_kernel import FamilyStates
from patterns.recognition.recogniser import Batch, Recogniser, RecogniserState
from pipeline.stages.found import found_batch

NO_LAYER = -1


@dataclass(frozen=True, slots=True)
class Partition:
    """The patterns that a worker runs: plain ones, and families in groups of one layer each."""

    plain: tuple[CompiledPattern, ...]
    families: tuple[tuple[CompiledPattern, ...], ...] = ()
    counter: Accumulator[int] | None = None

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """The matches of one partition, whose rows are sorted by track and time."""
        line = _Line(self)
        for batch in whole_events(batches) if self.families else batches:
            if batch.num_rows:
                yield from line.advance(batch)
        if self.counter is not None:
            self.counter.add(line.events)


def whole_events(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """The same rows, cut so that the rows of near features come in the batch of their event."""
    held: pa.RecordBatch | None = None
    for batch in batches:
        rows = batch if held is None else pa.concat_batches([held, batch])
        events = np.flatnonzero(rows.column("layer").to_numpy() == NO_LAYER)
        cut = int(events[-1]) if len(events) else 0
        yield rows.slice(0, cut)
        held = rows.slice(cut)
    if held is not None:
        yield held


class _Line:
    """The recognisers of one partition and what they remember of the track that was read last."""

    def __init__(self, partition: Partition) -> None:
        self._plain = Recogniser(partition.plain) if partition.plain else None
        self._families = [FamilyRecogniser(group) for group in partition.families]
        self._features: list[dict[str, int]] = [{} for _ in partition.families]
        self.events = 0
        self._track: str | None = None
        self._state: RecogniserState | None = None
        self._family_states: list[FamilyStates] = []

    def advance(self, rows: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
        layer = rows.column("layer").to_numpy() if self._families else None
        events = rows if layer is None else rows.filter(pa.array(layer == NO_LAYER))
        tracks, times, first_of = _tracks(events)
        self.events += len(times)
        slots = np.full(len(first_of) - 1, -1, dtype=np.int64)
        if tracks[0].as_py() == self._track:
            slots[0] = 0
        self._track = tracks[-1].as_py()
        track = events.column("track")
        if self._plain:
            yield from self._advance_plain(events, times, first_of, slots, track)
        for n, _ in enumerate(self._families):
            yield from self._advance_family(n, rows, layer, events, times, first_of, slots, track)

    def _advance_plain(
        self,
        events: pa.RecordBatch,
        times: NDArray[np.int64],
        first_of: NDArray[np.int64],
        slots: NDArray[np.int64],
        track: pa.Array,
    ) -> Iterator[pa.RecordBatch]:
        assert self._plain is not None
        before = self._plain.fresh(1) if self._state is None else self._state
        batch = Batch(_words(events, "word", self._plain.words), times, first_of)
        matches, after = self._plain.advance(batch, self._plain.rearranged(before, slots))
        self._state = self._plain.rearranged(after, np.array([len(slots) - 1]))
        if len(matches):
            yield found_batch(matches, self._plain.patterns, track)

    def _advance_family(
        self,
        n: int,
        rows: pa.RecordBatch,
        layer: NDArray[np.int32] | None,
        events: pa.RecordBatch,
        times: NDArray[np.int64],
        first_of: NDArray[np.int64],
        slots: NDArray[np.int64],
        track: pa.Array,
    ) -> Iterator[pa.RecordBatch]:
        assert layer is not None
        family = self._families[n]
        if len(self._family_states) <= n:
            self._family_states.append(family.fresh(1))
        words = f"family_{n}"
        batch = Batch(_words(events, words, family.words), times, first_of)
        near = self._near(n, rows, layer, words, family.words)
        state = family.rearranged(self._family_states[n], slots)
        matches, after = family.advance(batch, near, state)
        self._family_states[n] = family.rearranged(after, np.array([len(slots) - 1]))
        if len(matches):
            yield found_batch(matches, family.patterns, track, self._features[n])

    def _near(self, n: int, rows: pa.RecordBatch, layer: NDArray[np.int32], words: str, count: int) -> Near:
        event_of = np.cumsum(layer == NO_LAYER) - 1
        mine = layer == n
        near = rows.filter(pa.array(mine))
        counts = np.bincount(event_of[mine], minlength=int((layer == NO_LAYER).sum()))
        names = near.column("feature").dictionary_encode()
        known = self._features[n]
        numbers = np.array([known.setdefault(name.as_py(), len(known)) for name in names.dictionary], dtype=np.int32)
        feature = numbers[names.indices.to_numpy()] if len(near) else np.empty(0, dtype=np.int32)
        return Near(np.concatenate([[0], np.cumsum(counts)]).astype(np.int64), feature, _words(near, words, count))


def _tracks(events: pa.RecordBatch) -> tuple[pa.Array, NDArray[np.int64], NDArray[np.int64]]:
    """The tracks of a batch, the times of its events, and where each track begins (and the end)."""
    track, times = events.column("track"), events.column("time_us").to_numpy()
    changes = pc.not_equal(track[1:], track[:-1]).to_numpy(zero_copy_only=False)
    first = np.concatenate([[0], np.flatnonzero(changes) + 1])
    return track.take(pa.array(first)), times, np.append(first, len(times)).astype(np.int64)


def _words(rows: pa.RecordBatch, name: str, count: int) -> NDArray[np.int64]:
    columns = [rows.column(f"{name}_{n}").to_numpy() for n in range(count)]
    return columns[0].reshape(-1, 1) if count == 1 else np.ascontiguousarray(np.column_stack(columns))
