"""The recognition kernel: all `detect` patterns over a batch of events in one pass.

Detection is one look-up in the joint automaton per event. Only patterns that are under way are attended to, and not on
stretches of like events on which nothing new can come of it. Runs of idle patterns need no record: whatever they
could still accept, a run that begins later accepts as well.
"""

import numpy as np
from numpy.typing import NDArray

from foresail.patterns.recognition.arrays import compiled, copy_row, inlined, same_row
from foresail.patterns.recognition.episodes import end_episode, extend_episode
from foresail.patterns.recognition.joint import (
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
from foresail.patterns.recognition.rows import CLOSED, DETECTED, TIMED_OUT, Moment, Rows, write
from foresail.patterns.recognition.runs import Scratch, advance_runs, clear_runs, since_under_way
from foresail.patterns.recognition.stable_stretches import catch_up, may_skip, skip_stable
from foresail.patterns.recognition.tables import NEVER, Tables
from foresail.patterns.recognition.track_state import NO_RUN, TrackStates

DONE, ROWS_FULL, BAD_EVENT = 0, 1, 2
"""ROWS_FULL: there is no room for what the next event may find, or for the starts that it may bring."""


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
        clear_runs(tables, pattern, moment.slot, states, scratch.queues)
        end_episode(pattern, TIMED_OUT, moment, states, rows)
    if tables.tracked[pattern]:
        start, began, first = advance_runs(tables, pattern, column, moment, states, scratch)
    else:
        start, began, first = since_under_way(tables, pattern, state_after, moment, states)
    if start == NO_RUN:
        end_episode(pattern, CLOSED, moment, states, rows)
    elif tables.episodes[pattern]:
        extend_episode(tables, pattern, start, began, first, moment, states, rows)
    else:
        write(
            rows, moment, pattern, DETECTED, moment.position, moment.time, start, began, first, moment.time, moment.tie
        )  # fmt: skip
    if state_after == 0 or (start != NO_RUN and tables.restart[pattern]):
        clear_runs(tables, pattern, moment.slot, states, scratch.queues)
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


@inlined
def is_full(tables: Tables, rows: Rows, scratch: Scratch) -> bool:
    """Whether one more event may not fit: it can end and begin an episode of each pattern, and bring each a start."""
    patterns = len(tables.classes)
    return rows.size[0] + 2 * patterns > len(rows.event) or scratch.queues.free[1] < patterns


@compiled
def emptied(joint: Joint, here: int, states: TrackStates, slot: int) -> int:
    """The number of the track's joint state in the memo begun anew."""
    copy_row(joint.state, here, states.states, slot)
    empty(joint)
    return state_number(joint, states.states, slot)


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
    current, here, symbol = np.int64(-1), np.int64(0), np.int64(UNKNOWN)
    skipping, skipped, likes, last_level = False, 0, 0, 0
    for event in range(first, len(times)):
        slot = np.int64(slots[event])
        full = is_full(tables, rows, scratch)
        if skipped and (slot != current or full):
            catch_up(
                tables, joint, here, symbol, event - 1, states.seen[current], current, skipped, times, states, scratch
            )
            skipped = 0
        if slot != current:
            if current >= 0:
                copy_row(joint.state, here, states.states, current)
            here = entered(joint, states.states, slot)
            current, symbol = slot, np.int64(UNKNOWN)
        if full:
            copy_row(joint.state, here, states.states, current)
            return event, ROWS_FULL
        moment = arrive(event, slot, times[event], states)
        level = gap_level(tables, moment.gap)
        # Neighbouring events mostly look alike: comparing them is cheaper than looking the symbol up.
        alike = symbol >= 0 and not level and not last_level and same_row(words, event, words, event - 1)
        likes = likes + 1 if alike else 1
        if skipping and alike:
            skip_stable(tables, joint, here, moment, states, rows)
            skipped += 1
            continue
        if skipped:
            catch_up(tables, joint, here, symbol, event - 1, moment.position - 1, slot, skipped, times, states, scratch)
        skipping, skipped = False, 0
        if not alike:
            symbol = np.int64(symbol_number(joint, tables, words, event, level))
        last_level = level
        if symbol == IMPOSSIBLE:
            return event, BAD_EVENT
        after = np.int64(joint.step[here, symbol]) if symbol != FULL else np.int64(FULL)
        if after == UNKNOWN:
            after = next_number(joint, tables, here, symbol)
        if after == FULL:
            here = emptied(joint, here, states, slot)
            symbol = np.int64(symbol_number(joint, tables, words, event, level))
            after = next_number(joint, tables, here, symbol)
        stays = alike and after == here
        if joint.active_count[here] or joint.active_count[after]:
            known = joint.sizes[SYMBOLS]
            after = attend_active(tables, joint, here, symbol, after, moment, states, rows, scratch)
            if joint.sizes[SYMBOLS] < known:
                symbol = np.int64(UNKNOWN)  # a restart has emptied the memo
            else:
                skipping = stays and may_skip(tables, joint, after, symbol, slot, likes, states)
        here = after
    if skipped:
        catch_up(
            tables, joint, here, symbol, len(times) - 1, states.seen[current], current, skipped, times, states, scratch
        )
    if current >= 0:
        copy_row(joint.state, here, states.states, current)
    return len(times), DONE
