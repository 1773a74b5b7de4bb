"""Forecasts for events in this process: the models of a store, asked by the walk that Spark's workers make."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pyarrow as pa

from foresail.models.model import Emission
from foresail.models.store import ModelStore
from foresail.patterns.catalog.loader import Catalog
from foresail.patterns.conditions import AttributeType
from foresail.patterns.recognition.tables import shared_conditions
from foresail.pipeline.batch.forecast_worker import BeginForecasting
from foresail.pipeline.batch.parquet_reader import NearLayer
from foresail.pipeline.batch.tally import Counts
from foresail.pipeline.fitting import OF_THE_API, WaysOut
from foresail.pipeline.local.frame_events import FrameEvents, near_layers_within
from foresail.pipeline.local.layers import LayersAtHand, no_layers
from foresail.pipeline.local.runner import EVENTS_PER_CALL, Packing
from foresail.pipeline.local.search import attribute_types
from foresail.pipeline.local.sorted_events import SortedEvents
from foresail.pipeline.results.forecast_table import FORECAST_ROWS, forecast_rows
from foresail.pipeline.training.forecast_patterns import forecast_patterns, reach_by_layer
from foresail.pipeline.training.serving import (
    Choosing,
    Served,
    begin_forecasting,
    families_of,
    inputs_of,
    models_for,
    plain_of,
    with_known_groups,
)
from foresail.pipeline.training.symbols import Membership

if TYPE_CHECKING:
    from foresail.geo.layers import Layer


def frame_events(
    catalog: Catalog, events: SortedEvents, layers: LayersAtHand | None = None, every: bool = False
) -> FrameEvents:
    """Events as models read them; with `every`, whatever the catalog names, as all kinds of models would."""
    types = attribute_types(catalog, events, features=True, every=every)
    return FrameEvents(events, types, (layers or no_layers()).by_name)


@dataclass(frozen=True, slots=True)
class Asked:
    """The models that are asked about some events, and what a reader should know of the choice."""

    served: tuple[Served, ...]
    begin: BeginForecasting
    layers: tuple[NearLayer, ...]
    skipped: dict[str, str]
    warnings: tuple[str, ...]

    def packing(self) -> Packing:
        """The words and near features that the models read."""
        return Packing(shared_conditions(plain_of(self.served)), self.layers, inputs=inputs_of(self.served))


@dataclass(frozen=True, slots=True)
class EventColumns:
    """What is known of events before any is read: their columns, and the layers that they may be near."""

    columns: Sequence[str]
    types: Mapping[str, AttributeType]
    layers: "Mapping[str, Layer]"
    grouped: Sequence[str] | None = None
    """The attributes by which groups of tracks can be told; all columns where it is not said."""

    @classmethod
    def of(cls, events: FrameEvents) -> "EventColumns":
        """Of a frame."""
        return cls(events.columns, events.types, events.layers)


def ask_models(
    catalog: Catalog,
    known: EventColumns,
    store: ModelStore,
    emission: Emission,
    choosing: Choosing,
    memberships: Callable[[Iterable[str]], Mapping[str, Membership]],
    ways_out: WaysOut = OF_THE_API,
) -> Asked:
    """The models of a store that forecast the patterns of a catalog in events with these columns."""
    patterns, skipped = forecast_patterns(
        catalog, known.columns, known.types, tuple(known.layers), choosing.skip_unfit, ways_out
    )
    found, without = models_for(store, patterns, choosing, known.columns)
    served, warnings = with_known_groups(found, known.columns if known.grouped is None else known.grouped)
    begin = begin_forecasting(served, memberships(s.groups.per for s in served if s.groups), emission)
    reach = reach_by_layer([s.pattern for s in served])
    layers = near_layers_within(known.layers, families_of(served), reach)
    return Asked(tuple(served), begin, layers, {**skipped, **without}, tuple(warnings))


def forecast_batches(asked: Asked, events: SortedEvents, counts: Counts | None = None) -> Iterator[pa.RecordBatch]:
    """The forecasts after these events, some at a time; at the end `counts` has what was counted."""
    walk, packing, places = asked.begin(), asked.packing(), events.has_places
    for some in events.slices(EVENTS_PER_CALL):
        yield from map(forecast_rows, walk.advance(packing.batch(events, some, places)))
    if counts is not None:
        counts.update(walk.counts)


def forecast_events(asked: Asked, events: SortedEvents) -> pa.Table:
    """The forecasts after these events, with the columns and ids of every other way to make them."""
    return pa.Table.from_batches(list(forecast_batches(asked, events, Counter())), FORECAST_ROWS)
