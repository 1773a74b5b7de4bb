"""The recognition kernel: all `detect` patterns over a batch of events in one pass.

Detection is one look-up in the joint automaton per event. Only patterns that are under way are attended to: their
runs carry the latest start per run state, which is exact for windows (a later start allows all that an earlier one
does) and tells when a match began. Runs of idle patterns need no record: whatever they could still accept, a run
that begins later accepts as well.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from patterns.recognition.arrays import compiled, copy_row, fill, fill_row, inlined, same_row
from patterns.recognition.episodes import end_episode, extend_episode
from patterns.recognition.joint import (
    FULL,
    IMPOSSIBLE,
    SYMBOLS,
    UNKNOWN,
    Joint,
    empty,
    next_number,
    state_number,
    symbol_number,
)
from patterns.recognition.rows import CLOSED, DETECTED, TIMED_OUT, Moment, Rows, write
from patterns.recognition.tables import NEVER, Plan, Tables
from patterns.recognition.track_state import NO_RUN, UNMARKED, TrackStates
from patterns.recognition.window import expired

DONE, ROWS_FULL, BAD_EVENT = 0, 1, 2


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


@inlined
def attend(
    tables: Tables,
    pattern: int,
    column: int,
    state_after: int,
    moment: Moment,
    states: TrackStates,
    rows: Rows,
    scratch: Scratch,
) -> bool:
    """Everything that `pattern`, being under way, does on one event; True when it matched."""
    if tables.max_gap_us[pattern] != NEVER and moment.gap > tables.max_gap_us[pattern]:
        clear_runs(tables, pattern, moment.slot, states)
        end_episode(pattern, TIMED_OUT, moment, states, rows)
    if tables.tracked[pattern]:
        start, began = advance_runs(tables, pattern, column, moment, states, scratch)
    else:
        start, began = since_under_way(tables, pattern, state_after, moment, states)
    if start == NO_RUN:
        end_episode(pattern, CLOSED, moment, states, rows)
    elif tables.episodes[pattern]:
        extend_episode(tables, pattern, start, began, moment, states, rows)
    else:
        write(
            rows, moment, pattern, DETECTED, moment.position, moment.time, start, began, moment.time, moment.tie
        )  # fmt: skip
    if state_after == 0 or (start != NO_RUN and tables.restart[pattern]):
        clear_runs(tables, pattern, moment.slot, states)
    return start != NO_RUN


@inlined
def gap_level(tables: Tables, gap: int) -> int:
    """How many of the distinct `max_gap`s a silence of `gap` exceeds."""
    level = 0
    while level < len(tables.gap_levels) and gap > tables.gap_levels[level]:
        level += 1
    return level


@inlined
def arrive(event: int, slot: int, time: int, states: TrackStates) -> Moment:
    """Take the event into the track's own count and clock."""
    gap = time - states.last_time[slot] if states.seen[slot] else 0
    states.tie[slot] = states.tie[slot] + 1 if states.seen[slot] and gap == 0 else 0
    states.seen[slot] += 1
    states.last_time[slot] = time
    return Moment(event, slot, states.seen[slot], time, states.tie[slot], gap)


@inlined
def attend_active(
    tables: Tables,
    joint: Joint,
    before: int,
    symbol: int,
    after: int,
    moment: Moment,
    states: TrackStates,
    rows: Rows,
    scratch: Scratch,
) -> int:
    """Attend to the patterns under way before or after the event; the joint state, in which a restart may tell."""
    restarts = False
    already = joint.active_count[before]
    for a in range(already + joint.active_count[after]):
        p = joint.active[before, a] if a < already else joint.active[after, a - already]
        if a < already or joint.state[before, p] == 0:
            column, state_after = joint.symbol_class[symbol, p], joint.state[after, p]
            matched = attend(tables, p, column, state_after, moment, states, rows, scratch)
            if matched and tables.restart[p]:
                if not restarts:
                    copy_row(joint.state, after, states.states, moment.slot)
                    restarts = True
                states.states[moment.slot, p] = tables.states_at[p + 1] - tables.states_at[p] - 1
    return entered(joint, states.states, moment.slot) if restarts else after


@compiled
def entered(joint: Joint, states: NDArray[np.int32], row: int) -> int:
    """The number of the joint state in that row; empties a full memo first."""
    number = state_number(joint, states, row)
    if number == FULL:
        empty(joint)
        number = state_number(joint, states, row)
    return number


@compiled
def advance(
    tables: Tables,
    joint: Joint,
    words: NDArray[np.int64],
    times: NDArray[np.int64],
    slots: NDArray[np.int32],
    states: TrackStates,
    rows: Rows,
    scratch: Scratch,
    first: int,
) -> tuple[int, int]:
    """Read events from `first` on, sorted by track and time; where it stopped and why (DONE, ROWS_FULL, BAD_EVENT)."""
    room = len(rows.event) - 2 * len(tables.classes)  # an event can end and begin an episode of each pattern
    current, here = np.int64(-1), np.int64(0)
    symbol, last_level = np.int64(UNKNOWN), 0
    for event in range(first, len(times)):
        slot = np.int64(slots[event])
        if slot != current:
            if current >= 0:
                copy_row(joint.state, here, states.states, current)
            here = entered(joint, states.states, slot)
            current, symbol = slot, np.int64(UNKNOWN)
        if rows.size[0] > room:
            copy_row(joint.state, here, states.states, current)
            return event, ROWS_FULL
        moment = arrive(event, slot, times[event], states)
        level = gap_level(tables, moment.gap)
        # Neighbouring events mostly look alike: comparing them is cheaper than looking the symbol up.
        if symbol < 0 or level or last_level or not same_row(words, event, words, event - 1):
            symbol = np.int64(symbol_number(joint, tables, words, event, level))
        last_level = level
        if symbol == IMPOSSIBLE:
            return event, BAD_EVENT
        after = np.int64(joint.step[here, symbol]) if symbol != FULL else np.int64(FULL)
        if after == UNKNOWN:
            after = next_number(joint, tables, here, symbol)
        if after == FULL:
            copy_row(joint.state, here, states.states, slot)
            empty(joint)
            here = state_number(joint, states.states, slot)
            symbol = np.int64(symbol_number(joint, tables, words, event, level))
            after = next_number(joint, tables, here, symbol)
        if joint.active_count[here] or joint.active_count[after]:
            known = joint.sizes[SYMBOLS]
            after = attend_active(tables, joint, here, symbol, after, moment, states, rows, scratch)
            if joint.sizes[SYMBOLS] < known:
                symbol = np.int64(UNKNOWN)  # a restart has emptied the memo
        here = after
    if current >= 0:
        copy_row(joint.state, here, states.states, current)
    return len(times), DONE
