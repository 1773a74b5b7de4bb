"""What runs in a Python worker on rows that Spark has sorted: Arrow batches of one partition in, matches out.

A row is an event, or (for pattern families) says that the event before it is near a feature of a layer.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from foresail.models.inputs.columns import InputColumn
from foresail.patterns.compiler import CompiledPattern
from foresail.patterns.recognition.events import LAT, LON, EventBatch, LayerEvents, Near
from foresail.patterns.recognition.register_recogniser import kept_columns
from foresail.pipeline.batch.partition import LayerPatterns, MatchForm, PartitionRecogniser, monitor_of
from foresail.pipeline.batch.tally import Tally
from foresail.pipeline.conditions.arrow import array_column
from foresail.pipeline.results.match_batch import found_batch

NO_LAYER = -1
VALUE = "value"
"""How the columns are called, with a number, that patterns with registers compare."""
INPUT = "input_"
"""What the columns that trees read are called, with a number."""


@dataclass(frozen=True, slots=True)
class Partition:
    """The patterns that a worker runs: plain ones, and families over layers."""

    plain: tuple[CompiledPattern, ...]
    families: LayerPatterns = field(default_factory=dict)
    tally: Tally | None = None
    form: MatchForm = found_batch
    counts_events: bool = True
    updates: bool = True

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """The matches of one partition, whose rows are sorted by track and time."""
        recogniser = PartitionRecogniser(monitor_of(self.plain, self.families, self.updates), self.form)
        rows = SortedRows(tuple(self.families), [column.name for column in kept_columns(self.plain)])
        for batch in whole_events(batches) if self.families else batches:
            if batch.num_rows:
                yield from recogniser.advance(rows.events(batch))
        if self.tally is not None:
            self.tally.add(recogniser.counts if self.counts_events else recogniser.matches)


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

    def __init__(self, layers: Sequence[str], kept: Sequence[str] = (), inputs: Sequence[InputColumn] = ()) -> None:
        self._inputs = tuple(inputs)
        self._features: dict[str, dict[str, int]] = {layer: {} for layer in layers}
        self._kept = tuple(kept)

    def events(self, rows: pa.RecordBatch) -> EventBatch:
        """The events of a batch, each with the rows of its near features."""
        layer = rows.column("layer").to_numpy() if self._features else None
        events = rows if layer is None else rows.filter(pa.array(layer == NO_LAYER))
        tracks, first_of = track_starts(events.column("track"))
        layers = {}
        if layer is not None:
            layers = {name: self._family(n, name, rows, layer, events) for n, name in enumerate(self._features)}
        times = events.column("time_us").to_numpy()
        values = {name: events.column(f"{VALUE}_{n}").to_numpy() for n, name in enumerate(self._kept)}
        values |= {
            column.key: column.numbers(array_column(events.column(f"{INPUT}{n}"), column.name))
            for n, column in enumerate(self._inputs)
        }
        return EventBatch(words_of(events, "word"), times, first_of, tracks, values | places_of(events), layers)

    def _family(
        self, n: int, name: str, rows: pa.RecordBatch, layer: NDArray[np.int32], events: pa.RecordBatch
    ) -> LayerEvents:
        event_of = np.cumsum(layer == NO_LAYER) - 1
        mine = layer == n
        near = rows.filter(pa.array(mine))
        counts = np.bincount(event_of[mine], minlength=len(events))
        names = near.column("feature").dictionary_encode()
        known = self._features[name]
        numbers = np.array([known.setdefault(held.as_py(), len(known)) for held in names.dictionary], dtype=np.int32)
        feature = numbers[names.indices.to_numpy()] if len(near) else np.empty(0, dtype=np.int32)
        at = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
        words = f"family_{n}"
        return LayerEvents(words_of(events, words), Near(at, feature, words_of(near, words)), list(known))


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


def places_of(rows: pa.RecordBatch) -> dict[str, NDArray[np.float64]]:
    """Where the events were, if the rows say so."""
    if LON not in rows.schema.names:
        return {}
    return {axis: rows.column(axis).to_numpy(zero_copy_only=False) for axis in (LON, LAT)}
