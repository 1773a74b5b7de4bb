"""What is remembered of each track between batches by pattern families: the far run, and the instances beside it."""

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from foresail.patterns.recognition.arrays import compiled, copy_part, copy_row, fill_row, same_row
from foresail.patterns.recognition.queues import Queues, clear_starts, move_starts, same_starts
from foresail.patterns.recognition.starts import Begun, copy_stored, store_starts, stored_room, take_starts
from foresail.patterns.recognition.track_state import NEVER_BEGUN, NO_RUN, TrackStates

FAR = 0
"""The row of the far run in a track's working states."""


class FamilyStates(NamedTuple):
    """Per track the far run, then the instances that differ from it: rows `rows_at[t]..rows_at[t + 1]`."""

    rows_at: NDArray[np.int64]
    feature: NDArray[np.int32]
    """The feature of each instance; of the far run, -1."""
    states: TrackStates
    begun: Begun
    """The starts in their windows, of the same rows."""


@njit(cache=True)
def states_of(count: int, patterns: int, runs: int) -> TrackStates:
    """Fresh working states for `count` runs."""
    return TrackStates(
        np.zeros(count, dtype=np.int64),
        np.zeros(count, dtype=np.int64),
        np.zeros(count, dtype=np.int64),
        np.zeros((count, patterns), dtype=np.int32),
        np.full((count, runs), NO_RUN, dtype=np.int64),
        np.zeros((count, runs), dtype=np.int64),
        np.full((count, runs), NEVER_BEGUN, dtype=np.int64),
        np.zeros((count, patterns), dtype=np.uint8),
        np.zeros((count, patterns), dtype=np.int64),
        np.zeros((count, patterns), dtype=np.int64),
        np.zeros((count, patterns), dtype=np.int64),
        np.zeros((count, patterns), dtype=np.int64),
        np.zeros((count, patterns), dtype=np.int64),
        np.zeros((count, patterns), dtype=np.int64),
        np.zeros((count, patterns), dtype=np.int64),
    )


@compiled
def copy_run(source: TrackStates, row: int, target: TrackStates, onto: int) -> None:
    """Make row `onto` of `target` equal to row `row` of `source`."""
    target.seen[onto] = source.seen[row]
    target.last_time[onto] = source.last_time[row]
    target.tie[onto] = source.tie[row]
    copy_row(source.states, row, target.states, onto)
    copy_row(source.start_index, row, target.start_index, onto)
    copy_row(source.start_time, row, target.start_time, onto)
    copy_row(source.first_start_time, row, target.first_start_time, onto)
    copy_row(source.episode, row, target.episode, onto)
    copy_row(source.episode_start_index, row, target.episode_start_index, onto)
    copy_row(source.episode_start_time, row, target.episode_start_time, onto)
    copy_row(source.episode_first_start_time, row, target.episode_first_start_time, onto)
    copy_row(source.episode_first_time, row, target.episode_first_time, onto)
    copy_row(source.episode_first_tie, row, target.episode_first_tie, onto)
    copy_row(source.episode_last_index, row, target.episode_last_index, onto)
    copy_row(source.episode_last_time, row, target.episode_last_time, onto)


@compiled
def alike(states: TrackStates, queues: Queues, one: int, other: int) -> bool:
    """Whether two runs will behave the same from now on, and have no episode open."""
    for p in range(states.episode.shape[1]):
        if states.episode[one, p] or states.episode[other, p]:
            return False
    return (
        same_row(states.states, one, states.states, other)
        and same_row(states.start_index, one, states.start_index, other)
        and same_row(states.first_start_time, one, states.first_start_time, other)
        and same_starts(queues, one, other)
    )


@njit(cache=True)
def widened(states: TrackStates, count: int) -> TrackStates:
    """The same states with room for `count` runs."""
    if count <= len(states.seen):
        return states
    wider = states_of(2 * count, states.states.shape[1], states.start_index.shape[1])
    for row in range(len(states.seen)):
        copy_run(states, row, wider, row)
    return wider


@njit(cache=True)
def room(
    working: TrackStates, features: NDArray[np.int32], near_row: NDArray[np.int64], count: int
) -> tuple[TrackStates, NDArray[np.int32], NDArray[np.int64]]:
    """The working arrays with room for `count` runs."""
    if count <= len(features):
        return working, features, near_row
    wider = np.full(2 * count, -1, dtype=np.int32)
    copy_part(features, 0, len(features), wider, 0)
    return widened(working, 2 * count), wider, np.empty(2 * count, dtype=np.int64)


