"""Every start that a window still allows, in order: what the earliest start of a match is found from.

Without a window the earliest start of each run state is enough. Under one it may expire while a later one in the same
state goes on, so all of them are kept. The runs of one start stand in a set of run states; neighbouring starts whose
runs stand in the same set share it (a group) and are stepped as one. So an event costs as much as there are groups,
however long the window is, and a start that expires or leads nowhere is given back at once.
"""

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from foresail.patterns.recognition.arrays import compiled, copy_part, copy_row, fill_row, same_row
from foresail.patterns.recognition.rows import Moment
from foresail.patterns.recognition.tables import Tables
from foresail.patterns.recognition.track_state import NEVER_BEGUN, UNMARKED, TrackStates
from foresail.patterns.recognition.window import expired

NONE = -1
_SPARE = 0
"""The node in which the run states of a group are stepped; it is in no queue."""
_FIRST, _LEFT = 0, 1
_DEAD, _ALIVE, _MATCHES = 0, 1, 2


class Queues(NamedTuple):
    """The starts of each row (a track, or a run of a family) and pattern, as linked nodes of one pool."""

    head: NDArray[np.int32]
    tail: NDArray[np.int32]
    free: NDArray[np.int64]
    """The first node that is free, and how many are."""
    time: NDArray[np.int64]
    index: NDArray[np.int64]
    next: NDArray[np.int32]
    last: NDArray[np.int32]
    """Said of a group at its first start, as the fields below: its last start."""
    many: NDArray[np.int32]
    skip: NDArray[np.int32]
    """The first start of the next group."""
    runs: NDArray[np.uint64]
    """The run states in which its runs stand, a bit for each."""


@njit(cache=True)
def fresh_queues(rows: int, patterns: int, words: int, capacity: int) -> Queues:
    """Empty queues, with room for `capacity` starts."""
    nodes = capacity + 1
    return Queues(
        np.full((rows, patterns), NONE, dtype=np.int32),
        np.full((rows, patterns), NONE, dtype=np.int32),
        np.array([1 if capacity else NONE, capacity], dtype=np.int64),
        np.zeros(nodes, dtype=np.int64),
        np.zeros(nodes, dtype=np.int64),
        np.append(np.arange(1, nodes), NONE).astype(np.int32),
        np.zeros(nodes, dtype=np.int32),
        np.zeros(nodes, dtype=np.int32),
        np.zeros(nodes, dtype=np.int32),
        np.zeros((nodes, words), dtype=np.uint64),
    )


@njit(cache=True)
def queues_with_room(some: Queues, rows: int, starts: int) -> Queues:
    """The same queues, for at least `rows` rows and with room for `starts` more starts."""
    if rows <= len(some.head) and starts <= some.free[_LEFT]:
        return some
    nodes = len(some.time)
    wider = fresh_queues(max(len(some.head), rows), some.head.shape[1], some.runs.shape[1], 2 * (nodes + starts))
    for row in range(len(some.head)):
        copy_row(some.head, row, wider.head, row)
        copy_row(some.tail, row, wider.tail, row)
    copy_part(some.time, 0, nodes, wider.time, 0)
    copy_part(some.index, 0, nodes, wider.index, 0)
    copy_part(some.next, 0, nodes, wider.next, 0)
    copy_part(some.last, 0, nodes, wider.last, 0)
    copy_part(some.many, 0, nodes, wider.many, 0)
    copy_part(some.skip, 0, nodes, wider.skip, 0)
    for node in range(nodes):
        copy_row(some.runs, node, wider.runs, node)
    # the nodes that were free come behind the new ones
    wider.next[len(wider.next) - 1] = some.free[_FIRST]
    wider.free[_FIRST], wider.free[_LEFT] = nodes, len(wider.time) - nodes + some.free[_LEFT]
    return wider


