"""Counting as a stage: whole tracks to workers, one small row per pattern and partition back.

Counts are additive, so the partitions are merged on the driver, whatever their number; events never go there.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import pyarrow as pa

from models.counts import Counts, GroupedCounts, TrackGroups, grouped_from_bytes, grouped_to_bytes, merge_grouped
from patterns.compiler import CompiledPattern
from patterns.recognition.tables import shared_conditions
from pipeline.stages.recognition_line import EventRows
from pipeline.stages.symbols import PatternCounter, WholeTracks
from pipeline.stages.track_groups import Membership, of_tracks
from pipeline.stages.track_walk import Walked, walk_tracks

COUNTED = pa.schema([("pattern", pa.string()), ("counts", pa.binary())])
COUNTED_DDL = "pattern string, counts binary"


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

    def advance(self, rows: EventRows) -> Iterator[pa.RecordBatch]:
        """Nothing yet: what is counted is told at the end."""
        for whole in self._tracks.complete(rows):
            self._count(whole)
        yield from ()

    def finish(self) -> Iterator[pa.RecordBatch]:
        """One row per pattern, if there were events at all."""
        for whole in self._tracks.rest():
            self._count(whole)
        if self._counts:
            contents = [grouped_to_bytes(found) for found in self._counts.values()]
            yield pa.RecordBatch.from_pydict({"pattern": list(self._counts), "counts": contents}, schema=COUNTED)

    def _count(self, rows: EventRows) -> None:
        for counter in self._plain:
            self._add(counter, counter.count(rows, self._groups_of(counter, rows)))
        for layer, counters in enumerate(self._families):
            for counter in counters:
                groups = self._groups_of(counter, rows)
                self._add(counter, counter.count_family(rows, rows.families[layer], groups))

    def _groups_of(self, counter: PatternCounter, rows: EventRows) -> TrackGroups:
        return of_tracks(self._groups, counter.pattern.name, rows.tracks)

    def _add(self, counter: PatternCounter, found: GroupedCounts) -> None:
        name = counter.pattern.name
        self._counts[name] = merge_grouped([self._counts[name], found]) if name in self._counts else found


def count_patterns(walked: Walked, max_order: int = 8) -> dict[str, Counts]:
    """The counts of each pattern over all events, by the pattern's name; none of a pattern without events."""
    return {name: counts.together() for name, counts in count_by_group(walked, max_order, {}).items()}


def count_by_group(walked: Walked, max_order: int, groups: Mapping[str, Membership]) -> dict[str, GroupedCounts]:
    """The counts of each pattern; of those in `groups`, by name, each group of tracks apart."""
    begin = BeginCounting(walked.plain, tuple(group.patterns for group in walked.families), max_order, groups)
    found: dict[str, list[GroupedCounts]] = {}
    for row in walk_tracks(walked, begin, COUNTED_DDL).collect():
        found.setdefault(row["pattern"], []).append(grouped_from_bytes(bytes(row["counts"]), row["pattern"]))
    return {name: merge_grouped(parts) for name, parts in found.items()}