@njit(cache=True)
def kept_with_room(kept: TrackStates, feature: NDArray[np.int32], count: int) -> tuple[TrackStates, NDArray[np.int32]]:
    """The saved arrays with room for `count` runs."""
    if count <= len(feature):
        return kept, feature
    wider = np.full(2 * count, -1, dtype=np.int32)
    copy_part(feature, 0, len(feature), wider, 0)
    return widened(kept, 2 * count), wider


@compiled
def take_up(saved: FamilyStates, track: int, working: TrackStates, features: NDArray[np.int32], queues: Queues) -> None:
    """Put what is saved of a track into the working arrays: a fresh far run, if nothing is."""
    first, end = saved.rows_at[track], saved.rows_at[track + 1]
    if end == first:
        working.seen[FAR], working.last_time[FAR], working.tie[FAR] = 0, 0, 0
        fill_row(working.states, FAR, 0, working.states.shape[1], 0)
        fill_row(working.start_index, FAR, 0, working.start_index.shape[1], NO_RUN)
        fill_row(working.start_time, FAR, 0, working.start_time.shape[1], 0)
        fill_row(working.first_start_time, FAR, 0, working.first_start_time.shape[1], NEVER_BEGUN)
        fill_row(working.episode, FAR, 0, working.episode.shape[1], 0)
    for row in range(first, end):
        copy_run(saved.states, row, working, row - first)
        features[row - first] = saved.feature[row]
        take_starts(saved.begun, row, queues, row - first)


@compiled
def keep(
    working: TrackStates,
    features: NDArray[np.int32],
    active: int,
    queues: Queues,
    kept: TrackStates,
    kept_feature: NDArray[np.int32],
    kept_begun: Begun,
    first: int,
) -> None:
    """Save the runs of a track from row `first` on; the far run alone has kept count of the events."""
    for row in range(active):
        working.seen[row], working.last_time[row], working.tie[row] = (
            working.seen[FAR],
            working.last_time[FAR],
            working.tie[FAR],
        )
        copy_run(working, row, kept, first + row)
        kept_feature[first + row] = features[row] if row else -1
        store_starts(queues, row, kept_begun, first + row)
        clear_starts(queues, row)


@compiled
def without_far_ones(working: TrackStates, features: NDArray[np.int32], queues: Queues, active: int) -> int:
    """Drop the instances that nothing tells apart from the far run; how many runs are left."""
    left = 1
    for row in range(1, active):
        if alike(working, queues, row, FAR):
            clear_starts(queues, row)
            continue
        if row != left:
            copy_run(working, row, working, left)
            features[left] = features[row]
            move_starts(queues, row, left)
        left += 1
    return left


def fresh_family_states(tracks: int, patterns: int, runs: int, words: int) -> FamilyStates:
    """The state of tracks of which nothing has been read; `words` hold a set of run states of a windowed pattern."""
    rows_at, feature = np.zeros(tracks + 1, dtype=np.int64), np.empty(0, dtype=np.int32)
    return FamilyStates(rows_at, feature, states_of(0, patterns, runs), stored_room(0, 0, words))


@njit(cache=True)
def rearranged_families(saved: FamilyStates, rows: NDArray[np.int64]) -> FamilyStates:
    """States whose track i is track `rows[i]` of `saved`, or fresh where that is negative."""
    total, starts = 0, 0
    for row in rows:
        if row >= 0:
            first, end = saved.rows_at[row], saved.rows_at[row + 1]
            total += end - first
            starts += saved.begun.rows_at[end] - saved.begun.rows_at[first]
    states = states_of(total, saved.states.states.shape[1], saved.states.start_index.shape[1])
    feature = np.empty(total, dtype=np.int32)
    rows_at = np.zeros(len(rows) + 1, dtype=np.int64)
    begun = stored_room(total, starts, saved.begun.runs.shape[1])
    at = 0
    for i in range(len(rows)):
        if rows[i] >= 0:
            for row in range(saved.rows_at[rows[i]], saved.rows_at[rows[i] + 1]):
                copy_run(saved.states, row, states, at)
                feature[at] = saved.feature[row]
                copy_stored(saved.begun, row, begun, at)
                at += 1
        rows_at[i + 1] = at
    return FamilyStates(rows_at, feature, states, begun)
