"""How often every stretch of symbols occurs: additive over tracks and over time, so that training is too."""

from foresail.models.counts.counting import DEFAULT_MAX_ORDER, TrackGroups, count, count_groups
from foresail.models.counts.family import count_family_groups
from foresail.models.counts.files import (
    counts_from_bytes,
    counts_to_bytes,
    grouped_from_bytes,
    grouped_to_bytes,
    read_counts,
    write_counts,
)
from foresail.models.counts.grouped import NO_GROUP, GroupedCounts, decay_grouped, merge_grouped
from foresail.models.counts.merging import decay, half_life_factor, merge
from foresail.models.counts.table import Counts, Intervals, Level

__all__ = [
    "DEFAULT_MAX_ORDER",
    "NO_GROUP",
    "Counts",
    "GroupedCounts",
    "Intervals",
    "Level",
    "TrackGroups",
    "count",
    "count_family_groups",
    "count_groups",
    "counts_from_bytes",
    "counts_to_bytes",
    "decay",
    "decay_grouped",
    "grouped_from_bytes",
    "grouped_to_bytes",
    "half_life_factor",
    "merge",
    "merge_grouped",
    "read_counts",
    "write_counts",
]
