"""How often every stretch of symbols occurs: additive over tracks and over time, so that training is too."""

from models.counts.counting import DEFAULT_MAX_ORDER, TrackCounter, count
from models.counts.family import count_family
from models.counts.files import counts_from_bytes, counts_to_bytes, read_counts, write_counts
from models.counts.merging import decay, half_life_factor, merge
from models.counts.table import Counts, Intervals, Level

__all__ = [
    "DEFAULT_MAX_ORDER",
    "Counts",
    "Intervals",
    "Level",
    "TrackCounter",
    "count",
    "count_family",
    "counts_from_bytes",
    "counts_to_bytes",
    "decay",
    "half_life_factor",
    "merge",
    "read_counts",
    "write_counts",
]
