"""Counting the stretches of symbols of whole tracks: array codes and bincount, no object per event."""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from foresail.models.automaton import SymbolAutomaton, symbol_automaton
from foresail.models.counts.grouped import NEVER_FIRST, NEVER_LAST, NO_GROUP, GroupedCounts
from foresail.models.counts.table import BINS_PER_DOUBLING, HISTOGRAM_BINS, LEAST_SECONDS, Counts, Intervals, Level
from foresail.models.errors import ModelSettingError
from foresail.models.identity import Identity, identity_of
from foresail.models.kernels.compilation import automaton_kernel
from foresail.patterns.compiler import CompiledPattern

DEFAULT_MAX_ORDER = 8
MOST_ORDER = 64
_DENSE = 1 << 16
"""Codes below this, or below a few times the number of events, are counted in a table; others are sorted."""


@dataclass(frozen=True, slots=True, eq=False)
class Stretches:
    """Symbols of tracks with what their counting needs."""

    symbols: NDArray[np.int32]
    times: NDArray[np.int64]
    first_of: NDArray[np.int64]
    age: NDArray[np.int64]
    """How many events there are since the track began or restarted, this one included."""
    counted: NDArray[np.bool_]
    """Whether the event counts; otherwise it was counted before and is history only."""


@dataclass(frozen=True, slots=True, eq=False)
class TrackGroups:
    """Which group each track belongs to, by its place among the names."""

    names: tuple[str, ...]
    """Sorted."""
    of_track: NDArray[np.int64]

    @classmethod
    def one(cls, tracks: int) -> "TrackGroups":
        """All tracks in one group."""
        return cls((NO_GROUP,), np.zeros(tracks, dtype=np.int64))


def count(
    symbols: NDArray[np.int32],
    times: NDArray[np.int64],
    first_of: NDArray[np.int64],
    pattern: CompiledPattern,
    max_order: int = DEFAULT_MAX_ORDER,
    *,
    known: NDArray[np.int64] | None = None,
    matches: float | None = None,
) -> Counts:
    """The counts of tracks whose events are sorted by track and time (microseconds).

    History restarts after a gap longer than the pattern's `max_gap`. The first `known[t]` events of track t were
    counted before: they are history only. `matches` replaces the number of matches that the automaton finds.
    """
    groups = TrackGroups.one(len(first_of) - 1)
    found = count_groups(symbols, times, first_of, groups, pattern, max_order, known=known).of_group(NO_GROUP)
    return found if matches is None else replace(found, matches=matches)


def count_groups(
    symbols: NDArray[np.int32],
    times: NDArray[np.int64],
    first_of: NDArray[np.int64],
    groups: TrackGroups,
    pattern: CompiledPattern,
    max_order: int = DEFAULT_MAX_ORDER,
    *,
    known: NDArray[np.int64] | None = None,
) -> GroupedCounts:
    """The counts of `count`, for every group of tracks apart, in the same single pass."""
    stretches = stretches_of(symbols, times, first_of, pattern.spec.max_gap_us, known)
    starts = np.zeros(len(first_of) - 1, dtype=np.int32)
    matches = found_matches(symbol_automaton(pattern), stretches, starts)
    return counted(identity_of(pattern), stretches, groups, max_order, matches)


def stretches_of(
    symbols: NDArray[np.int32],
    times: NDArray[np.int64],
    first_of: NDArray[np.int64],
    max_gap_us: int | None,
    known: NDArray[np.int64] | None = None,
) -> Stretches:
    """The symbols with the place of each event in its history."""
    begins = np.zeros(len(symbols), dtype=np.bool_)
    begins[first_of[:-1][np.diff(first_of) > 0]] = True
    if max_gap_us is not None and len(times):
        begins[1:] |= np.diff(times) > max_gap_us
    places = np.arange(len(symbols), dtype=np.int64)
    age = places - np.maximum.accumulate(np.where(begins, places, 0)) + 1
    counts = np.ones(len(symbols), dtype=np.bool_)
    if known is not None and known.any():
        lengths = np.diff(first_of)
        counts = places - np.repeat(first_of[:-1], lengths) >= np.repeat(known, lengths)
    return Stretches(symbols, times, first_of, age, counts)


