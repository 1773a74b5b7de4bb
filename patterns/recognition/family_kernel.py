"""The kernel for pattern families: one automaton for every feature of a layer, at the cost of what is near.

A feature that a track has never been near sees the same events as any other such feature: they all share one
`far` run. An instance of its own exists only from a row that says the track is near a feature until nothing tells
it apart from the far run any more. While a track goes on as it was, nothing is stepped
(`family_stable_stretches`). Results equal those of one pattern per feature, exactly.
"""

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from foresail.patterns.recognition.arrays import compiled, copy_part, fill, inlined
from foresail.patterns.recognition.family_stable_stretches import (
    catch_up,
    idle_far,
    like_the_last,
    may_skip,
    wakes_nothing,
)
from foresail.patterns.recognition.family_states import (
    FAR,
    FamilyStates,
    copy_run,
    keep,
    kept_with_room,
    room,
    states_of,
    take_up,
    without_far_ones,
)
from foresail.patterns.recognition.joint import class_of_event
from foresail.patterns.recognition.kernel import arrive, attend, gap_level
from foresail.patterns.recognition.queues import Queues, copy_starts, fresh_queues, queues_with_room, starts_of
from foresail.patterns.recognition.rows import Moment, Rows
from foresail.patterns.recognition.runs import Scratch
from foresail.patterns.recognition.starts import filled_part, stored_room, stored_with_room
from foresail.patterns.recognition.tables import NEVER, Tables
from foresail.patterns.recognition.track_state import TrackStates

FAR_MATCH = 1
IMPOSSIBLE_EVENT = 2
FINE = 0
MATCHED, MOVED, MATCHED_FAR, IMPOSSIBLE_NEAR = 1, 2, 4, 8
"""What can come of an event: a match, a pattern in another state, or a fault."""


class FamilyMatchRows(NamedTuple):
    """Findings, and the feature each belongs to."""

    rows: Rows
    feature: NDArray[np.int32]


@njit(cache=True)
def family_rows(capacity: int) -> FamilyMatchRows:
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
        np.zeros(capacity, dtype=np.int64),
    )
    return FamilyMatchRows(rows, np.zeros(capacity, dtype=np.int32))


@njit(cache=True)
def with_rows(found: FamilyMatchRows, more: int) -> FamilyMatchRows:
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
    copy_part(found.rows.first_start_time, 0, n, wider.rows.first_start_time, 0)
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
    found: FamilyMatchRows,
    feature: int,
    scratch: Scratch,
) -> int:
    """Step every pattern of one run on one event; MATCHED and MOVED, as far as they hold of any."""
    outcome = 0
    row = moment.slot
    before_rows = found.rows.size[0]
    for p in range(len(columns)):
        before = states.states[row, p]
        start = before
        if tables.max_gap_us[p] != NEVER and moment.gap > tables.max_gap_us[p]:
            start = 0
        after = tables.delta[tables.delta_at[p] + start * tables.classes[p] + columns[p]]
        under_way = before != 0 or after != 0
        if under_way and attend(tables, p, columns[p], after, moment, states, found.rows, scratch):
            outcome |= MATCHED
            if tables.restart[p]:
                after = tables.states_at[p + 1] - tables.states_at[p] - 1
        if after != before:
            outcome |= MOVED
        states.states[row, p] = after
    fill(found.feature, before_rows, found.rows.size[0], feature)
    return outcome


@compiled
def classes_of(tables: Tables, words: NDArray[np.int64], row: int, columns: NDArray[np.int32]) -> bool:
    """Put the class of a row for each pattern into `columns`; False where no minterm allows it."""
    for p in range(len(columns)):
        columns[p] = class_of_event(tables, p, words, row)
        if columns[p] < 0:
            return False
    return True


@compiled
def meet(
    tables: Tables,
    near_feature: NDArray[np.int32],
    near_words: NDArray[np.int64],
    first: int,
    end: int,
    idle: bool,
    active: int,
    working: TrackStates,
    features: NDArray[np.int32],
    near_row: NDArray[np.int64],
    queues: Queues,
) -> int:
    """Find the instances of the near features, and make those that are missing; how many runs there are.

    With `idle`, the far run is idle and stays so: an instance that would be idle as well is not made.
    """
    fill(near_row, 0, active, -1)
    for n in range(first, end):
        row = 1
        while row < active and features[row] != near_feature[n]:
            row += 1
        if row == active:
            if idle and wakes_nothing(tables, near_words, n):
                continue
            copy_run(working, FAR, working, row)
            copy_starts(queues, FAR, row)
            features[row] = near_feature[n]
            active += 1
        near_row[row] = n
    return active


@compiled
def step_all(
    tables: Tables,
    far: Moment,
    active: int,
    near_row: NDArray[np.int64],
    near_words: NDArray[np.int64],
    far_columns: NDArray[np.int32],
    near_columns: NDArray[np.int32],
    working: TrackStates,
    features: NDArray[np.int32],
    found: FamilyMatchRows,
    scratch: Scratch,
) -> int:
    """Step the far run and every instance on one event; what came of it."""
    outcome = 0
    for turn in range(1, active + 1):
        row = turn % active  # the far run comes last: new instances were copied from it as it was before
        columns = far_columns
        if near_row[row] >= 0:
            columns = near_columns
            if not classes_of(tables, near_words, near_row[row], columns):
                return IMPOSSIBLE_NEAR
        moment = Moment(far.event, row, far.position, far.time, far.tie, far.gap)
        of_row = step_row(tables, columns, moment, working, found, features[row], scratch)
        if row == FAR and of_row & MATCHED:
            return MATCHED_FAR
        outcome |= of_row
    return outcome


