"""Counting as a stage: whole tracks to workers, one small row per pattern and partition back.

Counts are additive, so the partitions are merged on the driver, whatever their number; events never go there.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

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
from foresail.patterns.recognition.tables import shared_conditions
from foresail.pipeline.batch.recognition_line import EventRows, FamilyRows
from foresail.pipeline.batch.track_walk import Walked, walk_tracks
from foresail.pipeline.training.symbols import PatternCounter, WholeTracks
from foresail.pipeline.training.track_groups import Membership, of_tracks

COUNTED = pa.schema([("pattern", pa.string()), ("counts", pa.binary()), ("fault", pa.string())])
COUNTED_DDL = "pattern string, counts binary, fault string"


@dataclass(frozen=True, slots=True)
class BeginCounting:
    """Makes the walk that counts these patterns."""

    plain: tuple[CompiledPattern, ...]
    families: tuple[tuple[CompiledPattern, ...], ...]
    max_order: int
    groups: Mapping[str, Membership] = field(default_factory=dict)
    """For patterns that are counted by group, which track is in which."""

    def __call__(self) -> "CountWalk":
        """A walk that has counted nothing."""
        return CountWalk(self)


class CountWalk:
    """Counts the events of one partition; tells when it has read all."""

    def __init__(self, wanted: BeginCounting) -> None:
        conditions, order = shared_conditions(wanted.plain), wanted.max_order
        self._plain = [PatternCounter(p, conditions, order) for p in wanted.plain]
        self._families = [
            [PatternCounter(p, shared_conditions(group), order) for p in group] for group in wanted.families
        ]
        self._groups = wanted.groups
        self._tracks = WholeTracks()
        self._counts: dict[str, GroupedCounts] = {}
        self._faults: dict[str, str] = {}

    def advance(self, rows: EventRows) -> Iterator[pa.RecordBatch]:
        """Nothing yet: what is counted is told at the end."""
        for whole in self._tracks.complete(rows):
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

    def _count(self, rows: EventRows) -> None:
        for counter in self._plain:
            self._add(counter, rows, None)
        for layer, counters in enumerate(self._families):
            for counter in counters:
                self._add(counter, rows, rows.families[layer])

    def _groups_of(self, counter: PatternCounter, rows: EventRows) -> TrackGroups:
        return of_tracks(self._groups, counter.pattern.name, rows.tracks)

    def _add(self, counter: PatternCounter, rows: EventRows, own: FamilyRows | None) -> None:
        """Count one more batch; a pattern that these events do not fit is counted no further, the others are."""
        name = counter.pattern.name
        if name in self._faults:
            return
        groups = self._groups_of(counter, rows)
        try:
            found = counter.count(rows, groups) if own is None else counter.count_family(rows, own, groups)
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


def count_patterns(walked: Walked, max_order: int = 8, groups: Mapping[str, Membership] | None = None) -> Counted:
    """The counts of each pattern over all events; of those in `groups`, by name, each group of tracks apart."""
    begin = BeginCounting(walked.plain, tuple(group.patterns for group in walked.families), max_order, groups or {})
    parts: dict[str, list[GroupedCounts]] = {}
    faults: dict[str, str] = {}
    for row in walk_tracks(walked, begin, COUNTED_DDL).collect():
        if row["fault"] is not None:
            faults[row["pattern"]] = row["fault"]
        else:
            parts.setdefault(row["pattern"], []).append(grouped_from_bytes(bytes(row["counts"]), row["pattern"]))
    return Counted({name: merge_grouped(some) for name, some in parts.items() if name not in faults}, faults)