@compiled
def append_start(
    some: Queues, row: int, pattern: int, group: int, time: int, index: int, runs: NDArray[np.uint64], at: int
) -> int:
    """Put a start whose runs stand where `runs[at]` says behind all others; the last group, which was `group`."""
    node = some.free[_FIRST]
    some.free[_FIRST] = some.next[node]
    some.free[_LEFT] -= 1
    some.time[node], some.index[node] = time, index
    some.next[node], some.last[node], some.many[node], some.skip[node] = NONE, node, 1, NONE
    copy_row(runs, at, some.runs, node)
    some.tail[row, pattern] = node
    if group == NONE:
        some.head[row, pattern] = node
        return node
    some.next[some.last[group]] = node
    some.skip[group] = node
    return joined_groups(some, group, node)


@compiled
def joined_groups(some: Queues, group: int, following: int) -> int:
    """Take the group behind `group` into it where their runs stand alike; the last of the groups that are left."""
    if not same_row(some.runs, group, some.runs, following):
        return following
    some.last[group] = some.last[following]
    some.many[group] += some.many[following]
    some.skip[group] = some.skip[following]
    return group


@compiled
def drop_first(some: Queues, row: int, pattern: int) -> None:
    """Give back the earliest start."""
    node = some.head[row, pattern]
    if some.last[node] == node:
        some.head[row, pattern] = some.skip[node]
    else:
        heir = some.next[node]
        some.last[heir], some.many[heir], some.skip[heir] = some.last[node], some.many[node] - 1, some.skip[node]
        copy_row(some.runs, node, some.runs, heir)
        some.head[row, pattern] = heir
    if some.head[row, pattern] == NONE:
        some.tail[row, pattern] = NONE
    some.next[node] = some.free[_FIRST]
    some.free[_FIRST] = node
    some.free[_LEFT] += 1


@compiled
def drop_group(some: Queues, row: int, pattern: int, before: int, group: int) -> None:
    """Give back the starts of `group`, which follows the group `before` or is the first."""
    following = some.skip[group]
    if before == NONE:
        some.head[row, pattern] = following
    else:
        some.next[some.last[before]] = following
        some.skip[before] = following
    if following == NONE:
        some.tail[row, pattern] = NONE if before == NONE else some.last[before]
    some.next[some.last[group]] = some.free[_FIRST]
    some.free[_FIRST] = group
    some.free[_LEFT] += some.many[group]


@compiled
def clear_queue(some: Queues, row: int, pattern: int) -> None:
    """Give back all starts."""
    while some.head[row, pattern] != NONE:
        drop_group(some, row, pattern, NONE, some.head[row, pattern])


@compiled
def earliest_start(tables: Tables, pattern: int, column: int, moment: Moment, states: TrackStates, some: Queues) -> int:
    """Step the starts of a windowed pattern; when the earliest began of which a match ends now, or NEVER_BEGUN.

    To be called before the runs are stepped, which tell in `states` who has marked nothing yet.
    """
    row = moment.slot
    window_us, window_events = tables.window_us[pattern], tables.window_events[pattern]
    while some.head[row, pattern] != NONE:
        node = some.head[row, pattern]
        if not expired(window_us, window_events, some.time[node], moment.time, some.index[node], moment.position):
            break
        drop_first(some, row, pattern)
    first, group, node = NEVER_BEGUN, np.int64(NONE), np.int64(some.head[row, pattern])
    while node != NONE:
        following = np.int64(some.skip[node])
        outcome = step_group(tables, pattern, column, some, node)
        if outcome == _DEAD:
            drop_group(some, row, pattern, group, node)
        else:
            if outcome == _MATCHES and first == NEVER_BEGUN:
                first = some.time[node]
            copy_row(some.runs, _SPARE, some.runs, node)
            group = node if group == NONE else joined_groups(some, group, node)
        node = following
    outcome = begin_group(tables, pattern, column, moment, states, some)
    if outcome != _DEAD:
        append_start(some, row, pattern, group, moment.time, moment.position, some.runs, _SPARE)
        if outcome == _MATCHES and first == NEVER_BEGUN:
            first = moment.time
    return first


