"""Counting the stretches of symbols of whole tracks: array codes and bincount, no object per event."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from models.automaton import SymbolAutomaton, symbol_automaton
from models.counts.merging import merge
from models.counts.table import BINS_PER_DOUBLING, HISTOGRAM_BINS, LEAST_SECONDS, Counts, Intervals, Level
from models.errors import ModelSettingError
from models.identity import Identity, identity_of
from models.kernels.compilation import automaton_kernel
from patterns.compiler import CompiledPattern

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
    stretches = stretches_of(symbols, times, first_of, pattern.spec.max_gap_us, known)
    if matches is None:
        starts = np.zeros(len(first_of) - 1, dtype=np.int32)
        matches = found_matches(symbol_automaton(pattern), stretches, starts)
    return counted(identity_of(pattern), stretches, max_order, matches)


class TrackCounter:
    """Counts a partition batch by batch, however its tracks are cut: the end of the last track is carried."""

    def __init__(self, pattern: CompiledPattern, max_order: int = DEFAULT_MAX_ORDER) -> None:
        self._pattern = pattern
        self._max_order = max_order
        self._automaton = symbol_automaton(pattern)
        self._parts: list[Counts] = []
        self._symbols = np.empty(0, dtype=np.int32)
        self._times = np.empty(0, dtype=np.int64)
        self._state = 0

    def add(
        self, symbols: NDArray[np.int32], times: NDArray[np.int64], first_of: NDArray[np.int64], *, continued: bool
    ) -> None:
        """Count one more batch; `continued` when its first track is the last one of the batch before."""
        if not len(symbols):
            return
        carried = len(self._symbols) if continued else 0
        known = np.zeros(len(first_of) - 1, dtype=np.int64)
        known[0] = carried
        starts = np.zeros(len(first_of) - 1, dtype=np.int32)
        starts[0] = self._state if continued else 0
        symbols = np.concatenate([self._symbols[:carried], symbols])
        times = np.concatenate([self._times[:carried], times])
        first_of = np.concatenate([first_of[:1], first_of[1:] + carried])
        stretches = stretches_of(symbols, times, first_of, self._pattern.spec.max_gap_us, known)
        matches = found_matches(self._automaton, stretches, starts)
        part = counted(identity_of(self._pattern), stretches, self._max_order, matches)
        self._parts = [merge([*self._parts, part])]
        kept = max(int(first_of[-2]), len(symbols) - max(self._max_order, 1))
        self._symbols, self._times, self._state = symbols[kept:].copy(), times[kept:].copy(), int(starts[-1])

    def counts(self) -> Counts:
        """All that was counted so far."""
        if self._parts:
            return self._parts[0]
        none = np.empty(0, dtype=np.int64)
        return count(none.astype(np.int32), none, np.zeros(1, dtype=np.int64), self._pattern, self._max_order)


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


def found_matches(automaton: SymbolAutomaton, stretches: Stretches, starts: NDArray[np.int32]) -> float:
    """How often the automaton accepts; `starts` holds its state at the begin of each track, and then at its end."""
    s = stretches
    assert not len(s.symbols) or s.symbols.max() < automaton.delta.shape[1], "symbols are those of the pattern"
    return float(
        automaton_kernel()(automaton.delta, automaton.accepting, s.symbols, s.age, s.counted, s.first_of, starts)
    )


def counted(identity: Identity, stretches: Stretches, max_order: int, matches: float) -> Counts:
    """The counts of all stretches up to a length of `max_order + 1`."""
    if not 0 <= max_order <= MOST_ORDER:
        msg = f"{identity.pattern}: max_order is {max_order}. Choose a number from 0 to {MOST_ORDER}."
        raise ModelSettingError(msg)
    times = stretches.times[stretches.counted]
    began = stretches.counted[stretches.first_of[:-1][np.diff(stretches.first_of) > 0]]
    return Counts(
        identity=identity,
        max_order=max_order,
        levels=_levels(stretches, identity.symbols, max_order + 1),
        intervals=_intervals(stretches, identity.symbols),
        events=float(len(times)),
        tracks=float(began.sum()),
        matches=matches,
        first_us=int(times.min()) if len(times) else None,
        last_us=int(times.max()) if len(times) else None,
    )


def _levels(stretches: Stretches, alphabet: int, depth: int) -> tuple[Level, ...]:
    levels = []
    places = np.arange(len(stretches.symbols))
    prefix = np.zeros(len(places), dtype=np.int64)
    parents = 1
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


def _intervals(stretches: Stretches, alphabet: int) -> Intervals:
    later = np.flatnonzero(stretches.counted & (stretches.age > 1))
    symbols = stretches.symbols[later]
    seconds = (stretches.times[later] - stretches.times[later - 1]) / 1e6
    doublings = np.log2(np.maximum(seconds, LEAST_SECONDS) / LEAST_SECONDS)
    bins = np.minimum((doublings * BINS_PER_DOUBLING).astype(np.int64), HISTOGRAM_BINS - 1)
    held = np.bincount(symbols * np.int64(HISTOGRAM_BINS) + bins, minlength=alphabet * HISTOGRAM_BINS)
    return Intervals(
        number=np.bincount(symbols, minlength=alphabet).astype(np.float64),
        seconds=_summed(symbols, seconds, alphabet),
        squares=_summed(symbols, seconds**2, alphabet),
        histogram=held.reshape(alphabet, HISTOGRAM_BINS).astype(np.float64),
    )


def _summed(symbols: NDArray[np.int32], values: NDArray[np.float64], alphabet: int) -> NDArray[np.float64]:
    return np.bincount(symbols, weights=values, minlength=alphabet).astype(np.float64)