@njit(cache=True)
def fresh_family_scratch(runs: int, queues: Queues) -> Scratch:
    """Room to step any pattern in, with these queues."""
    return Scratch(
        np.empty(runs + 1, dtype=np.int64),
        np.empty(runs + 1, dtype=np.int64),
        np.empty(runs + 1, dtype=np.int64),
        queues,
    )


@compiled
def resting(saved: FamilyStates, track: int) -> int:
    """How many starts are saved of a track."""
    return saved.begun.rows_at[saved.rows_at[track + 1]] - saved.begun.rows_at[saved.rows_at[track]]


@compiled
def all_starts(queues: Queues, active: int) -> int:
    """How many starts the runs of a track have."""
    many = 0
    for row in range(active):
        many += starts_of(queues, row)
    return many


@compiled
def starts_needed(queues: Queues, active: int, most: int) -> int:
    """How many starts an event may bring: one for every run and pattern, and copies of the far run's for instances."""
    count = most * queues.head.shape[1]
    return count + (most - active) * starts_of(queues, FAR) if most > active else count


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
) -> tuple[FamilyStates, FamilyMatchRows, int, int]:
    """Read the events of each track; event e is near the features of `near_at[e]..near_at[e + 1]`.

    Returns the states after, the findings, and FINE or the fault and the event it is on.
    """
    tracks, patterns, runs = len(first_of) - 1, len(tables.classes), tables.runs_at[-1]
    found = family_rows(1024)
    queues = fresh_queues(8, patterns, saved.begun.runs.shape[1], 64)
    scratch = fresh_family_scratch(runs, queues)
    far_columns, near_columns = np.empty(patterns, dtype=np.int32), np.empty(patterns, dtype=np.int32)
    working, features = states_of(8, patterns, runs), np.full(8, -1, dtype=np.int32)
    kept, kept_feature = states_of(tracks + 8, patterns, runs), np.full(tracks + 8, -1, dtype=np.int32)
    kept_begun = stored_room(tracks + 8, 64, saved.begun.runs.shape[1])
    kept_at = np.zeros(tracks + 1, dtype=np.int64)
    near_row = np.empty(8, dtype=np.int64)
    for track in range(tracks):
        first, end = first_of[track], first_of[track + 1]
        active = max(saved.rows_at[track + 1] - saved.rows_at[track], 1)
        working, features, near_row = room(working, features, near_row, active)
        queues = queues_with_room(queues, active, resting(saved, track))
        scratch = fresh_family_scratch(runs, queues)
        take_up(saved, track, working, features, queues)
        skipping, skipped, likes = False, 0, 0
        for event in range(first, end):
            far = arrive(event, FAR, times[event], working)
            like = (
                event > first
                and not gap_level(tables, far.gap)
                and like_the_last(event, far_words, near_at, near_feature, near_words)
            )
            likes = likes + 1 if like else 1
            if like and skipping:
                skipped += 1
                continue
            if skipped:
                catch_up(
                    tables, working, active, near_row, far_words, near_words, times, event - 1, far.position - 1,
                    skipped, scratch,
                )  # fmt: skip
            skipping, skipped = False, 0
            most = active + near_at[event + 1] - near_at[event]
            if most > len(features):  # arrays are handed over only when they grow: it costs as much as an event
                working, features, near_row = room(working, features, near_row, most)
            needed = starts_needed(queues, active, most)
            if most > len(queues.head) or needed > queues.free[1]:
                queues = queues_with_room(queues, most, needed)
                scratch = fresh_family_scratch(runs, queues)
            if found.rows.size[0] + 2 * patterns * most > len(found.feature):
                found = with_rows(found, 2 * patterns * most)
            if not classes_of(tables, far_words, event, far_columns):
                return saved, found, IMPOSSIBLE_EVENT, event
            known, found_before = active, found.rows.size[0]
            active = meet(
                tables, near_feature, near_words, near_at[event], near_at[event + 1],
                idle_far(tables, far_columns, working), active, working, features, near_row, queues,
            )  # fmt: skip
            outcome = step_all(
                tables, far, active, near_row, near_words, far_columns, near_columns, working, features, found, scratch
            )
            if outcome & (MATCHED_FAR | IMPOSSIBLE_NEAR):
                return saved, found, FAR_MATCH if outcome & MATCHED_FAR else IMPOSSIBLE_EVENT, event
            left = without_far_ones(working, features, queues, active)
            skipping = (
                like
                and outcome == 0
                and left == active == known
                and found.rows.size[0] == found_before
                and may_skip(tables, working, active, near_row, far_columns, near_words, likes)
            )
            active = left
        if skipped:
            catch_up(
                tables, working, active, near_row, far_words, near_words, times, end - 1, working.seen[FAR], skipped,
                scratch,
            )  # fmt: skip
        kept, kept_feature = kept_with_room(kept, kept_feature, kept_at[track] + active)
        kept_begun = stored_with_room(
            kept_begun, kept_at[track], kept_at[track] + active,
            kept_begun.rows_at[kept_at[track]] + all_starts(queues, active),
        )  # fmt: skip
        keep(working, features, active, queues, kept, kept_feature, kept_begun, kept_at[track])
        kept_at[track + 1] = kept_at[track] + active
    return FamilyStates(kept_at, kept_feature, kept, filled_part(kept_begun, kept_at[tracks])), found, FINE, 0
