"""Recognition as a stage: conditions in the JVM, events sorted by track, then one kernel call per Arrow batch.

Only track, time and the words of condition bits cross into Python; only matches return. Every decision is made by
`patterns.recognition`.
"""

from dataclasses import dataclass

from pyspark import Accumulator
from pyspark.sql import DataFrame

from patterns.compiler import CompiledPattern
from pipeline.stages.crossing import FamilyGroup, crossing
from pipeline.stages.found import FOUND_DDL
from pipeline.stages.match_columns import match_columns
from pipeline.stages.recognition_worker import Partition

__all__ = ["FamilyGroup", "Recognise"]


@dataclass(frozen=True, slots=True)
class Recognise:
    """Events to matches, by track: the scheme `partition`."""

    plain: tuple[CompiledPattern, ...]
    families: tuple[FamilyGroup, ...] = ()
    counter: Accumulator[int] | None = None
    """Told how many events were read."""

    @property
    def patterns(self) -> tuple[CompiledPattern, ...]:
        """All patterns, plain ones first."""
        return (*self.plain, *(pattern for group in self.families for pattern in group.patterns))

    def __call__(self, events: DataFrame) -> DataFrame:
        """A row per match, per counted detection, or per change of an episode."""
        rows = crossing(events, self.plain, self.families)
        # Without a number of partitions, adaptive execution would merge them into fewer tasks than there are cores.
        partitions = int(events.sparkSession.conf.get("spark.sql.shuffle.partitions") or 2)
        order = ["track", "time_us", "offset", *(["layer", "feature"] if self.families else [])]
        by_track = rows.repartition(partitions, "track").sortWithinPartitions(*order).drop("offset")
        worker = Partition(self.plain, tuple(group.patterns for group in self.families), self.counter)
        return by_track.mapInArrow(worker, FOUND_DDL).select(*match_columns())
