"""Counting as a stage: conditions in the JVM, whole tracks to workers, one small row per pattern back.

Counts are additive, so the partitions are merged on the driver, whatever their number; events never go there.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import pyarrow as pa
from pyspark.sql import DataFrame

from models.counts import Counts, counts_from_bytes, counts_to_bytes, merge
from patterns.compiler import CompiledPattern
from patterns.recognition.tables import shared_conditions
from pipeline.stages.crossing import FamilyGroup, crossing
from pipeline.stages.recognition_worker import SortedRows, whole_events
from pipeline.stages.symbols import PatternCounter, whole_tracks

COUNTED = pa.schema([("pattern", pa.string()), ("counts", pa.binary())])
COUNTED_DDL = "pattern string, counts binary"


@dataclass(frozen=True, slots=True)
class CountPartition:
    """What runs in a worker: the rows of one partition, sorted, become the counts of each pattern."""

    plain: tuple[CompiledPattern, ...]
    families: tuple[tuple[CompiledPattern, ...], ...]
    max_order: int

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """One row per pattern, if the partition has events at all."""
        read, counters = SortedRows(len(self.families)), self._counters()
        counts: dict[str, Counts] = {}
        for batch in whole_tracks(whole_events(batches) if self.families else batches):
            rows = read.events(batch)
            for layer, counter in counters:
                found = counter.count(rows) if layer is None else counter.count_family(rows, rows.families[layer])
                name = counter.pattern.name
                counts[name] = merge([counts[name], found]) if name in counts else found
        if counts:
            columns = [list(counts), [counts_to_bytes(found) for found in counts.values()]]
            yield pa.RecordBatch.from_arrays(
                [pa.array(c, f.type) for c, f in zip(columns, COUNTED, strict=True)], schema=COUNTED
            )

    def _counters(self) -> list[tuple[int | None, PatternCounter]]:
        conditions = shared_conditions(self.plain)
        plain = [(None, PatternCounter(p, conditions, self.max_order)) for p in self.plain]
        return plain + [
            (layer, PatternCounter(p, shared_conditions(group), self.max_order))
            for layer, group in enumerate(self.families)
            for p in group
        ]


def count_patterns(
    events: DataFrame,
    plain: Sequence[CompiledPattern],
    families: Sequence[FamilyGroup] = (),
    max_order: int = 8,
    partitions: int | None = None,
) -> dict[str, Counts]:
    """The counts of each pattern over all events, by the pattern's name; none of a pattern without events."""
    rows = crossing(events, plain, families)
    order = ["track", "time_us", "offset", *(["layer", "feature"] if families else [])]
    usual = int(events.sparkSession.conf.get("spark.sql.shuffle.partitions") or 2)
    by_track = rows.repartition(partitions or usual, "track").sortWithinPartitions(*order).drop("offset")
    worker = CountPartition(tuple(plain), tuple(group.patterns for group in families), max_order)
    found: dict[str, list[Counts]] = {}
    for row in by_track.mapInArrow(worker, COUNTED_DDL).collect():
        found.setdefault(row["pattern"], []).append(counts_from_bytes(bytes(row["counts"]), row["pattern"]))
    return {name: merge(parts) for name, parts in found.items()}
