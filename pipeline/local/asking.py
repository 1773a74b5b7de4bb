"""Explanations asked for: which patterns, which track of some events, and of a family which feature."""

from collections.abc import Sequence
from difflib import get_close_matches
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from foresail.patterns.catalog.loader import Catalog
from foresail.pipeline.errors import InputError
from foresail.pipeline.fitting import OF_THE_API, WaysOut
from foresail.pipeline.local.explanation import Explanation, explain
from foresail.pipeline.local.layers import LayersAtHand
from foresail.pipeline.local.search import prepare_search
from foresail.pipeline.local.sorted_events import SortedEvents

if TYPE_CHECKING:
    from foresail.geo.layers import Layer


def explain_track(
    catalog: Catalog,
    events: SortedEvents,
    track: str,
    layers: LayersAtHand | None = None,
    instance: str | None = None,
    skip_unfit: bool = False,
    ways_out: WaysOut = OF_THE_API,
) -> tuple[Explanation, ...]:
    """An explanation for each pattern; of a family for the feature `instance`, else for the nearest one."""
    place = track_place(events, track)
    prepared = prepare_search(catalog, events, layers, skip_unfit, ways_out=ways_out)
    found = []
    for entry, pattern in prepared.fitting.patterns:
        if entry.for_each is None:
            found.append(explain(entry, pattern, events, place))
            continue
        assert layers is not None, "a family without its layer does not fit"
        name, metres = feature_of(events, place, layers.by_name[entry.for_each.layer], instance)
        found.append(explain(entry, pattern, events, place, name, metres))
    return tuple(found)


def track_place(events: SortedEvents, track: str) -> int:
    """Where the track of that name is among the tracks of the events."""
    names: list[str] = events.tracks.to_pylist()
    if track in names:
        return names.index(track)
    near = get_close_matches(track, names, n=1)
    hint = f"Did you mean '{near[0]}'? " if near else ""
    some = (
        f"Tracks: {', '.join(sorted(names)[:10])}{', ...' if len(names) > 10 else ''}." if names else "There are none."
    )
    msg = f"events: there is no track '{track}'. {hint}{some}"
    raise InputError(msg)


def feature_of(
    events: SortedEvents, place: int, layer: "Layer", instance: str | None
) -> tuple[str | None, NDArray[np.float64]]:
    """The feature to tell of, and how far each event of the track is from it."""
    from foresail.pipeline.local.near_layers import instance_names  # noqa: PLC0415 - layers are slow to import

    some = slice(int(events.first_of[place]), int(events.first_of[place + 1]))
    index, names = layer.index, instance_names(layer)
    lon, lat = events.places(some)
    row, feature, metres = index.nearby(lon, lat, 1e7)
    if not len(row):
        return None, np.full(len(lon), np.inf)
    wanted = _number_of(names, instance, layer.spec.name) if instance else int(feature[np.argmin(metres)])
    away = np.full(len(lon), np.inf)
    mine = feature == wanted
    away[row[mine]] = metres[mine]
    return names[wanted], away


def _number_of(names: Sequence[str], instance: str, layer: str) -> int:
    if instance in names:
        return list(names).index(instance)
    near = get_close_matches(instance, names, n=1)
    hint = f" Did you mean '{near[0]}'?" if near else ""
    msg = f"layer '{layer}': has no feature '{instance}'.{hint}"
    raise InputError(msg)
