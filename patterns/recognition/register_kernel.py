"""The kernel of patterns with registers: one pattern over a batch, track by track, only where an event can matter.

An event whose class changes no state in which a run stands, and on which none can begin, is passed over; otherwise all
configurations are stepped into a second pool, where those with the same future meet.
"""

import numpy as np
from numba import njit
from numpy.typing import NDArray

from foresail.patterns.conditions.relations import MOST_DEPTH
from foresail.patterns.recognition.arrays import compiled, copy_row
from foresail.patterns.recognition.register_emission import (
    COMPLETE,
    Accepted,
    Now,
    accept,
    accepted_for,
    detected_row,
    ended_episode,
    extended_episode,
    fresh_accepted,
    index_of,
    listed_rows,
    take,
    tie_of,
)
from foresail.patterns.recognition.register_graph import (
    NOTHING,
    Graph,
    Paths,
    fresh_paths,
    fresh_register_graph,
    graph_compacted,
    graph_with_room,
    node_added,
)
from foresail.patterns.recognition.register_pool import (
    CONFIGURATIONS,
    GROUPS,
    Pool,
    Slots,
    add_idle,
    begin_anew,
    fresh_pool,
    give_up_oldest,
    pool_with_room,
    settle,
    slots_for,
    sort_last,
)
from foresail.patterns.recognition.register_program import Values, related
from foresail.patterns.recognition.register_rows import RegisterRows, fresh_register_rows
from foresail.patterns.recognition.register_rules import BAD_EVENT, RegisterRules, bits_of, column_of
from foresail.patterns.recognition.register_state import STATUS, UNSTARTED, Held, PatternMemory
from foresail.patterns.recognition.register_store import (
    fresh_held,
    loaded_graph,
    loaded_pool,
    remembered,
    stored,
    stored_graph,
    stored_pool,
)
from foresail.patterns.recognition.rows import CLOSED, TIMED_OUT
from foresail.patterns.recognition.tables import NEVER
from foresail.patterns.recognition.track_state import NO_EPISODE
from foresail.patterns.recognition.window import expired

_COMPACT_ABOVE = 1 << 16
_BOTH = 2


@compiled
def step_into(
    rules: RegisterRules,
    now: Now,
    before: Pool,
    group: int,
    c: int,
    marks: int,
    after: Pool,
    graph: Graph,
    slots: Slots,
    stamp: int,
    values: Values,
    accepted: Accepted,
) -> bool:
    """Append what a configuration becomes by steps that mark (1), that do not (0), or by all; True if one of them ends.

    By all means apart from each other: each becomes a group of its own at once.
    """
    steps = rules.steps
    at = now.column * steps.states + before.state[c]
    known, holds = np.uint64(0), np.uint64(0)
    ends = False
    start, began, node = before.start_index[group], before.start_time[group], before.node[group]
    for s in range(steps.at[at], steps.at[at + 1]):
        if marks != _BOTH and steps.marked[s] != marks:
            continue
        first, code = steps.support_at[s], 0
        for k in range(first, steps.support_at[s + 1]):
            bit = np.uint64(1) << np.uint64(steps.support[k])
            if not known & bit:
                known |= bit
                relation = steps.support[k]
                if related(rules.programs, relation, now.bits, now.event, before.registers, c, now.end, values):
                    holds |= bit
            if holds & bit:
                code |= 1 << (k - first)
        if not steps.truth[steps.truth_at[s] + code]:
            continue
        here = after.size[CONFIGURATIONS]
        after.state[here] = steps.target[s]
        copy_row(before.registers, c, after.registers, here)
        for r in range(after.registers.shape[1]):
            if steps.writes[s] >> r & 1:
                after.registers[here, r] = now.event
        if steps.final[s]:
            ends = True
            take(accepted, after.registers, here)
        if marks != _BOTH:
            after.size[CONFIGURATIONS] = here + steps.leads[steps.target[s]]
            continue
        new_start, new_began, new_node = start, began, node
        if steps.marked[s] and start == UNSTARTED:
            new_start, new_began = now.place, now.time
        if rules.listing and (steps.marked[s] or (steps.writes[s] and start != UNSTARTED)):
            position = now.place if steps.marked[s] else -now.place
            new_node = node_added(graph, position, now.time, steps.writes[s], node, NOTHING)
        if steps.final[s]:
            accept(accepted, new_start, new_began, before.sets[group], new_node)
        if steps.leads[steps.target[s]]:
            after.size[CONFIGURATIONS] = here + 1
            settle(rules.live, after, here, new_start, new_began, before.sets[group], new_node, graph, slots, stamp)
    return ends


