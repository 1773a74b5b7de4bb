"""Patterns fitted to the events of one frame, ready to run in this process."""

from collections.abc import Mapping
from dataclasses import dataclass

from foresail.geo.errors import GeoError
from foresail.patterns.catalog.loader import Catalog
from foresail.patterns.conditions import Attribute, AttributeType
from foresail.pipeline.conditions.arrow import attribute_type
from foresail.pipeline.errors import InputError
from foresail.pipeline.fitting import OF_THE_API, Fitting, WaysOut, attributes_read_by, fit_patterns
from foresail.pipeline.local.frames import whole
from foresail.pipeline.local.layers import LayersAtHand, no_layers
from foresail.pipeline.local.runner import Sought
from foresail.pipeline.local.sorted_events import MINUTES, TIME, TRACK, SortedEvents


@dataclass(frozen=True, slots=True)
class Prepared:
    """What is looked for in some events, and what is not, with the reason."""

    sought: Sought
    fitting: Fitting


def prepare_search(
    catalog: Catalog,
    events: SortedEvents,
    layers: LayersAtHand | None = None,
    skip_unfit: bool = False,
    updates: bool = True,
    ways_out: WaysOut = OF_THE_API,
) -> Prepared:
    """The patterns of a catalog for these events; one that they do not fit is an error unless it is skipped."""
    at_hand = layers or no_layers()
    fitting = fit_patterns(
        catalog, attribute_types(catalog, events), events.columns, at_hand.by_name, skip_unfit, ways_out
    )
    if not fitting.families:
        return Prepared(Sought(fitting.plain, updates=updates), fitting)
    from foresail.pipeline.local.near_layers import near_layers  # noqa: PLC0415 - layers are slow to import

    try:
        groups = near_layers(fitting.families, at_hand.by_name)
    except GeoError as error:
        raise InputError(str(error)) from error
    families = {layer.name: patterns for patterns, layer in groups}
    return Prepared(Sought(fitting.plain, families, tuple(layer for _, layer in groups), updates), fitting)


def attribute_types(
    catalog: Catalog, events: SortedEvents, features: bool = False, every: bool = False
) -> Mapping[str, AttributeType]:
    """The types of all attributes; columns that nothing reads are named, but not looked at.

    With `features` also of what models read beside the pattern: with trees among them, or `every`, of all columns.
    """
    known: dict[str, AttributeType] = dict.fromkeys(events.columns, AttributeType.STRING)
    known |= {TRACK: AttributeType.STRING, TIME: AttributeType.TIMESTAMP}
    if every or (features and any(entry.forecast and entry.forecast.model != "chain" for entry in catalog)):
        known |= _all_types(events)
    for entry in catalog:
        own = entry.for_each.as_ if entry.for_each else None
        learned = map(_named, entry.learn.attributes) if features and entry.learn else ()
        for attribute in (*attributes_read_by(entry, features), *learned):
            key = attribute.key
            if attribute.owner is not None and (attribute.owner == own or attribute.owner not in events.columns):
                continue
            if key == MINUTES and key not in events.columns:
                known[key] = AttributeType.NUMBER
            elif key not in (TRACK, TIME) and (key in events.columns or attribute.owner is not None):
                known[key] = events.column(key).type
    return known


def _all_types(events: SortedEvents) -> dict[str, AttributeType]:
    """The types of the columns that conditions can read."""
    found = {}
    for name in events.columns:
        if name in (TRACK, TIME):
            continue
        kind = attribute_type(whole(events.frame.column(name)).type)
        found[name] = AttributeType.TIMESTAMP if kind is None else kind
    return found


def _named(key: str) -> Attribute:
    owner, dot, name = key.rpartition(".")
    return Attribute(name, owner if dot else None)