def found_matches(automaton: SymbolAutomaton, stretches: Stretches, starts: NDArray[np.int32]) -> NDArray[np.int64]:
    """How often the automaton accepts in each track; `starts` holds its state at the begin of each."""
    s = stretches
    assert not len(s.symbols) or s.symbols.max() < automaton.delta.shape[1], "symbols are those of the pattern"
    found = np.zeros(len(starts), dtype=np.int64)
    automaton_kernel()(automaton.delta, automaton.accepting, s.symbols, s.age, s.counted, s.first_of, starts, found)
    return found


def counted(
    identity: Identity, stretches: Stretches, groups: TrackGroups, max_order: int, matches: NDArray[np.int64]
) -> GroupedCounts:
    """The counts of all stretches up to a length of `max_order + 1`, with the matches of each track."""
    if not 0 <= max_order <= MOST_ORDER:
        msg = f"{identity.pattern}: max_order is {max_order}. Choose a number from 0 to {MOST_ORDER}."
        raise ModelSettingError(msg)
    lengths = np.diff(stretches.first_of)
    group = np.repeat(groups.of_track, lengths)
    began = (lengths > 0) & np.append(stretches.counted, False)[stretches.first_of[:-1]]
    times, of = stretches.times[stretches.counted], group[stretches.counted]
    size = len(groups.names)
    first_us, last_us = np.full(size, NEVER_FIRST), np.full(size, NEVER_LAST)
    np.minimum.at(first_us, of, times)
    np.maximum.at(last_us, of, times)
    return GroupedCounts(
        identity=identity,
        max_order=max_order,
        groups=groups.names,
        levels=_levels(stretches, group, size, identity.symbols, max_order + 1),
        intervals=_intervals(stretches, group, size, identity.symbols),
        events=np.bincount(of, minlength=size).astype(np.float64),
        tracks=np.bincount(groups.of_track[began], minlength=size).astype(np.float64),
        matches=np.bincount(groups.of_track, weights=matches, minlength=size).astype(np.float64),
        first_us=first_us,
        last_us=last_us,
    )


def _levels(
    stretches: Stretches, group: NDArray[np.int64], groups: int, alphabet: int, depth: int
) -> tuple[Level, ...]:
    levels = []
    places = np.arange(len(stretches.symbols))
    prefix = group.copy()
    parents = groups
    for length in range(1, depth + 1):
        places = places[stretches.age[places] >= length]
        before = prefix[places - 1] if length > 1 else prefix
        codes = before * alphabet + stretches.symbols[places]
        level, ranks = _counted_codes(codes, stretches.counted[places], parents * alphabet)
        levels.append(level)
        prefix[places] = ranks
        parents = len(level)
    return tuple(levels)


def _counted_codes(codes: NDArray[np.int64], counts: NDArray[np.bool_], size: int) -> tuple[Level, NDArray[np.int64]]:
    """The distinct codes with how often they count, and for each code its place among them."""
    if size > max(_DENSE, 4 * len(codes)):
        distinct, ranks = np.unique(codes, return_inverse=True)
        return Level(distinct, _tally(ranks, counts, len(distinct))), ranks
    seen = np.bincount(codes, minlength=size) > 0
    place = np.cumsum(seen) - 1
    times = _tally(codes, counts, size)
    distinct = np.flatnonzero(seen).astype(np.int64)
    return Level(distinct, times[distinct]), place[codes]


def _tally(places: NDArray[np.int64], counts: NDArray[np.bool_], size: int) -> NDArray[np.float64]:
    return np.bincount(places if counts.all() else places[counts], minlength=size).astype(np.float64)


def _intervals(stretches: Stretches, group: NDArray[np.int64], groups: int, alphabet: int) -> Intervals:
    later = np.flatnonzero(stretches.counted & (stretches.age > 1))
    rows, room = group[later] * alphabet + stretches.symbols[later], groups * alphabet
    seconds = (stretches.times[later] - stretches.times[later - 1]) / 1e6
    doublings = np.log2(np.maximum(seconds, LEAST_SECONDS) / LEAST_SECONDS)
    bins = np.minimum((doublings * BINS_PER_DOUBLING).astype(np.int64), HISTOGRAM_BINS - 1)
    held = np.bincount(rows * HISTOGRAM_BINS + bins, minlength=room * HISTOGRAM_BINS)
    return Intervals(
        number=np.bincount(rows, minlength=room).astype(np.float64),
        seconds=np.bincount(rows, weights=seconds, minlength=room).astype(np.float64),
        squares=np.bincount(rows, weights=seconds**2, minlength=room).astype(np.float64),
        histogram=held.reshape(room, HISTOGRAM_BINS).astype(np.float64),
    )