@compiled
def step_group(tables: Tables, pattern: int, column: int, some: Queues, node: int) -> int:
    """Put into the spare node where the runs of a group lead; what became of them."""
    fill_row(some.runs, _SPARE, 0, some.runs.shape[1], 0)
    outcome = _DEAD
    at = tables.steps_at[pattern] + column
    for step in range(tables.steps[at], tables.steps[at + 1]):
        source = tables.step_source[step]
        if (some.runs[node, source >> 6] >> np.uint64(source & 63)) & np.uint64(1):
            enter(some, tables.step_target[step])
            outcome = max(outcome, _MATCHES if tables.step_final[step] else _ALIVE)
    return outcome


@compiled
def begin_group(tables: Tables, pattern: int, column: int, moment: Moment, states: TrackStates, some: Queues) -> int:
    """Put into the spare node where runs stand that mark this event first; what became of them."""
    fill_row(some.runs, _SPARE, 0, some.runs.shape[1], 0)
    outcome = _DEAD
    at, base = tables.steps_at[pattern] + column, tables.runs_at[pattern]
    for step in range(tables.steps[at], tables.steps[at + 1]):
        source = tables.step_source[step]
        if not tables.step_marked[step]:
            continue
        if source == 0 or states.start_index[moment.slot, base + source] == UNMARKED:
            enter(some, tables.step_target[step])
            outcome = max(outcome, _MATCHES if tables.step_final[step] else _ALIVE)
    return outcome


@compiled
def enter(some: Queues, run: int) -> None:
    """Add a run state to the spare node."""
    some.runs[_SPARE, run >> 6] |= np.uint64(1) << np.uint64(run & 63)


@compiled
def copy_starts(some: Queues, row: int, onto: int) -> None:
    """Make the queues of row `onto`, which are empty, equal to those of `row`; there must be room."""
    for pattern in range(some.head.shape[1]):
        group, first, node = np.int64(NONE), np.int64(NONE), np.int64(some.head[row, pattern])
        while node != NONE:
            if first == NONE or some.skip[first] == node:
                first = node
            group = append_start(some, onto, pattern, group, some.time[node], some.index[node], some.runs, first)
            node = np.int64(some.next[node])


@compiled
def same_starts(some: Queues, one: int, other: int) -> bool:
    """Whether two rows have the same starts, and their runs stand alike."""
    for pattern in range(some.head.shape[1]):
        left, right = np.int64(some.head[one, pattern]), np.int64(some.head[other, pattern])
        while left != NONE:
            if right == NONE or some.many[left] != some.many[right]:
                return False
            if not same_row(some.runs, left, some.runs, right):
                return False
            node, twin = left, right
            for _ in range(some.many[left]):
                if some.index[node] != some.index[twin]:
                    return False
                node, twin = np.int64(some.next[node]), np.int64(some.next[twin])
            left, right = np.int64(some.skip[left]), np.int64(some.skip[right])
        if right != NONE:
            return False
    return True


@compiled
def starts_of(some: Queues, row: int) -> int:
    """How many starts a row has."""
    many = 0
    for pattern in range(some.head.shape[1]):
        group = np.int64(some.head[row, pattern])
        while group != NONE:
            many += some.many[group]
            group = np.int64(some.skip[group])
    return many


@compiled
def move_starts(some: Queues, row: int, onto: int) -> None:
    """Hand the queues of a row over to row `onto`, whose own are empty."""
    for pattern in range(some.head.shape[1]):
        some.head[onto, pattern], some.tail[onto, pattern] = some.head[row, pattern], some.tail[row, pattern]
        some.head[row, pattern], some.tail[row, pattern] = NONE, NONE


@compiled
def clear_starts(some: Queues, row: int) -> None:
    """Give back all starts of a row."""
    for pattern in range(some.head.shape[1]):
        clear_queue(some, row, pattern)
