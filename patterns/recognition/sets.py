"""The kernel for `count` and `enumerate`: it follows every set of marked events, merged wherever their futures agree.

A configuration is a state of the marking automaton and, under a window, the index at which the match began. It holds
how many sets of marked events lead to it and, to list them, a node of the set graph.
"""

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from foresail.patterns.automata.marking import DEAD
from foresail.patterns.recognition.arrays import compiled, copy_part, inlined
from foresail.patterns.recognition.set_graph import (
    NOTHING,
    UNION,
    Graph,
    Listing,
    added,
    compacted,
    fresh_graph,
    fresh_listing,
    listed,
    with_room,
)
from foresail.patterns.recognition.tables import NEVER
from foresail.patterns.recognition.window import expired

MOST_SETS = np.iinfo(np.int64).max // 4
"""Counts stop here instead of overflowing; so many sets can never be listed."""
UNSTARTED = -1
_COMPACT_ABOVE = 1 << 16


class Rules(NamedTuple):
    """One pattern as this kernel reads it."""

    delta: NDArray[np.int32]
    accepting: NDArray[np.bool_]
    window_us: int
    window_events: int
    max_gap_us: int
    restart: bool
    listing: bool
    limit: int


class Configurations(NamedTuple):
    """Configurations one after the other; `size[0]` of them are filled."""

    size: NDArray[np.int64]
    state: NDArray[np.int32]
    start_index: NDArray[np.int64]
    start_time: NDArray[np.int64]
    sets: NDArray[np.int64]
    node: NDArray[np.int64]


class SetStates(NamedTuple):
    """What is remembered of each track: its clock, its configurations and its graph, tracks one after the other."""

    seen: NDArray[np.int64]
    last_time: NDArray[np.int64]
    tie: NDArray[np.int64]
    configurations_at: NDArray[np.int64]
    configurations: Configurations
    nodes_at: NDArray[np.int64]
    graph: Graph


class Detections(NamedTuple):
    """Detections one after the other; detection i lists sets `sets_end[i - 1]..sets_end[i]` of the listing."""

    size: NDArray[np.int64]
    event: NDArray[np.int64]
    position: NDArray[np.int64]
    time: NDArray[np.int64]
    tie: NDArray[np.int64]
    start_time: NDArray[np.int64]
    sets: NDArray[np.int64]
    sets_end: NDArray[np.int64]


@njit(cache=True)
def fresh_configurations(capacity: int) -> Configurations:
    """Room for `capacity` configurations."""
    return Configurations(
        np.zeros(1, dtype=np.int64),
        np.empty(capacity, dtype=np.int32),
        np.empty(capacity, dtype=np.int64),
        np.empty(capacity, dtype=np.int64),
        np.empty(capacity, dtype=np.int64),
        np.empty(capacity, dtype=np.int64),
    )


@njit(cache=True)
def fresh_detections(capacity: int) -> Detections:
    """Room for `capacity` detections."""
    return Detections(
        np.zeros(1, dtype=np.int64),
        np.empty(capacity, dtype=np.int64),
        np.empty(capacity, dtype=np.int64),
        np.empty(capacity, dtype=np.int64),
        np.empty(capacity, dtype=np.int64),
        np.empty(capacity, dtype=np.int64),
        np.empty(capacity, dtype=np.int64),
        np.empty(capacity, dtype=np.int64),
    )


@njit(cache=True)
def configurations_with_room(some: Configurations, more: int) -> Configurations:
    """The same configurations, with room for `more`."""
    count = some.size[0]
    if count + more <= len(some.state):
        return some
    wider = fresh_configurations(2 * (count + more))
    copy_configurations(some, 0, count, wider)
    return wider


@compiled
def copy_configurations(some: Configurations, first: int, end: int, onto: Configurations) -> None:
    """Append configurations `first..end` of `some`; there must be room."""
    at, many = onto.size[0], end - first
    copy_part(some.state, first, end, onto.state, at)
    copy_part(some.start_index, first, end, onto.start_index, at)
    copy_part(some.start_time, first, end, onto.start_time, at)
    copy_part(some.sets, first, end, onto.sets, at)
    copy_part(some.node, first, end, onto.node, at)
    onto.size[0] = at + many


@inlined
def begin_anew(some: Configurations) -> None:
    """Only the configuration of a match that has not begun."""
    some.size[0] = 1
    some.state[0], some.start_index[0], some.start_time[0], some.sets[0], some.node[0] = 0, UNSTARTED, 0, 1, NOTHING


