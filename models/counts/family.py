"""Counting for a pattern family: per feature only the stretches of a track in which the feature is within reach."""

from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from foresail.models.automaton import symbol_automaton
from foresail.models.counts.counting import (
    DEFAULT_MAX_ORDER,
    Stretches,
    TrackGroups,
    counted,
    found_matches,
    stretches_of,
)
from foresail.models.counts.grouped import GroupedCounts
from foresail.models.identity import identity_of
from foresail.models.kernels.compilation import walk_kernel
from foresail.patterns.compiler import CompiledPattern


def count_family_groups(
    far_symbols: NDArray[np.int32],
    times: NDArray[np.int64],
    first_of: NDArray[np.int64],
    near_at: NDArray[np.int64],
    near_feature: NDArray[np.int32],
    near_symbols: NDArray[np.int32],
    groups: TrackGroups,
    pattern: CompiledPattern,
    max_order: int = DEFAULT_MAX_ORDER,
) -> GroupedCounts:
    """The counts over every track and feature; event e is near the rows `near_at[e]..near_at[e + 1]`.

    Counted are the events near a feature with `max_order` events before and after; where the track is far from it the
    far symbol stands. All of the far rest would drown what happens near. Tracks must be whole.
    """
    far = stretches_of(far_symbols, times, first_of, pattern.spec.max_gap_us)
    reach = _within_reach(first_of, near_at, near_feature, max_order)
    symbols = far_symbols[reach.events]
    symbols[reach.near] = near_symbols[reach.row]
    stretches = stretches_of(symbols, times[reach.events], reach.first_of, pattern.spec.max_gap_us)
    automaton = symbol_automaton(pattern)
    starts = _states_before(automaton.delta, far)[reach.events[reach.first_of[:-1]]]
    mine = TrackGroups(groups.names, groups.of_track[reach.track])
    counts = counted(identity_of(pattern), stretches, mine, max_order, found_matches(automaton, stretches, starts))
    tracks = np.bincount(groups.of_track[np.unique(reach.track)], minlength=len(groups.names))
    return replace(counts, tracks=tracks.astype(np.float64))


class _Reach(NamedTuple):
    events: NDArray[np.int64]
    """The events of all stretches, one after the other."""
    first_of: NDArray[np.int64]
    """Where each stretch begins among them, and the end."""
    near: NDArray[np.int64]
    """The places among them at which the feature is near, and the row that says so."""
    row: NDArray[np.int64]
    track: NDArray[np.int64]
    """The track of each stretch."""


def _within_reach(
    first_of: NDArray[np.int64], near_at: NDArray[np.int64], near_feature: NDArray[np.int32], margin: int
) -> _Reach:
    event = np.repeat(np.arange(len(near_at) - 1), np.diff(near_at))
    track = np.searchsorted(first_of, event, side="right") - 1
    row = np.lexsort((event, near_feature, track))
    event, track, feature = event[row], track[row], near_feature[row]
    apart = np.ones(len(row), dtype=np.bool_)
    apart[1:] = (np.diff(track) != 0) | (np.diff(feature) != 0) | (np.diff(event) > 2 * margin + 1)
    opening, closing = np.flatnonzero(apart), np.append(np.flatnonzero(apart)[1:], len(row)) - 1
    begin = np.maximum(event[opening] - margin, first_of[track[opening]])
    end = np.minimum(event[closing[closing >= 0]] + margin + 1, first_of[track[opening] + 1])
    lengths = end - begin
    starts = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    events = np.arange(starts[-1]) + np.repeat(begin - starts[:-1], lengths)
    stretch = np.cumsum(apart) - 1
    return _Reach(events, starts, starts[stretch] + event - begin[stretch], row, track[opening])


def _states_before(delta: NDArray[np.int32], stretches: Stretches) -> NDArray[np.int32]:
    """The automaton state from which each event is read."""
    before = np.empty(len(stretches.symbols), dtype=np.int32)
    walk_kernel()(delta, stretches.symbols, stretches.age, before)
    return before
