"""Runs at rest and at work: the configurations of a track as they are kept between batches, and as they are stepped."""

import numpy as np
from numba import njit
from numpy.typing import NDArray

from foresail.patterns.recognition.arrays import compiled, copy_part, copy_row
from foresail.patterns.recognition.register_emission import Now, index_of, time_of
from foresail.patterns.recognition.register_graph import Graph, fresh_register_graph, graph_with_room, node_added
from foresail.patterns.recognition.register_pool import CONFIGURATIONS, GROUPS, Pool, begin_anew, pool_with_room
from foresail.patterns.recognition.register_program import EMPTY, Values
from foresail.patterns.recognition.register_state import (
    Configurations,
    Groups,
    Held,
    Links,
    PatternMemory,
)

_UNUSED, _USED = 0, 1


@njit(cache=True)
def loaded_pool(memory: PatternMemory, key: int, pool: Pool) -> Pool:
    """The groups of a key; registers count the remembered events back from their end."""
    first, end = memory.groups.at[key], memory.groups.at[key + 1]
    begin, stop = memory.configurations.at[key], memory.configurations.at[key + 1]
    pool.size[GROUPS], pool.size[CONFIGURATIONS] = 0, 0
    pool = pool_with_room(pool, end - first + 1, stop - begin + 1)
    if first == end:
        begin_anew(pool)
        return pool
    many = end - first
    copy_part(memory.groups.start_index, first, end, pool.start_index, 0)
    copy_part(memory.groups.start_time, first, end, pool.start_time, 0)
    copy_part(memory.groups.sets, first, end, pool.sets, 0)
    copy_part(memory.groups.node, first, end, pool.node, 0)
    for group in range(many):
        pool.first[group + 1] = pool.first[group] + memory.groups.size[first + group]
    copy_part(memory.configurations.state, begin, stop, pool.state, 0)
    for c in range(stop - begin):
        copy_row(memory.configurations.registers, begin + c, pool.registers, c)
    pool.size[GROUPS], pool.size[CONFIGURATIONS] = many, stop - begin
    return pool


@njit(cache=True)
def loaded_graph(memory: PatternMemory, key: int) -> Graph:
    """The nodes of a key as a graph of their own."""
    first, end = memory.links.at[key], memory.links.at[key + 1]
    graph = fresh_register_graph(end - first + 16)
    for n in range(first, end):
        node_added(
            graph, memory.links.position[n], memory.links.time[n], memory.links.writes[n], memory.links.left[n],
            memory.links.right[n],
        )  # fmt: skip
    return graph


@njit(cache=True)
def fresh_held(keys: int, like: Held) -> Held:
    """No events of so many keys are remembered yet."""
    return Held(
        np.zeros(keys + 1, dtype=np.int64),
        np.empty(0, dtype=np.int64),
        np.empty(0, dtype=np.int64),
        np.empty((0, like.numbers.shape[1]), dtype=np.float64),
        np.empty((0, like.longs.shape[1]), dtype=np.int64),
    )


@njit(cache=True)
def held_with_room(held: Held, filled: int, more: int) -> Held:
    """The same remembered events, with room for more."""
    if filled + more <= len(held.place):
        return held
    size = 2 * (filled + more)
    wider = Held(
        held.at,
        np.empty(size, dtype=np.int64),
        np.empty(size, dtype=np.int64),
        np.empty((size, held.numbers.shape[1]), dtype=np.float64),
        np.empty((size, held.longs.shape[1]), dtype=np.int64),
    )
    copy_part(held.place, 0, filled, wider.place, 0)
    copy_part(held.time, 0, filled, wider.time, 0)
    for row in range(filled):
        copy_row(held.numbers, row, wider.numbers, row)
        copy_row(held.longs, row, wider.longs, row)
    return wider


