"""The runs of a pattern under way: where each may have begun, event by event.

A run state holds the latest start of a run in it, which is exact for windows (a later start allows all that an earlier
one does) and tells when a match began; and the earliest, which tells since when all that led to the match goes on.
Under a window the earliest ones are found in a queue (`queues`).
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from foresail.patterns.recognition.arrays import fill, fill_row, inlined
from foresail.patterns.recognition.queues import Queues, clear_queue, earliest_start, fresh_queues
from foresail.patterns.recognition.rows import Moment
from foresail.patterns.recognition.starts import run_words
from foresail.patterns.recognition.tables import Plan, Tables
from foresail.patterns.recognition.track_state import NEVER_BEGUN, NO_RUN, UNMARKED, TrackStates
from foresail.patterns.recognition.window import expired


class Scratch(NamedTuple):
    """What the kernels work in: room for the starts of one pattern's runs while they are stepped, and the queues."""

    index: NDArray[np.int64]
    time: NDArray[np.int64]
    first: NDArray[np.int64]
    queues: Queues


def fresh_scratch(plan: Plan) -> Scratch:
    """Room enough for any pattern of `plan`; without queues."""
    most = int(np.diff(plan.tables.runs_at).max(initial=1))
    index, time, first = (np.empty(most, dtype=np.int64) for _ in range(3))
    return Scratch(index, time, first, fresh_queues(0, len(plan.patterns), run_words(plan), 0))


@inlined
def clear_runs(tables: Tables, pattern: int, slot: int, states: TrackStates, queues: Queues) -> None:
    """Drop every run of `pattern`."""
    fill_row(states.start_index, slot, tables.runs_at[pattern], tables.runs_at[pattern + 1], NO_RUN)
    if tables.windowed[pattern]:
        clear_queue(queues, slot, pattern)
    else:
        fill_row(states.first_start_time, slot, tables.runs_at[pattern], tables.runs_at[pattern + 1], NEVER_BEGUN)


@inlined
def advance_runs(
    tables: Tables,
    pattern: int,
    column: int,
    moment: Moment,
    states: TrackStates,
    scratch: Scratch,
) -> tuple[int, int, int]:
    """Step the runs of `pattern` on an event of class `column`.

    The latest start of a match and its time, or NO_RUN, and the time of the earliest.
    """
    base = tables.runs_at[pattern]
    count = tables.runs_at[pattern + 1] - base
    window_us, window_events = tables.window_us[pattern], tables.window_events[pattern]
    after, began_after, first_after = scratch.index, scratch.time, scratch.first
    fill(after, 0, count, NO_RUN)
    fill(first_after, 0, count, NEVER_BEGUN)
    best, best_time, earliest = NO_RUN, 0, NEVER_BEGUN
    windowed = tables.windowed[pattern]
    if windowed:
        earliest = earliest_start(tables, pattern, column, moment, states, scratch.queues)
    at = tables.steps_at[pattern] + column
    for step in range(tables.steps[at], tables.steps[at + 1]):
        source = tables.step_source[step]
        start, began, first = UNMARKED, 0, NEVER_BEGUN
        if source != 0:
            start, began = states.start_index[moment.slot, base + source], states.start_time[moment.slot, base + source]
            first = states.first_start_time[moment.slot, base + source]
        if start == NO_RUN:
            continue
        if start == UNMARKED:
            if tables.step_marked[step]:
                start, began = moment.position, moment.time
                first = min(first, moment.time)
        elif expired(window_us, window_events, began, moment.time, start, moment.position):
            continue
        target = tables.step_target[step]
        if start > after[target]:
            after[target] = start
            began_after[target] = began
        first_after[target] = min(first_after[target], first)
        if tables.step_final[step]:
            if start > best:
                best, best_time = start, began
            if not windowed:
                earliest = min(earliest, first)
    for run in range(count):
        states.start_index[moment.slot, base + run] = after[run]
        states.start_time[moment.slot, base + run] = began_after[run]
        states.first_start_time[moment.slot, base + run] = NEVER_BEGUN if windowed else first_after[run]
    return best, best_time, earliest


@inlined
def since_under_way(
    tables: Tables, pattern: int, state_after: int, moment: Moment, states: TrackStates
) -> tuple[int, int, int]:
    """Where `pattern` got under way if the automaton tells of a match, or NO_RUN; costs the same at any length."""
    base = tables.runs_at[pattern]
    if states.start_index[moment.slot, base] == NO_RUN:
        states.start_index[moment.slot, base] = moment.position
        states.start_time[moment.slot, base] = moment.time
    if not tables.accepting[tables.states_at[pattern] + state_after]:
        return NO_RUN, 0, NEVER_BEGUN
    began = states.start_time[moment.slot, base]
    return states.start_index[moment.slot, base], began, began