@inlined
def join(
    some: Configurations, first: int, state: int, start: int, began: int, sets: int, node: int, graph: Graph
) -> None:
    """Add a configuration; one with the same state at or behind `first` takes it in."""
    for at in range(first, some.size[0]):
        if some.state[at] == state:
            some.sets[at] = min(some.sets[at] + sets, MOST_SETS)
            some.start_time[at] = min(some.start_time[at], began)
            if some.node[at] != NOTHING and node != NOTHING:
                some.node[at] = added(graph, UNION, 0, some.node[at], node)
            return
    at = some.size[0]
    some.state[at], some.start_index[at], some.start_time[at], some.sets[at], some.node[at] = (
        state, start, began, sets, node,
    )  # fmt: skip
    some.size[0] = at + 1


@inlined
def step(
    rules: Rules,
    column: int,
    index: int,
    time: int,
    before: Configurations,
    after: Configurations,
    graph: Graph,
    accepted: NDArray[np.int64],
) -> tuple[int, int, int]:
    """Fill `after` with what follows `before`; how many sets are complete, their earliest start, how many nodes."""
    windowed = rules.window_us != NEVER or rules.window_events != NEVER
    after.size[0] = 0
    complete, began_first, roots = 0, time, 0
    idle = rules.delta[before.state[0], column, 0]
    join(after, 0, idle, UNSTARTED, 0, 1, NOTHING, graph)
    group, group_start = 1, np.int64(UNSTARTED)
    for i in range(1, before.size[0] + 1):
        # The match that begins now comes last, so that starts stay in ascending order.
        fresh = i == before.size[0]
        state = before.state[0] if fresh else before.state[i]
        start = index if fresh else before.start_index[i]
        began = time if fresh else before.start_time[i]
        sets = 1 if fresh else before.sets[i]
        node = NOTHING if fresh else before.node[i]
        if expired(rules.window_us, rules.window_events, began, time, start, index):
            continue
        if windowed and start != group_start:
            group, group_start = after.size[0], start
        if not fresh and rules.delta[state, column, 0] != DEAD:
            join(after, group, rules.delta[state, column, 0], start, began, sets, node, graph)
        marked = rules.delta[state, column, 1]
        if marked != DEAD:
            last = added(graph, index, time, node, NOTHING) if rules.listing else NOTHING
            join(after, group, marked, start, began, sets, last, graph)
            if rules.accepting[marked]:
                complete = min(complete + sets, MOST_SETS)
                began_first = min(began_first, began)
                accepted[roots] = last
                roots += 1
    return complete, began_first, roots


@njit(cache=True)
def with_detection(
    found: Detections, event: int, index: int, time: int, tie: int, began: int, sets: int, sets_end: int
) -> Detections:
    """The detections with one more."""
    n = found.size[0]
    wider = found
    if n == len(found.event):
        wider = fresh_detections(2 * n + 16)
        copy_part(found.event, 0, n, wider.event, 0)
        copy_part(found.position, 0, n, wider.position, 0)
        copy_part(found.time, 0, n, wider.time, 0)
        copy_part(found.tie, 0, n, wider.tie, 0)
        copy_part(found.start_time, 0, n, wider.start_time, 0)
        copy_part(found.sets, 0, n, wider.sets, 0)
        copy_part(found.sets_end, 0, n, wider.sets_end, 0)
    wider.event[n], wider.position[n], wider.time[n], wider.tie[n] = event, index, time, tie
    wider.start_time[n], wider.sets[n], wider.sets_end[n] = began, sets, sets_end
    wider.size[0] = n + 1
    return wider


