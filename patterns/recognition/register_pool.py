"""The configurations of a pattern with registers while a track is read: merged where their future is the same.

A group is what one set of marked events leads to. Where each set comes about in one way a group is one configuration
(state and registers); where it may come about in several, all of them make up the group, so that a set is one set.
Groups with the same beginning and the same configurations are one; registers that are not read any more do not tell
them apart, and what those hold is of the run that kept the latest events.
"""

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from foresail.patterns.recognition.arrays import compiled, copy_part, copy_row
from foresail.patterns.recognition.joint import mixed
from foresail.patterns.recognition.register_graph import NOTHING, UNION, Graph, node_added
from foresail.patterns.recognition.register_program import EMPTY
from foresail.patterns.recognition.register_state import UNSTARTED

MOST_SETS = np.iinfo(np.int64).max // 4
"""Counts stop here instead of overflowing; so many sets can never be listed."""
GROUPS, CONFIGURATIONS = 0, 1
_KEPT_OF_MOST = 0.75
"""How many of the most configurations are left when too many are given up."""


class Pool(NamedTuple):
    """Groups and their configurations; group g has those from `first[g]` up to the next group's, all in order."""

    size: NDArray[np.int64]
    start_index: NDArray[np.int64]
    start_time: NDArray[np.int64]
    first: NDArray[np.int64]
    """One more than there are groups: the last is the end."""
    sets: NDArray[np.int64]
    node: NDArray[np.int64]
    state: NDArray[np.int32]
    registers: NDArray[np.int64]


class Slots(NamedTuple):
    """A hash table of the groups of one event; what bears another stamp is empty."""

    stamp: NDArray[np.int64]
    group: NDArray[np.int64]


@njit(cache=True)
def fresh_pool(groups: int, configurations: int, registers: int) -> Pool:
    """Room for so many."""
    return Pool(
        np.zeros(2, dtype=np.int64),
        np.empty(groups, dtype=np.int64),
        np.empty(groups, dtype=np.int64),
        np.zeros(groups + 1, dtype=np.int64),
        np.empty(groups, dtype=np.int64),
        np.empty(groups, dtype=np.int64),
        np.empty(configurations, dtype=np.int32),
        np.empty((configurations, registers), dtype=np.int64),
    )


@njit(cache=True)
def pool_with_room(pool: Pool, groups: int, configurations: int) -> Pool:
    """The same groups, with room for so many more."""
    many, filled = pool.size[GROUPS], pool.size[CONFIGURATIONS]
    if many + groups <= len(pool.sets) and filled + configurations <= len(pool.state):
        return pool
    wider = fresh_pool(2 * (many + groups), 2 * (filled + configurations), pool.registers.shape[1])
    wider.size[GROUPS], wider.size[CONFIGURATIONS] = many, filled
    copy_part(pool.start_index, 0, many, wider.start_index, 0)
    copy_part(pool.start_time, 0, many, wider.start_time, 0)
    copy_part(pool.first, 0, many + 1, wider.first, 0)
    copy_part(pool.sets, 0, many, wider.sets, 0)
    copy_part(pool.node, 0, many, wider.node, 0)
    copy_part(pool.state, 0, filled, wider.state, 0)
    for c in range(filled):
        copy_row(pool.registers, c, wider.registers, c)
    return wider


@njit(cache=True)
def slots_for(slots: Slots, groups: int) -> Slots:
    """A table in which so many groups are found quickly."""
    if len(slots.stamp) >= 2 * groups:
        return slots
    size = 64
    while size < 4 * groups:
        size *= 2
    return Slots(np.zeros(size, dtype=np.int64), np.zeros(size, dtype=np.int64))


@compiled
def begin_anew(pool: Pool) -> None:
    """Only the group of a match that has not begun, in the start state with empty registers."""
    pool.size[GROUPS], pool.size[CONFIGURATIONS] = 1, 1
    pool.start_index[0], pool.start_time[0], pool.sets[0], pool.node[0] = UNSTARTED, 0, 1, NOTHING
    pool.first[0], pool.first[1] = 0, 1
    add_idle(pool, 0)


@compiled
def add_idle(pool: Pool, at: int) -> None:
    """The configuration in which nothing has been read."""
    pool.state[at] = 0
    for r in range(pool.registers.shape[1]):
        pool.registers[at, r] = EMPTY


@compiled
def order_of(pool: Pool, one: int, other: int) -> int:
    """-1, 0 or 1 by state, then by what registers hold: later events come behind."""
    if pool.state[one] != pool.state[other]:
        return -1 if pool.state[one] < pool.state[other] else 1
    return register_order(pool.registers, one, pool.registers, other)


@compiled
def register_order(left: NDArray[np.int64], one: int, right: NDArray[np.int64], other: int) -> int:
    """The same of two rows of registers."""
    for r in range(left.shape[1]):
        if left[one, r] != right[other, r]:
            return -1 if left[one, r] < right[other, r] else 1
    return 0