@njit(cache=True)
def remembered(
    held: Held, old: Held, pool: Pool, now: Now, last: int, times: NDArray[np.int64], values: Values
) -> Held:
    """`held` with the events behind it that the registers of `pool` hold, which then count back from their end."""
    known = now.end - old.at[last]
    used = np.zeros(known + now.event - now.first, dtype=np.int64)
    for c in range(pool.size[CONFIGURATIONS]):
        for r in range(pool.registers.shape[1]):
            code = pool.registers[c, r]
            if code != EMPTY:
                used[known + (code - now.first if code >= 0 else code)] = _USED
    many, at = 0, held.at[last]
    for place in range(len(used)):
        many += used[place] != _UNUSED
    held = held_with_room(held, at, many)
    number = 0
    for place in range(len(used)):
        if used[place] != _UNUSED:
            code = place - known if place < known else now.first + place - known
            keep_event(held, at + number, old, code, now, times, values)
            used[place] = number - many
            number += 1
        else:
            used[place] = EMPTY
    for c in range(pool.size[CONFIGURATIONS]):
        for r in range(pool.registers.shape[1]):
            code = pool.registers[c, r]
            if code != EMPTY:
                pool.registers[c, r] = used[known + (code - now.first if code >= 0 else code)]
    held.at[last + 1] = at + many
    return held


@compiled
def keep_event(held: Held, at: int, old: Held, code: int, now: Now, times: NDArray[np.int64], values: Values) -> None:
    """Write the event of that code as remembered event `at`."""
    held.place[at], held.time[at] = index_of(now, old, code), time_of(now, old, times, code)
    if code >= 0:
        copy_row(values.numbers, code, held.numbers, at)
        copy_row(values.longs, code, held.longs, at)
    else:
        copy_row(values.old_numbers, now.end + code, held.numbers, at)
        copy_row(values.old_longs, now.end + code, held.longs, at)


@njit(cache=True)
def stored_graph(nodes: Graph, graph: Graph) -> Graph:
    """The nodes with those of one more key behind them."""
    wider = graph_with_room(nodes, graph.size[0])
    for n in range(graph.size[0]):
        node_added(wider, graph.position[n], graph.time[n], graph.writes[n], graph.left[n], graph.right[n])
    return wider


@njit(cache=True)
def stored_pool(stored: Pool, sizes: NDArray[np.int64], pool: Pool, key: int) -> Pool:
    """The groups of `stored` with those of one more key behind them; `sizes` tells where each key's end."""
    many, filled = pool.size[GROUPS], pool.size[CONFIGURATIONS]
    if many > 1 or filled > 1:
        stored = pool_with_room(stored, many, filled)
        at, begin = stored.size[GROUPS], stored.size[CONFIGURATIONS]
        copy_part(pool.start_index, 0, many, stored.start_index, at)
        copy_part(pool.start_time, 0, many, stored.start_time, at)
        copy_part(pool.sets, 0, many, stored.sets, at)
        copy_part(pool.node, 0, many, stored.node, at)
        for group in range(many):
            stored.first[at + group + 1] = begin + pool.first[group + 1]
        copy_part(pool.state, 0, filled, stored.state, begin)
        for c in range(filled):
            copy_row(pool.registers, c, stored.registers, begin + c)
        stored.size[GROUPS], stored.size[CONFIGURATIONS] = at + many, begin + filled
    sizes[key + 1, GROUPS], sizes[key + 1, CONFIGURATIONS] = stored.size[GROUPS], stored.size[CONFIGURATIONS]
    return stored


@njit(cache=True)
def stored(
    memory: PatternMemory, held: Held, kept: Pool, sizes: NDArray[np.int64], nodes: Graph, nodes_at: NDArray[np.int64]
) -> PatternMemory:
    """All of it as plain arrays without room to spare."""
    many, filled, events = kept.size[GROUPS], kept.size[CONFIGURATIONS], held.at[-1]
    counts = np.empty(many, dtype=np.int32)
    for group in range(many):
        counts[group] = kept.first[group + 1] - kept.first[group]
    return PatternMemory(
        Held(
            held.at, held.place[:events].copy(), held.time[:events].copy(), held.numbers[:events].copy(),
            held.longs[:events].copy(),
        ),
        Groups(
            sizes[:, GROUPS].copy(), kept.start_index[:many].copy(), kept.start_time[:many].copy(), counts,
            kept.sets[:many].copy(), kept.node[:many].copy(),
        ),
        Configurations(
            sizes[:, CONFIGURATIONS].copy(), kept.state[:filled].copy(), kept.registers[:filled].copy()
        ),
        Links(
            nodes_at, nodes.position[: nodes.size[0]].copy(), nodes.time[: nodes.size[0]].copy(),
            nodes.writes[: nodes.size[0]].copy(), nodes.left[: nodes.size[0]].copy(),
            nodes.right[: nodes.size[0]].copy(),
        ),
        memory.episode,
        memory.omitted,
    )  # fmt: skip
