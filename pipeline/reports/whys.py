"""Of each pattern of a page one track event by event: a match of it, or where it came nearest."""

from collections.abc import Mapping, Sequence
from typing import Protocol

import numpy as np
import pyarrow as pa

from foresail.pipeline.local.asking import feature_of, track_place
from foresail.pipeline.local.explanation import Explanation, explain
from foresail.pipeline.local.frames import ArrowFrame
from foresail.pipeline.local.sorted_events import Named, SortedEvents, sort_events
from foresail.pipeline.reports.found import Match
from foresail.pipeline.reports.match_events import Searched
from foresail.pipeline.reports.near_misses import Sought

MOST_EVENTS = 20_000
"""A longer track is not told event by event: each event is stepped in plain Python."""


class _Tracks(Protocol):
    def lengths(self, tracks: Sequence[str]) -> dict[str, int]: ...

    def events_of(self, tracks: Sequence[str], searched: Sequence[Searched]) -> pa.Table: ...


def read_whys(
    reading: _Tracks, searched: Mapping[str, Searched], matches: Sequence[Match], sought: Mapping[str, Sought]
) -> dict[str, Explanation]:
    """By pattern, the track that is told: the shortest on which it was found, else where it came nearest."""
    asked: dict[str, list[tuple[str, str | None]]] = {
        name: [(near.track, None) for near in held.nearest] for name, held in sought.items()
    }
    for match in matches:
        asked.setdefault(match.pattern, []).append((match.track, match.instance))
    lengths = reading.lengths(sorted({track for some in asked.values() for track, _ in some}))
    chosen: dict[str, tuple[str, str | None]] = {}
    for name, some in asked.items():
        short = [one for one in some if lengths.get(one[0], MOST_EVENTS + 1) <= MOST_EVENTS]
        if short and name in searched:
            chosen[name] = min(short, key=lambda one: (lengths[one[0]], one[0], one[1] or ""))
    if not chosen:
        return {}
    table = reading.events_of(sorted({track for track, _ in chosen.values()}), [searched[name] for name in chosen])
    events = sort_events(ArrowFrame(table), Named())
    return {name: _explained(searched[name], events, *chosen[name]) for name in searched if name in chosen}


def _explained(pattern: Searched, events: SortedEvents, track: str, instance: str | None) -> Explanation:
    place = track_place(events, track)
    if pattern.entry.for_each is None:
        return explain(pattern.entry, pattern.compiled, events, place)
    if pattern.layer is None:
        count = int(events.first_of[place + 1] - events.first_of[place])
        return explain(pattern.entry, pattern.compiled, events, place, instance, np.full(count, np.inf))
    name, metres = feature_of(events, place, pattern.layer, instance)
    return explain(pattern.entry, pattern.compiled, events, place, name, metres)
