"""Counting whole tracks: a walk over some of them gives one small row per pattern.

Counts are additive, so partitions are merged at the end, whatever their number, and events never go there.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa

from foresail.models.counts import (
    Counts,
    GroupedCounts,
    TrackGroups,
    grouped_from_bytes,
    grouped_to_bytes,
    merge_grouped,
)
from foresail.models.errors import ModelError
from foresail.patterns.compiler import CompiledPattern
from foresail.patterns.recognition.events import EventBatch, LayerEvents
from foresail.patterns.recognition.tables import shared_conditions
from foresail.pipeline.batch.partition import LayerPatterns
from foresail.pipeline.training.symbols import Membership, PatternCounter, WholeTracks, of_tracks

COUNTED = pa.schema([("pattern", pa.string()), ("counts", pa.binary()), ("fault", pa.string())])
COUNTED_DDL = "pattern string, counts binary, fault string"


@dataclass(frozen=True, slots=True)
class BeginCounting:
    """Makes the walk that counts these patterns."""

    plain: tuple[CompiledPattern, ...]
    families: LayerPatterns
    max_order: int
    groups: Mapping[str, Membership] = field(default_factory=dict)
    """For patterns that are counted by group, which track is in which."""

    def __call__(self) -> "CountWalk":
        """A walk that has counted nothing."""
        return CountWalk(self)


class CountWalk:
    """Counts the events of one partition."""

    def __init__(self, wanted: BeginCounting) -> None:
        conditions, order = shared_conditions(wanted.plain), wanted.max_order
        self._plain = [PatternCounter(p, conditions, order) for p in wanted.plain]
        self._families = {
            layer: [PatternCounter(p, shared_conditions(group), order) for p in group]
            for layer, group in wanted.families.items()
        }
        self._groups = wanted.groups
        self._tracks = WholeTracks()
        self._counts: dict[str, GroupedCounts] = {}
        self._faults: dict[str, str] = {}

    def advance(self, events: EventBatch) -> Iterator[pa.RecordBatch]:
        """Nothing yet: what is counted comes at the end."""
        for whole in self._tracks.complete(events):
            self._count(whole)
        yield from ()

    def finish(self) -> Iterator[pa.RecordBatch]:
        """One row per pattern, if there were events at all: its counts, or why it cannot be counted."""
        for whole in self._tracks.rest():
            self._count(whole)
        fine = {name: found for name, found in self._counts.items() if name not in self._faults}
        if fine or self._faults:
            columns = {
                "pattern": [*fine, *self._faults],
                "counts": [*(grouped_to_bytes(found) for found in fine.values()), *([None] * len(self._faults))],
                "fault": [*([None] * len(fine)), *self._faults.values()],
            }
            yield pa.RecordBatch.from_pydict(columns, schema=COUNTED)

    def _count(self, events: EventBatch) -> None:
        for counter in self._plain:
            self._add(counter, events, None)
        for layer, counters in self._families.items():
            for counter in counters:
                self._add(counter, events, events.layers[layer])

    def _groups_of(self, counter: PatternCounter, events: EventBatch) -> TrackGroups:
        return of_tracks(self._groups, counter.pattern.name, events.keys)

    def _add(self, counter: PatternCounter, events: EventBatch, own: LayerEvents | None) -> None:
        """Count one more batch; a pattern that these events do not fit is counted no further, the others are."""
        name = counter.pattern.name
        if name in self._faults:
            return
        groups = self._groups_of(counter, events)
        try:
            found = counter.count(events, groups) if own is None else counter.count_family(events, own, groups)
        except ModelError as error:
            self._faults[name] = str(error)
            return
        self._counts[name] = merge_grouped([self._counts[name], found]) if name in self._counts else found


@dataclass(frozen=True, slots=True)
class Counted:
    """What was counted, by the pattern's name; none of a pattern without events."""

    groups: dict[str, GroupedCounts]
    faults: dict[str, str]
    """Patterns that these events do not fit, with the reason."""

    @property
    def together(self) -> dict[str, Counts]:
        """The counts of all groups of each pattern as one."""
        return {name: counts.together() for name, counts in self.groups.items()}


def merged_counts(rows: Iterable[Mapping[str, Any]]) -> Counted:
    """What the walks of all partitions have counted, as one."""
    parts: dict[str, list[GroupedCounts]] = {}
    faults: dict[str, str] = {}
    for row in rows:
        if row["fault"] is not None:
            faults[row["pattern"]] = row["fault"]
        else:
            parts.setdefault(row["pattern"], []).append(grouped_from_bytes(bytes(row["counts"]), row["pattern"]))
    return Counted({name: merge_grouped(some) for name, some in parts.items() if name not in faults}, faults)
