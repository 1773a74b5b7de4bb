"""The kernel for pattern families: one automaton for every feature of a layer, at the cost of what is near.

A feature that a track has never been near sees the same events as any other such feature: they all share one
`far` run. An instance of its own exists only from a row that says the track is near a feature until nothing tells
it apart from the far run any more. Results equal those of one pattern per feature, exactly.
"""

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from patterns.recognition.arrays import compiled, copy_part, copy_row, fill, inlined, same_row
from patterns.recognition.joint import class_of_event
from patterns.recognition.kernel import arrive, attend
from patterns.recognition.rows import Moment, Rows
from patterns.recognition.runs import Scratch
from patterns.recognition.tables import NEVER, Tables
from patterns.recognition.track_state import NO_RUN, TrackStates

FAR = 0
"""The row of the far run in a track's working states."""
FAR_MATCH = 1
IMPOSSIBLE_EVENT = 2
FINE = 0


class FamilyStates(NamedTuple):
    """Per track the far run, then the instances that differ from it: rows `rows_at[t]..rows_at[t + 1]`."""

    rows_at: NDArray[np.int64]
    feature: NDArray[np.int32]
    """The feature of each instance; of the far run, -1."""
    states: TrackStates


class FamilyRows(NamedTuple):
    """Findings, and the feature each belongs to."""

    rows: Rows
    feature: NDArray[np.int32]


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
        np.zeros((count, patterns), dtype=np.uint8),
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
    copy_row(source.episode, row, target.episode, onto)
    copy_row(source.episode_start_index, row, target.episode_start_index, onto)
    copy_row(source.episode_start_time, row, target.episode_start_time, onto)
    copy_row(source.episode_first_time, row, target.episode_first_time, onto)
    copy_row(source.episode_first_tie, row, target.episode_first_tie, onto)
    copy_row(source.episode_last_index, row, target.episode_last_index, onto)
    copy_row(source.episode_last_time, row, target.episode_last_time, onto)


