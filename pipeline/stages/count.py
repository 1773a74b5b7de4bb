"""Counting as a stage: whole tracks to workers, one small row per pattern and partition back.

Counts are additive, so the partitions are merged on the driver, whatever their number; events never go there.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import pyarrow as pa

from models.counts import Counts, counts_from_bytes, counts_to_bytes, merge
from patterns.compiler import CompiledPattern
from patterns.recognition.tables import shared_conditions
from pipeline.stages.recognition_line import EventRows
from pipeline.stages.symbols import PatternCounter, WholeTracks
from pipeline.stages.track_walk import Walked, walk_tracks

COUNTED = pa.schema([("pattern", pa.string()), ("counts", pa.binary())])
COUNTED_DDL = "pattern string, counts binary"


@dataclass(frozen=True, slots=True)
class BeginCounting:
    """Makes the walk that counts these patterns."""

    plain: tuple[CompiledPattern, ...]
    families: tuple[tuple[CompiledPattern, ...], ...]
    max_order: int

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
        self._tracks = WholeTracks()
        self._counts: dict[str, Counts] = {}

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
            contents = [counts_to_bytes(found) for found in self._counts.values()]
            yield pa.RecordBatch.from_pydict({"pattern": list(self._counts), "counts": contents}, schema=COUNTED)

    def _count(self, rows: EventRows) -> None:
        for counter in self._plain:
            self._add(counter.pattern.name, counter.count(rows))
        for layer, counters in enumerate(self._families):
            for counter in counters:
                self._add(counter.pattern.name, counter.count_family(rows, rows.families[layer]))

    def _add(self, name: str, found: Counts) -> None:
        self._counts[name] = merge([self._counts[name], found]) if name in self._counts else found


def count_patterns(walked: Walked, max_order: int = 8) -> dict[str, Counts]:
    """The counts of each pattern over all events, by the pattern's name; none of a pattern without events."""
    begin = BeginCounting(walked.plain, tuple(group.patterns for group in walked.families), max_order)
    found: dict[str, list[Counts]] = {}
    for row in walk_tracks(walked, begin, COUNTED_DDL).collect():
        found.setdefault(row["pattern"], []).append(counts_from_bytes(bytes(row["counts"]), row["pattern"]))
    return {name: merge(parts) for name, parts in found.items()}
