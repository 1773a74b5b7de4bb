"""Counts of several partitions or days as one, and old counts made lighter."""

from collections.abc import Sequence

from models.counts.table import Counts


def merge(parts: Sequence[Counts]) -> Counts:
    """The counts of all parts together; they must be of one pattern, alphabet and `max_order`."""
    raise NotImplementedError


def decay(counts: Counts, factor: float) -> Counts:
    """The same counts, each multiplied by `factor` (between 0 and 1)."""
    raise NotImplementedError


def half_life_factor(days: float, half_life_days: float) -> float:
    """The factor by which counts decay in so many days."""
    return float(0.5 ** (days / half_life_days))
