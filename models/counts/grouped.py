"""Counts of many groups of tracks at once: one counter suffix tree with a root for each group.

They add up like `Counts`: those of all groups together are the counts of all tracks, whatever the groups are.
"""

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace

import numpy as np
from numpy.typing import NDArray

from foresail.models.counts.merging import check_same_kind, decayed_levels, merged_levels
from foresail.models.counts.table import Counts, Intervals, Level
from foresail.models.identity import Identity

NO_GROUP = ""
"""The group of tracks that do not say which they belong to."""
NEVER_FIRST, NEVER_LAST = np.iinfo(np.int64).max, np.iinfo(np.int64).min
"""The first and last time of a group without events."""


@dataclass(frozen=True, slots=True, eq=False)
class GroupedCounts:
    """What was counted for one pattern, by group; the arrays have one entry per group."""

    identity: Identity
    max_order: int
    groups: tuple[str, ...]
    """Their names, sorted."""
    levels: tuple[Level, ...]
    """As in `Counts`, but a code of the first level is `group * alphabet + symbol`."""
    intervals: Intervals
    """As in `Counts`, in rows `group * alphabet + symbol`."""
    events: NDArray[np.float64]
    tracks: NDArray[np.float64]
    matches: NDArray[np.float64]
    first_us: NDArray[np.int64]
    last_us: NDArray[np.int64]

    def of_group(self, name: str) -> Counts:
        """The counts of one group, as if its tracks had been counted alone."""
        group = self.groups.index(name)
        rows = slice(group * self.identity.symbols, (group + 1) * self.identity.symbols)
        intervals = Intervals(*(getattr(self.intervals, field.name)[rows] for field in fields(Intervals)))
        return self._counts(self._levels_below(group), intervals, slice(group, group + 1))

    def together(self) -> Counts:
        """The counts of all tracks."""
        roots = np.zeros(len(self.groups), dtype=np.int64)
        levels = merged_levels([self.levels], self.identity.symbols, [roots])
        held = (getattr(self.intervals, field.name) for field in fields(Intervals))
        shape = (len(self.groups), self.identity.symbols)
        intervals = Intervals(*(column.reshape(*shape, *column.shape[1:]).sum(axis=0) for column in held))
        return self._counts(levels, intervals, slice(None))

    def _counts(self, levels: tuple[Level, ...], intervals: Intervals, groups: slice) -> Counts:
        first, last = self.first_us[groups].min(initial=NEVER_FIRST), self.last_us[groups].max(initial=NEVER_LAST)
        return Counts(
            identity=self.identity,
            max_order=self.max_order,
            levels=levels,
            intervals=intervals,
            events=float(self.events[groups].sum()),
            tracks=float(self.tracks[groups].sum()),
            matches=float(self.matches[groups].sum()),
            first_us=None if first == NEVER_FIRST else int(first),
            last_us=None if last == NEVER_LAST else int(last),
        )

    def _levels_below(self, root: int) -> tuple[Level, ...]:
        """The part of the tree below one root: codes are sorted, so it is one stretch of each level."""
        alphabet, first, end = self.identity.symbols, root, root + 1
        found = []
        for level in self.levels:
            begin, stop = np.searchsorted(level.codes, [first * alphabet, end * alphabet])
            found.append(Level(level.codes[begin:stop] - first * alphabet, level.counts[begin:stop]))
            first, end = int(begin), int(stop)
        return tuple(found)


def merge_grouped(parts: Sequence[GroupedCounts]) -> GroupedCounts:
    """The counts of all parts together, group by group."""
    if len(parts) == 1:
        return parts[0]
    check_same_kind(parts)
    first = parts[0]
    names = tuple(sorted({name for part in parts for name in part.groups}))
    roots = [np.searchsorted(names, part.groups).astype(np.int64) for part in parts]
    return replace(
        first,
        groups=names,
        levels=merged_levels([part.levels for part in parts], first.identity.symbols, roots),
        intervals=_merged_intervals(parts, roots, len(names)),
        events=_summed([part.events for part in parts], roots, len(names)),
        tracks=_summed([part.tracks for part in parts], roots, len(names)),
        matches=_summed([part.matches for part in parts], roots, len(names)),
        first_us=_extreme(np.minimum, [part.first_us for part in parts], roots, len(names), NEVER_FIRST),
        last_us=_extreme(np.maximum, [part.last_us for part in parts], roots, len(names), NEVER_LAST),
    )


def decay_grouped(counts: GroupedCounts, factor: float) -> GroupedCounts:
    """The same counts, each multiplied by `factor`; groups of which nothing is left stay known."""
    kept = {name: factor * getattr(counts, name) for name in ("events", "tracks", "matches")}
    held = (factor * getattr(counts.intervals, field.name) for field in fields(Intervals))
    levels = decayed_levels(counts.levels, counts.identity.symbols, factor, len(counts.groups))
    return replace(counts, levels=levels, intervals=Intervals(*held), **kept)


def _merged_intervals(parts: Sequence[GroupedCounts], roots: Sequence[NDArray[np.int64]], groups: int) -> Intervals:
    alphabet = parts[0].identity.symbols
    columns = []
    for field in fields(Intervals):
        held = [getattr(part.intervals, field.name) for part in parts]
        total = np.zeros((groups, alphabet, *held[0].shape[1:]))
        for root, column in zip(roots, held, strict=True):
            total[root] += column.reshape(len(root), alphabet, *column.shape[1:])
        columns.append(total.reshape(groups * alphabet, *held[0].shape[1:]))
    return Intervals(*columns)


def _summed(
    parts: Sequence[NDArray[np.float64]], roots: Sequence[NDArray[np.int64]], groups: int
) -> NDArray[np.float64]:
    return np.bincount(np.concatenate(roots), weights=np.concatenate(parts), minlength=groups).astype(np.float64)


def _extreme(
    of_two: np.ufunc,
    parts: Sequence[NDArray[np.int64]],
    roots: Sequence[NDArray[np.int64]],
    groups: int,
    never: int,
) -> NDArray[np.int64]:
    found = np.full(groups, never, dtype=np.int64)
    of_two.at(found, np.concatenate(roots), np.concatenate(parts))
    return found
