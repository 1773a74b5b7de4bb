"""Counts of several partitions or days as one, and old counts made lighter."""

from collections.abc import Sequence
from dataclasses import fields, replace
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from foresail.models.counts.table import Counts, Intervals, Level
from foresail.models.errors import ModelSettingError
from foresail.models.identity import Identity

LEAST_COUNT = 1e-3
"""Stretches that have decayed below this are forgotten, so that counts do not grow for ever."""
ONE_ROOT = np.zeros(1, dtype=np.int64)
"""The tree of `Counts` has one root."""


def merge(parts: Sequence[Counts]) -> Counts:
    """The counts of all parts together; they must be of one pattern, alphabet and `max_order`."""
    if len(parts) == 1:
        return parts[0]
    check_same_kind(parts)
    first = parts[0]
    begins = [part.first_us for part in parts if part.first_us is not None]
    ends = [part.last_us for part in parts if part.last_us is not None]
    return replace(
        first,
        levels=merged_levels([part.levels for part in parts], first.symbols, [ONE_ROOT] * len(parts)),
        intervals=Intervals(
            *(sum(getattr(part.intervals, field.name) for part in parts) for field in fields(Intervals))
        ),
        events=sum(part.events for part in parts),
        tracks=sum(part.tracks for part in parts),
        matches=sum(part.matches for part in parts),
        first_us=min(begins, default=None),
        last_us=max(ends, default=None),
    )


class CountedParts(Protocol):
    """Counts of any form, as far as it matters whether they can be added."""

    @property
    def identity(self) -> Identity:
        """What was counted."""

    @property
    def max_order(self) -> int:
        """How far."""


def check_same_kind(parts: Sequence[CountedParts]) -> None:
    """Refuse to add up counts of different patterns, alphabets or lengths."""
    first = parts[0]
    for part in parts[1:]:
        first.identity.check_same(part.identity, "counts")
        if part.max_order != first.max_order:
            msg = (
                f"counts of {first.identity.pattern}: one part goes to order {first.max_order}, another to "
                f"{part.max_order}. Count both with the same `max_order`."
            )
            raise ModelSettingError(msg)


def merged_levels(
    parts: Sequence[tuple[Level, ...]], alphabet: int, roots: Sequence[NDArray[np.int64]]
) -> tuple[Level, ...]:
    """The union of the levels; every part's own places are followed to those in the union.

    `roots` says which root of the union each root of a part becomes: its group, or the only one.
    """
    places = list(roots)
    merged = []
    for levels in zip(*parts, strict=True):
        codes = [
            place[level.codes // alphabet] * alphabet + level.codes % alphabet
            for place, level in zip(places, levels, strict=True)
        ]
        union = np.unique(np.concatenate(codes))
        places = [np.searchsorted(union, held) for held in codes]
        total = np.bincount(
            np.concatenate(places), weights=np.concatenate([level.counts for level in levels]), minlength=len(union)
        )
        merged.append(Level(union, total.astype(np.float64)))
    return tuple(merged)


def decay(counts: Counts, factor: float) -> Counts:
    """The same counts, each multiplied by `factor` (above 0, at most 1)."""
    if not 0 < factor <= 1:
        msg = f"counts of {counts.identity.pattern}: a decay of {factor} is not above 0 and at most 1. Choose another."
        raise ModelSettingError(msg)
    return replace(
        counts,
        levels=decayed_levels(counts.levels, counts.symbols, factor),
        intervals=Intervals(*(factor * getattr(counts.intervals, field.name) for field in fields(Intervals))),
        events=factor * counts.events,
        tracks=factor * counts.tracks,
        matches=factor * counts.matches,
    )


def decayed_levels(levels: tuple[Level, ...], alphabet: int, factor: float, roots: int = 1) -> tuple[Level, ...]:
    """A stretch is never more frequent than its beginning, so what is kept keeps its beginning too."""
    place = np.arange(roots, dtype=np.int64)
    decayed = []
    for level in levels:
        held = factor * level.counts
        kept = (held >= LEAST_COUNT) & (place[level.codes // alphabet] >= 0)
        codes = level.codes[kept]
        decayed.append(Level(place[codes // alphabet] * alphabet + codes % alphabet, held[kept]))
        place = np.where(kept, np.cumsum(kept) - 1, -1)
    return tuple(decayed)


def half_life_factor(days: float, half_life_days: float) -> float:
    """The factor by which counts decay in so many days."""
    if half_life_days <= 0:
        msg = f"half_life_days is {half_life_days}. Give the days after which a count weighs half."
        raise ModelSettingError(msg)
    return float(0.5 ** (max(days, 0.0) / half_life_days))
