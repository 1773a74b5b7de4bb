"""The kernels over events in this process: conditions in NumPy, recognisers, rows of matches as workers write them.

This file alone knows the carriers and recognisers below it.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa

from foresail.models.inputs.columns import InputColumn
from foresail.patterns.compiler import CompiledPattern
from foresail.patterns.conditions.packing import Packer
from foresail.patterns.conditions.relations import Column, value_columns
from foresail.patterns.conditions.syntax import Condition
from foresail.patterns.conditions.text import attributes_of
from foresail.patterns.recognition.events import LAT, LON, EventBatch, Places
from foresail.patterns.recognition.register_recogniser import kept_columns
from foresail.patterns.recognition.tables import shared_conditions
from foresail.pipeline.batch.parquet_reader import NearLayer, near_events
from foresail.pipeline.batch.partition import LayerPatterns, PartitionRecogniser, monitor_of
from foresail.pipeline.local.sorted_events import SortedEvents
from foresail.pipeline.results.match_table import match_batch, match_schema

EVENTS_PER_CALL = 250_000
"""Few enough that the columns of a call stay in the processor's cache, and memory stays bounded."""


@dataclass(frozen=True, slots=True)
class Sought:
    """What is looked for: plain patterns, and families with the layer of each group."""

    plain: tuple[CompiledPattern, ...]
    families: LayerPatterns = field(default_factory=dict)
    layers: tuple[NearLayer, ...] = ()
    updates: bool = True

    @property
    def patterns(self) -> tuple[CompiledPattern, ...]:
        """All patterns, plain ones first."""
        return (*self.plain, *(pattern for group in self.families.values() for pattern in group))


class Packing:
    """The condition words of events, what trees read of them, and which features of layers they are near."""

    def __init__(
        self,
        conditions: tuple[Condition, ...],
        layers: tuple[NearLayer, ...],
        kept: tuple[Column, ...] = (),
        inputs: tuple[InputColumn, ...] = (),
    ) -> None:
        self._inputs = inputs
        self._plain = Packer(conditions)
        self._kept = kept
        self._layers = [(layer, Packer(layer.conditions)) for layer in layers]
        owners = {owner for layer in layers for owner in layer.owners}
        every = [*conditions, *(condition for layer in layers for condition in layer.conditions)]
        read = (a.key for condition in every for a in attributes_of(condition) if a.owner not in owners)
        self._attributes = tuple(dict.fromkeys([*read, *(a.key for some in kept for a in attributes_of(some.value))]))

    def batch(self, events: SortedEvents, some: slice, places: bool) -> EventBatch:
        """Some events as recognisers read them."""
        count = some.stop - some.start
        columns = {name: events.taken(name, some) for name in self._attributes}
        where = Places(*events.places(some)) if places or self._layers else None
        low = int(np.searchsorted(events.first_of, some.start, side="right")) - 1
        high = int(np.searchsorted(events.first_of, some.stop, side="left"))
        return EventBatch(
            self._plain.words(columns, count),
            events.times[some],
            np.clip(events.first_of[low : high + 1], some.start, some.stop) - some.start,
            events.tracks.slice(low, high - low),
            {
                **value_columns(self._kept, columns, count),
                **({LON: where.lon, LAT: where.lat} if where and places else {}),
                **{column.key: column.numbers(events.taken(column.name, some)) for column in self._inputs},
            },
            {layer.name: near_events(layer, packer, columns, where, count) for layer, packer in self._layers},
        )


def packing_of(sought: Sought) -> Packing:
    """What is evaluated for these patterns."""
    return Packing(shared_conditions(sought.plain), sought.layers, kept_columns(sought.plain))


def find_matches(sought: Sought, events: SortedEvents, places: bool) -> pa.Table:
    """The matches in these events, with the columns and ids of every other way to find them."""
    return pa.Table.from_batches(list(find_batches(sought, events, places)), match_schema(places))


def find_batches(
    sought: Sought, events: SortedEvents, places: bool, counts: Counter[tuple[str, str]] | None = None
) -> Iterator[pa.RecordBatch]:
    """The same some at a time; at the end `counts` has what was counted."""
    recogniser = PartitionRecogniser(monitor_of(sought.plain, sought.families, sought.updates), match_batch)
    packing = packing_of(sought)
    for some in events.slices(EVENTS_PER_CALL):
        yield from recogniser.advance(packing.batch(events, some, places))
    if counts is not None:
        counts.update(recogniser.counts)