@compiled
def step_apart(
    rules: RegisterRules,
    now: Now,
    before: Pool,
    after: Pool,
    graph: Graph,
    slots: Slots,
    stamp: int,
    values: Values,
    accepted: Accepted,
) -> None:
    """Fill `after` with what follows `before`, each configuration on its own."""
    begin_anew(after)
    for group in range(before.size[GROUPS]):
        start = before.start_index[group]
        if start != UNSTARTED and expired(
            rules.window_us, rules.window_events, before.start_time[group], now.time, start, now.place
        ):
            continue
        c = before.first[group]
        step_into(rules, now, before, group, c, _BOTH, after, graph, slots, stamp, values, accepted)


@compiled
def step_group(
    rules: RegisterRules,
    now: Now,
    before: Pool,
    group: int,
    marks: int,
    after: Pool,
    graph: Graph,
    slots: Slots,
    stamp: int,
    values: Values,
    accepted: Accepted,
) -> None:
    """Append the group that one set of marked events leads to, with this event or without it."""
    first, ends = after.size[CONFIGURATIONS], False
    start, began, node = before.start_index[group], before.start_time[group], before.node[group]
    if group == 0 and marks == 0:
        add_idle(after, first)
        after.size[CONFIGURATIONS] = first + 1
    for c in range(before.first[group], before.first[group + 1]):
        if step_into(rules, now, before, group, c, marks, after, graph, slots, stamp, values, accepted):
            ends = True
    if marks == 1:
        if start == UNSTARTED:
            start, began = now.place, now.time
        if rules.listing:
            node = node_added(graph, now.place, now.time, 0, node, NOTHING)
        if ends:
            accept(accepted, start, began, before.sets[group], node)
    if after.size[CONFIGURATIONS] > first:
        sort_last(after, first)
        settle(rules.live, after, first, start, began, before.sets[group], node, graph, slots, stamp)


@compiled
def step_together(
    rules: RegisterRules,
    now: Now,
    before: Pool,
    after: Pool,
    graph: Graph,
    slots: Slots,
    stamp: int,
    values: Values,
    accepted: Accepted,
) -> None:
    """Fill `after` with what follows `before`, a group for each set of marked events."""
    after.size[GROUPS], after.size[CONFIGURATIONS] = 0, 0
    step_group(rules, now, before, 0, 0, after, graph, slots, stamp, values, accepted)
    for group in range(1, before.size[GROUPS]):
        if expired(
            rules.window_us, rules.window_events, before.start_time[group], now.time, before.start_index[group],
            now.place,
        ):  # fmt: skip
            continue
        step_group(rules, now, before, group, 0, after, graph, slots, stamp, values, accepted)
        step_group(rules, now, before, group, 1, after, graph, slots, stamp, values, accepted)
    step_group(rules, now, before, 0, 1, after, graph, slots, stamp, values, accepted)


@compiled
def occupied(pool: Pool) -> int:
    """The states (modulo 64) in which a run stands, but for the one that nothing has been read in."""
    mask = np.uint64(0)
    for c in range(pool.size[CONFIGURATIONS]):
        if pool.state[c] != 0:
            mask |= np.uint64(1) << np.uint64(pool.state[c] & 63)
    return mask


@njit(cache=True)
def ages_of(pool: Pool, now: Now, held: Held) -> NDArray[np.int64]:
    """Per configuration when it began: what is marked first or, before that, the last event that it keeps."""
    ages = np.full(pool.size[CONFIGURATIONS], np.iinfo(np.int64).max, dtype=np.int64)
    for group in range(pool.size[GROUPS]):
        for c in range(pool.first[group], pool.first[group + 1]):
            if pool.start_index[group] != UNSTARTED:
                ages[c] = pool.start_index[group]
            elif pool.state[c] != 0:
                latest = 0
                for r in range(pool.registers.shape[1]):
                    latest = max(latest, index_of(now, held, pool.registers[c, r]))
                ages[c] = latest
    return ages


@njit(cache=True)
def told(
    rules: RegisterRules,
    accepted: Accepted,
    graph: Graph,
    now: Now,
    key: int,
    memory: PatternMemory,
    last_time: int,
    tie: int,
    times: NDArray[np.int64],
    rows: RegisterRows,
    paths: Paths,
) -> tuple[RegisterRows, Paths]:
    """The rows of what ends at an event."""
    same = tie_of(times, now, last_time, tie)
    omitted, tells = memory.omitted[key], True
    if rules.listing:
        rows, paths = listed_rows(
            rows, graph, accepted, rules.together, rules.limit, now, same, omitted, memory.held, times, paths
        )
    elif rules.episodes:
        rows, tells = extended_episode(
            rows, accepted, memory.episode, key, rules.min_dwell_us, rules.updates, now, same, omitted, memory.held,
            times,
        )  # fmt: skip
    else:
        rows = detected_row(rows, accepted, rules.counting, now, same, omitted, memory.held, times)
    if tells:
        memory.omitted[key] = 0
    return rows, paths


