"""The runs of a pattern under way: where each may have begun, event by event.

A run state holds the latest start of a run in it, which is exact for windows (a later start allows all that an earlier
one does) and tells when a match began.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from patterns.recognition.arrays import fill, fill_row, inlined
from patterns.recognition.rows import Moment
from patterns.recognition.tables import Plan, Tables
from patterns.recognition.track_state import NO_RUN, UNMARKED, TrackStates
from patterns.recognition.window import expired


class Scratch(NamedTuple):
    """Room for the starts of one pattern's runs while they are stepped."""

    index: NDArray[np.int64]
    time: NDArray[np.int64]


def fresh_scratch(plan: Plan) -> Scratch:
    """Room enough for any pattern of `plan`."""
    most = int(np.diff(plan.tables.runs_at).max(initial=1))
    return Scratch(np.empty(most, dtype=np.int64), np.empty(most, dtype=np.int64))


@inlined
def clear_runs(tables: Tables, pattern: int, slot: int, states: TrackStates) -> None:
    """Drop every run of `pattern`."""
    fill_row(states.start_index, slot, tables.runs_at[pattern], tables.runs_at[pattern + 1], NO_RUN)


@inlined
def advance_runs(
    tables: Tables,
    pattern: int,
    column: int,
    moment: Moment,
    states: TrackStates,
    scratch: Scratch,
) -> tuple[int, int]:
    """Step the runs of `pattern` on an event of class `column`; the latest start of a match, or NO_RUN."""
    base = tables.runs_at[pattern]
    count = tables.runs_at[pattern + 1] - base
    window_us, window_events = tables.window_us[pattern], tables.window_events[pattern]
    after, began_after = scratch.index, scratch.time
    fill(after, 0, count, NO_RUN)
    best, best_time = NO_RUN, 0
    at = tables.steps_at[pattern] + column
    for step in range(tables.steps[at], tables.steps[at + 1]):
        source = tables.step_source[step]
        start, began = UNMARKED, 0
        if source != 0:
            start, began = states.start_index[moment.slot, base + source], states.start_time[moment.slot, base + source]
        if start == NO_RUN:
            continue
        if start == UNMARKED:
            if tables.step_marked[step]:
                start, began = moment.position, moment.time
        elif expired(window_us, window_events, began, moment.time, start, moment.position):
            continue
        target = tables.step_target[step]
        if start > after[target]:
            after[target] = start
            began_after[target] = began
        if tables.step_final[step] and start > best:
            best, best_time = start, began
    for run in range(count):
        states.start_index[moment.slot, base + run] = after[run]
        states.start_time[moment.slot, base + run] = began_after[run]
    return best, best_time


@inlined
def since_under_way(
    tables: Tables, pattern: int, state_after: int, moment: Moment, states: TrackStates
) -> tuple[int, int]:
    """Where `pattern` got under way if the automaton tells of a match, or NO_RUN; costs the same at any length."""
    base = tables.runs_at[pattern]
    if states.start_index[moment.slot, base] == NO_RUN:
        states.start_index[moment.slot, base] = moment.position
        states.start_time[moment.slot, base] = moment.time
    if not tables.accepting[tables.states_at[pattern] + state_after]:
        return NO_RUN, 0
    return states.start_index[moment.slot, base], states.start_time[moment.slot, base]