@compiled
def alike(states: TrackStates, one: int, other: int) -> bool:
    """Whether two runs will behave the same from now on, and have no episode open."""
    for p in range(states.episode.shape[1]):
        if states.episode[one, p] or states.episode[other, p]:
            return False
    return same_row(states.states, one, states.states, other) and same_row(
        states.start_index, one, states.start_index, other
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
def family_rows(capacity: int) -> FamilyRows:
    """Room for `capacity` findings."""
    rows = Rows(
        np.zeros(1, dtype=np.int64),
        np.zeros(capacity, dtype=np.int64),
        np.zeros(capacity, dtype=np.int32),
        np.zeros(capacity, dtype=np.uint8),
        np.zeros(capacity, dtype=np.int64),
        np.zeros(capacity, dtype=np.int64),
        np.zeros(capacity, dtype=np.int64),
        np.zeros(capacity, dtype=np.int64),
        np.zeros(capacity, dtype=np.int64),
        np.zeros(capacity, dtype=np.int64),
    )
    return FamilyRows(rows, np.zeros(capacity, dtype=np.int32))


@njit(cache=True)
def with_rows(found: FamilyRows, more: int) -> FamilyRows:
    """The same findings with room for `more`."""
    n = found.rows.size[0]
    if n + more <= len(found.feature):
        return found
    wider = family_rows(2 * (n + more))
    wider.rows.size[0] = n
    copy_part(found.rows.event, 0, n, wider.rows.event, 0)
    copy_part(found.rows.pattern, 0, n, wider.rows.pattern, 0)
    copy_part(found.rows.status, 0, n, wider.rows.status, 0)
    copy_part(found.rows.position, 0, n, wider.rows.position, 0)
    copy_part(found.rows.time, 0, n, wider.rows.time, 0)
    copy_part(found.rows.start_index, 0, n, wider.rows.start_index, 0)
    copy_part(found.rows.start_time, 0, n, wider.rows.start_time, 0)
    copy_part(found.rows.id_time, 0, n, wider.rows.id_time, 0)
    copy_part(found.rows.id_tie, 0, n, wider.rows.id_tie, 0)
    copy_part(found.feature, 0, n, wider.feature, 0)
    return wider


@inlined
def step_row(
    tables: Tables,
    columns: NDArray[np.int32],
    moment: Moment,
    states: TrackStates,
    found: FamilyRows,
    feature: int,
    scratch: Scratch,
) -> bool:
    """Step every pattern of one run on one event; whether any matched."""
    matched_any = False
    row = moment.slot
    before_rows = found.rows.size[0]
    for p in range(len(columns)):
        before = states.states[row, p]
        start = before
        if tables.max_gap_us[p] != NEVER and moment.gap > tables.max_gap_us[p]:
            start = 0
        after = tables.delta[tables.delta_at[p] + start * tables.classes[p] + columns[p]]
        if before != 0 or after != 0:
            matched = attend(tables, p, columns[p], after, moment, states, found.rows, scratch)
            matched_any = matched_any or matched
            if matched and tables.restart[p]:
                after = tables.states_at[p + 1] - tables.states_at[p] - 1
        states.states[row, p] = after
    fill(found.feature, before_rows, found.rows.size[0], feature)
    return matched_any


@njit(cache=True)
def advance_families(
    tables: Tables,
    far_words: NDArray[np.int64],
    times: NDArray[np.int64],
    first_of: NDArray[np.int64],
    near_at: NDArray[np.int64],
    near_feature: NDArray[np.int32],
    near_words: NDArray[np.int64],
    saved: FamilyStates,
) -> tuple[FamilyStates, FamilyRows, int, int]:
    """Read the events of each track; event e is near the features of `near_at[e]..near_at[e + 1]`.

    Returns the states after, the findings, and FINE or the fault and the event it is on.
    """
    tracks, patterns, runs = len(first_of) - 1, len(tables.classes), tables.runs_at[-1]
    found = family_rows(1024)
    scratch = Scratch(np.empty(runs + 1, dtype=np.int64), np.empty(runs + 1, dtype=np.int64))
    far_columns, near_columns = np.empty(patterns, dtype=np.int32), np.empty(patterns, dtype=np.int32)
    working, features = states_of(8, patterns, runs), np.full(8, -1, dtype=np.int32)
    kept, kept_feature = states_of(tracks + 8, patterns, runs), np.full(tracks + 8, -1, dtype=np.int32)
    kept_at = np.zeros(tracks + 1, dtype=np.int64)
    near_row = np.empty(8, dtype=np.int64)
    for track in range(tracks):
        first, end = saved.rows_at[track], saved.rows_at[track + 1]
        active = max(end - first, 1)
        working, features, near_row = room(working, features, near_row, active)
        if end == first:
            copy_run(states_of(1, patterns, runs), 0, working, FAR)
        for row in range(first, end):
            copy_run(saved.states, row, working, row - first)
            features[row - first] = saved.feature[row]
        for event in range(first_of[track], first_of[track + 1]):
            near = near_at[event + 1] - near_at[event]
            working, features, near_row = room(working, features, near_row, active + near)
            found = with_rows(found, 2 * patterns * (active + near))
            fill(near_row, 0, active, -1)
            for n in range(near_at[event], near_at[event + 1]):
                row = 1
                while row < active and features[row] != near_feature[n]:
                    row += 1
                if row == active:
                    copy_run(working, FAR, working, row)
                    features[row] = near_feature[n]
                    active += 1
                near_row[row] = n
            far = arrive(event, FAR, times[event], working)
            for p in range(patterns):
                far_columns[p] = class_of_event(tables, p, far_words, event)
                if far_columns[p] < 0:
                    return saved, found, IMPOSSIBLE_EVENT, event
            for turn in range(1, active + 1):
                row = turn % active  # the far run comes last: new instances were copied from it as it was before
                columns = far_columns
                if near_row[row] >= 0:
                    columns = near_columns
                    for p in range(patterns):
                        near_columns[p] = class_of_event(tables, p, near_words, near_row[row])
                        if near_columns[p] < 0:
                            return saved, found, IMPOSSIBLE_EVENT, event
                moment = Moment(event, row, far.position, far.time, far.tie, far.gap)
                if step_row(tables, columns, moment, working, found, features[row], scratch) and row == FAR:
                    return saved, found, FAR_MATCH, event
            active = without_far_ones(working, features, active)
        kept, kept_feature = kept_with_room(kept, kept_feature, kept_at[track] + active)
        for row in range(active):
            working.seen[row], working.last_time[row], working.tie[row] = (
                working.seen[FAR],
                working.last_time[FAR],
                working.tie[FAR],
            )
            copy_run(working, row, kept, kept_at[track] + row)
            kept_feature[kept_at[track] + row] = features[row] if row else -1
        kept_at[track + 1] = kept_at[track] + active
    return FamilyStates(kept_at, kept_feature, kept), found, FINE, 0


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
def without_far_ones(working: TrackStates, features: NDArray[np.int32], active: int) -> int:
    """Drop the instances that nothing tells apart from the far run; how many runs are left."""
    left = 1
    for row in range(1, active):
        if not alike(working, row, FAR):
            if row != left:
                copy_run(working, row, working, left)
                features[left] = features[row]
            left += 1
    return left


def fresh_family_states(tracks: int, patterns: int, runs: int) -> FamilyStates:
    """The state of tracks of which nothing has been read."""
    return FamilyStates(np.zeros(tracks + 1, dtype=np.int64), np.empty(0, dtype=np.int32), states_of(0, patterns, runs))


@njit(cache=True)
def rearranged_families(saved: FamilyStates, rows: NDArray[np.int64]) -> FamilyStates:
    """States whose track i is track `rows[i]` of `saved`, or fresh where that is negative."""
    total = 0
    for row in rows:
        total += saved.rows_at[row + 1] - saved.rows_at[row] if row >= 0 else 0
    states = states_of(total, saved.states.states.shape[1], saved.states.start_index.shape[1])
    feature = np.empty(total, dtype=np.int32)
    rows_at = np.zeros(len(rows) + 1, dtype=np.int64)
    at = 0
    for i in range(len(rows)):
        if rows[i] >= 0:
            for row in range(saved.rows_at[rows[i]], saved.rows_at[rows[i] + 1]):
                copy_run(saved.states, row, states, at)
                feature[at] = saved.feature[row]
                at += 1
        rows_at[i + 1] = at
    return FamilyStates(rows_at, feature, states)
