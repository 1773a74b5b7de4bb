"""What runs in a Python worker on rows that Spark has sorted: Arrow batches of one partition in, matches out.

A row is an event, or (for pattern families) says that the event before it is near a feature of a layer.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from foresail.patterns.compiler import CompiledPattern
from foresail.patterns.recognition.families import Near
from foresail.pipeline.batch.recognition_line import EventRows, FamilyRows, Form, Line
from foresail.pipeline.batch.tally import Tally
from foresail.pipeline.results.match_batch import Places, found_batch

NO_LAYER = -1


@dataclass(frozen=True, slots=True)
class Partition:
    """The patterns that a worker runs: plain ones, and families in groups of one layer each."""

    plain: tuple[CompiledPattern, ...]
    families: tuple[tuple[CompiledPattern, ...], ...] = ()
    tally: Tally | None = None
    form: Form = found_batch
    counts_events: bool = True
    updates: bool = True

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """The matches of one partition, whose rows are sorted by track and time."""
        line, rows = Line(self.plain, self.families, self.form, self.updates), SortedRows(len(self.families))
        for batch in whole_events(batches) if self.families else batches:
            if batch.num_rows:
                yield from line.advance(rows.events(batch))
        if self.tally is not None:
            self.tally.add(line.counts if self.counts_events else line.matches)


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


class SortedRows:
    """Arrow batches as events; features get numbers in the order in which they are met."""

    def __init__(self, layers: int) -> None:
        self._features: list[dict[str, int]] = [{} for _ in range(layers)]

    def events(self, rows: pa.RecordBatch) -> EventRows:
        """The events of a batch, each with the rows of its near features."""
        layer = rows.column("layer").to_numpy() if self._features else None
        events = rows if layer is None else rows.filter(pa.array(layer == NO_LAYER))
        tracks, first_of = track_starts(events.column("track"))
        families = (
            () if layer is None else tuple(self._family(n, rows, layer, events) for n in range(len(self._features)))
        )
        return EventRows(
            tracks, first_of, events.column("time_us").to_numpy(), words_of(events, "word"), families, places_of(events)
        )

    def _family(self, n: int, rows: pa.RecordBatch, layer: NDArray[np.int32], events: pa.RecordBatch) -> FamilyRows:
        event_of = np.cumsum(layer == NO_LAYER) - 1
        mine = layer == n
        near = rows.filter(pa.array(mine))
        counts = np.bincount(event_of[mine], minlength=len(events))
        names = near.column("feature").dictionary_encode()
        known = self._features[n]
        numbers = np.array([known.setdefault(name.as_py(), len(known)) for name in names.dictionary], dtype=np.int32)
        feature = numbers[names.indices.to_numpy()] if len(near) else np.empty(0, dtype=np.int32)
        at = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
        words = f"family_{n}"
        return FamilyRows(words_of(events, words), Near(at, feature, words_of(near, words)), list(known))


def track_starts(track: pa.Array) -> tuple[pa.Array, NDArray[np.int64]]:
    """The names of the tracks of a batch and where each begins (and the end)."""
    changes = pc.not_equal(track[1:], track[:-1]).to_numpy(zero_copy_only=False)
    first = np.concatenate([[0], np.flatnonzero(changes) + 1])
    return track.take(pa.array(first)), np.append(first, len(track)).astype(np.int64)


def words_of(rows: pa.RecordBatch, name: str) -> NDArray[np.int64]:
    """The columns `name_0`, `name_1` and so on as one matrix."""
    count = sum(column.startswith(f"{name}_") for column in rows.schema.names)
    columns = [rows.column(f"{name}_{n}").to_numpy() for n in range(count)]
    return columns[0].reshape(-1, 1) if count == 1 else np.ascontiguousarray(np.column_stack(columns))


def places_of(rows: pa.RecordBatch) -> Places | None:
    """Where the events were, if the rows say so."""
    if "lon" not in rows.schema.names:
        return None
    return Places(*(rows.column(axis).to_numpy(zero_copy_only=False) for axis in ("lon", "lat")))