@njit(cache=True)
def advance_registers(  # noqa: PLR0915 - one loop over keys and events; calls would pass every array
    rules: RegisterRules,
    words: NDArray[np.int64],
    times: NDArray[np.int64],
    first_of: NDArray[np.int64],
    numbers: NDArray[np.float64],
    longs: NDArray[np.int64],
    seen: NDArray[np.int64],
    last_time: NDArray[np.int64],
    tie: NDArray[np.int64],
    memory: PatternMemory,
) -> tuple[PatternMemory, RegisterRows, int, int]:
    """Read a batch; the memory after it, what was found, the first event that no minterm allows or -1, and given up.

    `seen`, `last_time` and `tie` are of each key before the batch. The episodes and counts of `memory` are written to.
    """
    keys, registers = len(seen), memory.configurations.registers.shape[1]
    values = Values(numbers, longs, memory.held.numbers, memory.held.longs, np.empty(MOST_DEPTH, dtype=np.float64))
    before, after = fresh_pool(64, 64, registers), fresh_pool(64, 64, registers)
    kept, nodes = fresh_pool(16, 16, registers), fresh_register_graph(16)
    sizes, nodes_at = np.zeros((keys + 1, 2), dtype=np.int64), np.zeros(keys + 1, dtype=np.int64)
    held = fresh_held(keys, memory.held)
    rows, paths, accepted = fresh_register_rows(16, 64, registers), fresh_paths(16, 64), fresh_accepted(16, registers)
    slots = Slots(np.zeros(64, dtype=np.int64), np.zeros(64, dtype=np.int64))
    stamp, column, bits, lost = 0, np.int64(BAD_EVENT), np.uint64(0), 0
    for key in range(keys):
        first, last = first_of[key], first_of[key + 1]
        before = loaded_pool(memory, key, before)
        graph = loaded_graph(memory, key)
        end, live = memory.held.at[key + 1], graph.size[0]
        states = occupied(before)
        for event in range(first, last):
            time = times[event]
            gap = time - (times[event - 1] if event > first else last_time[key])
            if rules.max_gap_us != NEVER and gap > rules.max_gap_us and (event > first or seen[key] > 0):
                begin_anew(before)
                states = np.uint64(0)
                graph.size[0] = 0
                rows = ended_episode(rows, memory.episode, key, TIMED_OUT, event)
            code = bits_of(rules, words, event)
            if code != bits or column == BAD_EVENT:
                bits, column = code, np.int64(column_of(rules, code))
                if column == BAD_EVENT:
                    return memory, rows, event, lost
            if not rules.steps.begins[column] and not states & rules.steps.moves[column]:
                if memory.episode.numbers[key, STATUS] != NO_EPISODE:
                    rows = ended_episode(rows, memory.episode, key, CLOSED, event)
                continue
            now = Now(event, column, bits, seen[key] + event - first + 1, time, end, first, seen[key])
            most = (before.size[CONFIGURATIONS] + 1) * rules.fan + 2
            after.size[GROUPS], after.size[CONFIGURATIONS] = 0, 0
            after = pool_with_room(after, most, most)
            slots = slots_for(slots, most)
            graph = graph_with_room(graph, 3 * most) if rules.listing else graph
            accepted = accepted_for(accepted, most)
            stamp += 1
            if rules.together:
                step_together(rules, now, before, after, graph, slots, stamp, values, accepted)
            else:
                step_apart(rules, now, before, after, graph, slots, stamp, values, accepted)
            if accepted.numbers[COMPLETE]:
                rows, paths = told(
                    rules, accepted, graph, now, key, memory, last_time[key], tie[key], times, rows, paths
                )
                if rules.restart:
                    begin_anew(after)
                    graph.size[0] = 0
            elif memory.episode.numbers[key, STATUS] != NO_EPISODE:
                rows = ended_episode(rows, memory.episode, key, CLOSED, event)
            before, after = after, before
            if before.size[CONFIGURATIONS] > rules.most:
                fewer = give_up_oldest(before, ages_of(before, now, memory.held), rules.most)
                memory.omitted[key] += fewer
                lost += fewer
            states = occupied(before)
            if graph.size[0] > _COMPACT_ABOVE and graph.size[0] > 2 * live:
                graph = graph_compacted(graph, before.node, before.size[GROUPS])
                live = graph.size[0]
        now = Now(last, 0, 0, 0, 0, end, first, seen[key])
        held = remembered(held, memory.held, before, now, key, times, values)
        graph = graph_compacted(graph, before.node, before.size[GROUPS])
        nodes = stored_graph(nodes, graph)
        nodes_at[key + 1] = nodes.size[0]
        kept = stored_pool(kept, sizes, before, key)
    return stored(memory, held, kept, sizes, nodes, nodes_at), rows, NOTHING, lost