@njit(cache=True)
def advance_sets(
    rules: Rules, columns: NDArray[np.int32], times: NDArray[np.int64], first_of: NDArray[np.int64], states: SetStates
) -> tuple[SetStates, Detections, Listing]:
    """Read the events `first_of[s]..first_of[s + 1]` of each track s; the states after them and what was found."""
    tracks = len(states.seen)
    seen, last_time, tie = states.seen.copy(), states.last_time.copy(), states.tie.copy()
    kept_at, nodes_at = np.zeros(tracks + 1, dtype=np.int64), np.zeros(tracks + 1, dtype=np.int64)
    kept, nodes = fresh_configurations(tracks + 16), fresh_graph(16)
    found, listing = fresh_detections(16), fresh_listing(16, 64)
    before, after = fresh_configurations(64), fresh_configurations(64)
    for track in range(tracks):
        before.size[0] = 0
        before = configurations_with_room(
            before, 1 + states.configurations_at[track + 1] - states.configurations_at[track]
        )
        copy_configurations(
            states.configurations, states.configurations_at[track], states.configurations_at[track + 1], before
        )
        if before.size[0] == 0:
            begin_anew(before)
        graph = loaded(states.graph, states.nodes_at[track], states.nodes_at[track + 1])
        live = graph.size[0]
        for event in range(first_of[track], first_of[track + 1]):
            time = times[event]
            gap = time - last_time[track] if seen[track] else 0
            tie[track] = tie[track] + 1 if seen[track] and gap == 0 else 0
            seen[track] += 1
            last_time[track] = time
            if rules.max_gap_us != NEVER and gap > rules.max_gap_us:
                begin_anew(before)
                graph.size[0] = 0
            many = before.size[0]
            after.size[0] = 0
            after = configurations_with_room(after, 2 * many + 2)
            graph = with_room(graph, 3 * many + 3)
            accepted = np.empty(many + 1, dtype=np.int64)
            complete, began, roots = step(rules, columns[event], seen[track], time, before, after, graph, accepted)
            if complete:
                left = rules.limit
                for r in range(roots if rules.listing else 0):
                    already = listing.sets[0]
                    listing = listed(graph, accepted[r], left, listing)
                    left -= listing.sets[0] - already
                found = with_detection(found, event, seen[track], time, tie[track], began, complete, listing.sets[0])
                if rules.restart:
                    begin_anew(after)
                    graph.size[0] = 0
            before, after = after, before
            if graph.size[0] > _COMPACT_ABOVE and graph.size[0] > 2 * live:
                graph = compacted(graph, before.node, before.size[0])
                live = graph.size[0]
        graph = compacted(graph, before.node, before.size[0])
        kept = configurations_with_room(kept, before.size[0])
        copy_configurations(before, 0, before.size[0], kept)
        kept_at[track + 1] = kept.size[0]
        nodes = with_graph(nodes, graph)
        nodes_at[track + 1] = nodes.size[0]
    return SetStates(seen, last_time, tie, kept_at, kept, nodes_at, nodes), found, listing


@njit(cache=True)
def loaded(graph: Graph, first: int, end: int) -> Graph:
    """The nodes of one track as a graph of their own (their references are within the track already)."""
    own = fresh_graph(end - first + 64)
    own.size[0] = end - first
    copy_part(graph.position, first, end, own.position, 0)
    copy_part(graph.time, first, end, own.time, 0)
    copy_part(graph.left, first, end, own.left, 0)
    copy_part(graph.right, first, end, own.right, 0)
    return own


@njit(cache=True)
def with_graph(nodes: Graph, graph: Graph) -> Graph:
    """The nodes with those of one more track behind them."""
    wider = with_room(nodes, graph.size[0])
    for node in range(graph.size[0]):
        added(wider, graph.position[node], graph.time[node], graph.left[node], graph.right[node])
    return wider


def fresh_set_states(tracks: int) -> SetStates:
    """The state of tracks of which nothing has been read."""
    return SetStates(
        np.zeros(tracks, dtype=np.int64),
        np.zeros(tracks, dtype=np.int64),
        np.zeros(tracks, dtype=np.int64),
        np.zeros(tracks + 1, dtype=np.int64),
        fresh_configurations(0),
        np.zeros(tracks + 1, dtype=np.int64),
        fresh_graph(0),
    )


@njit(cache=True)
def rearranged_sets(states: SetStates, rows: NDArray[np.int64]) -> SetStates:
    """States whose row i is row `rows[i]` of `states`, or fresh where that is negative."""
    many = len(rows)
    clock = np.zeros((3, many), dtype=np.int64)
    kept_at, nodes_at = np.zeros(many + 1, dtype=np.int64), np.zeros(many + 1, dtype=np.int64)
    kept, nodes = fresh_configurations(16), fresh_graph(16)
    for i in range(many):
        row = rows[i]
        if row >= 0:
            clock[0, i], clock[1, i], clock[2, i] = states.seen[row], states.last_time[row], states.tie[row]
            first, end = states.configurations_at[row], states.configurations_at[row + 1]
            kept = configurations_with_room(kept, end - first)
            copy_configurations(states.configurations, first, end, kept)
            nodes = with_graph(nodes, loaded(states.graph, states.nodes_at[row], states.nodes_at[row + 1]))
        kept_at[i + 1] = kept.size[0]
        nodes_at[i + 1] = nodes.size[0]
    return SetStates(clock[0].copy(), clock[1].copy(), clock[2].copy(), kept_at, kept, nodes_at, nodes)
