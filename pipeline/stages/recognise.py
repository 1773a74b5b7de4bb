"""Recognition as a stage: conditions in the JVM, events sorted by track, then one kernel call per Arrow batch.

Only track, time, place and the words of condition bits cross into Python; only matches return. Every decision is made
by `foresail.patterns.recognition`.
"""

from dataclasses import dataclass

from pyspark.sql import DataFrame

from foresail.models.inputs.columns import InputColumn
from foresail.patterns.compiler import CompiledPattern
from foresail.pipeline.batch.kernel_columns import FamilyGroup, has_places, kernel_columns
from foresail.pipeline.batch.sorted_rows import Partition
from foresail.pipeline.batch.tally import Tally
from foresail.pipeline.results.match_batch import FOUND_DDL
from foresail.pipeline.results.match_columns import match_columns

__all__ = ["FamilyGroup", "Recognise"]


@dataclass(frozen=True, slots=True)
class Recognise:
    """Events to matches, by track."""

    plain: tuple[CompiledPattern, ...]
    families: tuple[FamilyGroup, ...] = ()
    tally: Tally | None = None
    """Told how many events were read and what was found in them."""
    partitions: int | None = None
    """Into how many partitions tracks are spread; as many as Spark's own setting says when not given."""
    whole_tracks: bool = False
    """Each partition of the events holds whole tracks already: nothing is shuffled."""
    inputs: tuple[InputColumn, ...] = ()
    """What trees of models read of an event."""

    @property
    def patterns(self) -> tuple[CompiledPattern, ...]:
        """All patterns, plain ones first."""
        return (*self.plain, *(pattern for group in self.families for pattern in group.patterns))

    @property
    def by_layer(self) -> dict[str, tuple[CompiledPattern, ...]]:
        """The families by the name of their layer."""
        return {group.name: group.patterns for group in self.families}

    def __call__(self, events: DataFrame) -> DataFrame:
        """A row per match, per counted detection, or per change of an episode."""
        worker = Partition(self.plain, self.by_layer, self.tally)
        found = self.sorted_rows(events).mapInArrow(worker, FOUND_DDL)
        return found.select(*match_columns(has_places(events)))

    def sorted_rows(self, events: DataFrame) -> DataFrame:
        """What crosses into Python, each track in one partition and in order."""
        rows = kernel_columns(events, self.plain, self.families, self.inputs)
        order = ["track", "time_us", "offset", *(["layer", "feature"] if self.families else [])]
        # A family's near rows come from another branch of the plan than its events, so they meet only by a shuffle.
        if not self.whole_tracks or self.families:
            rows = rows.repartition(self.partitions or _usual_partitions(events), "track")
        return rows.sortWithinPartitions(*order).drop("offset")


def _usual_partitions(events: DataFrame) -> int:
    """Spark's setting, as a number: without one, adaptive execution would make fewer tasks than there are cores."""
    return int(events.sparkSession.conf.get("spark.sql.shuffle.partitions") or 2)