@compiled
def sort_last(pool: Pool, first: int) -> None:
    """Bring the configurations from `first` on in order, each once."""
    end = pool.size[CONFIGURATIONS]
    for c in range(first + 1, end):
        at = c
        while at > first and order_of(pool, at - 1, at) > 0:
            exchange(pool, at - 1, at)
            at -= 1
    kept = first
    for c in range(first, end):
        if c == first or order_of(pool, kept - 1, c) != 0:
            if kept != c:
                pool.state[kept] = pool.state[c]
                copy_row(pool.registers, c, pool.registers, kept)
            kept += 1
    pool.size[CONFIGURATIONS] = kept


@compiled
def exchange(pool: Pool, one: int, other: int) -> None:
    """Two configurations in each other's places."""
    pool.state[one], pool.state[other] = pool.state[other], pool.state[one]
    for r in range(pool.registers.shape[1]):
        left, right = pool.registers[one, r], pool.registers[other, r]
        pool.registers[one, r], pool.registers[other, r] = right, left


@compiled
def same_future(live: NDArray[np.int64], pool: Pool, one: int, other: int) -> bool:
    """Whether two configurations differ at most in registers that nothing reads any more."""
    if pool.state[one] != pool.state[other]:
        return False
    mask = live[pool.state[one]]
    for r in range(pool.registers.shape[1]):
        if mask >> r & 1 and pool.registers[one, r] != pool.registers[other, r]:
            return False
    return True


@compiled
def settle(
    live: NDArray[np.int64],
    pool: Pool,
    first: int,
    start: int,
    began: int,
    sets: int,
    node: int,
    graph: Graph,
    slots: Slots,
    stamp: int,
) -> None:
    """Make a group of the configurations from `first` on; one that is there already takes it in."""
    end = pool.size[CONFIGURATIONS]
    key = np.uint64(start)
    for c in range(first, end):
        key = mixed(key, pool.state[c])
        mask = live[pool.state[c]]
        for r in range(pool.registers.shape[1]):
            if mask >> r & 1:
                key = mixed(key, pool.registers[c, r])
    last_slot = len(slots.stamp) - 1
    slot = np.int64(key) & last_slot
    while slots.stamp[slot] == stamp:
        group = slots.group[slot]
        if pool.start_index[group] == start and same_group(live, pool, group, first, end):
            take_in(pool, group, first, end, start, sets, node, graph)
            pool.size[CONFIGURATIONS] = first
            return
        slot = (slot + 1) & last_slot
    group = pool.size[GROUPS]
    slots.stamp[slot], slots.group[slot] = stamp, group
    pool.start_index[group], pool.start_time[group] = start, began
    pool.sets[group], pool.node[group] = sets, node
    pool.first[group], pool.first[group + 1] = first, end
    pool.size[GROUPS] = group + 1


@compiled
def same_group(live: NDArray[np.int64], pool: Pool, group: int, first: int, end: int) -> bool:
    """Whether a group has the configurations from `first` up to `end`."""
    begin = pool.first[group]
    if pool.first[group + 1] - begin != end - first:
        return False
    for c in range(end - first):  # noqa: SIM110 - a loop is what numba compiles best
        if not same_future(live, pool, begin + c, first + c):
            return False
    return True


@compiled
def take_in(pool: Pool, group: int, first: int, end: int, start: int, sets: int, node: int, graph: Graph) -> None:
    """The sets that lead to the configurations from `first` on lead to those of a group."""
    begin = pool.first[group]
    for c in range(end - first):
        if register_order(pool.registers, begin + c, pool.registers, first + c) < 0:
            copy_row(pool.registers, first + c, pool.registers, begin + c)
    if start == UNSTARTED:
        return  # the empty set, which is one however it came about
    pool.sets[group] = min(pool.sets[group] + sets, MOST_SETS)
    if node != NOTHING and pool.node[group] != NOTHING:
        pool.node[group] = node_added(graph, UNION, 0, 0, pool.node[group], node)


@njit(cache=True)
def give_up_oldest(pool: Pool, ages: NDArray[np.int64], most: int) -> int:
    """Keep the configurations that began last; how many are given up. `ages` grow with the time of beginning."""
    filled = pool.size[CONFIGURATIONS]
    left = np.int64(most * _KEPT_OF_MOST)
    bound = np.sort(ages[:filled])[filled - left]
    groups, at, above = 0, 0, 0
    for c in range(filled):
        above += ages[c] > bound
    ties = left - above
    many = pool.size[GROUPS]
    for group in range(many):
        begin, end = pool.first[group], pool.first[group + 1]
        kept = at
        for c in range(begin, end):
            keep = ages[c] > bound
            if not keep and ages[c] == bound and ties > 0:
                keep = True
                ties -= 1
            if keep:
                pool.state[at] = pool.state[c]
                copy_row(pool.registers, c, pool.registers, at)
                at += 1
        if at > kept or group == 0:
            pool.start_index[groups], pool.start_time[groups] = pool.start_index[group], pool.start_time[group]
            pool.sets[groups], pool.node[groups] = pool.sets[group], pool.node[group]
            pool.first[groups] = kept
            groups += 1
    pool.first[groups] = at
    pool.size[GROUPS], pool.size[CONFIGURATIONS] = groups, at
    return filled - at
