"""Sets of marked events, shared: a graph whose walks are the sets, so that a million of them cost few nodes.

A node is one marked event with the node before it, or the union of two nodes. Children are always older than their
parents, so one descending sweep finds what is still in use.
"""

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from foresail.patterns.recognition.arrays import copy_part, copy_row, fill, inlined

NOTHING = -1
UNION = -2


class Graph(NamedTuple):
    """Per node: the marked event's index and time and the node before it, or UNION and the two it unites."""

    size: NDArray[np.int64]
    position: NDArray[np.int64]
    time: NDArray[np.int64]
    left: NDArray[np.int64]
    right: NDArray[np.int64]


@njit(cache=True)
def fresh_graph(capacity: int) -> Graph:
    """An empty graph with room for `capacity` nodes."""
    return Graph(
        np.zeros(1, dtype=np.int64),
        np.empty(capacity, dtype=np.int64),
        np.empty(capacity, dtype=np.int64),
        np.empty(capacity, dtype=np.int64),
        np.empty(capacity, dtype=np.int64),
    )


@njit(cache=True)
def with_room(graph: Graph, nodes: int) -> Graph:
    """The same graph, with room for `nodes` more."""
    count = graph.size[0]
    if count + nodes <= len(graph.position):
        return graph
    wider = fresh_graph(2 * (count + nodes))
    wider.size[0] = count
    copy_part(graph.position, 0, count, wider.position, 0)
    copy_part(graph.time, 0, count, wider.time, 0)
    copy_part(graph.left, 0, count, wider.left, 0)
    copy_part(graph.right, 0, count, wider.right, 0)
    return wider


@inlined
def added(graph: Graph, index: int, time: int, left: int, right: int) -> int:
    """A new node; there must be room."""
    node = graph.size[0]
    graph.position[node] = index
    graph.time[node] = time
    graph.left[node] = left
    graph.right[node] = right
    graph.size[0] = node + 1
    return node


@njit(cache=True)
def compacted(graph: Graph, roots: NDArray[np.int64], many: int) -> Graph:
    """Only what the first `many` of `roots` still lead to; these are renumbered in place."""
    count = graph.size[0]
    number = np.empty(count, dtype=np.int64)
    fill(number, 0, count, NOTHING)
    for i in range(many):
        if roots[i] != NOTHING:
            number[roots[i]] = 0
    for node in range(count - 1, -1, -1):
        if number[node] != NOTHING:
            if graph.left[node] != NOTHING:
                number[graph.left[node]] = 0
            if graph.right[node] != NOTHING:
                number[graph.right[node]] = 0
    used = 0
    for node in range(count):
        used += number[node] != NOTHING
    kept = fresh_graph(used + 16)
    for node in range(count):
        if number[node] != NOTHING:
            left = graph.left[node] if graph.left[node] == NOTHING else number[graph.left[node]]
            right = graph.right[node] if graph.right[node] == NOTHING else number[graph.right[node]]
            number[node] = added(kept, graph.position[node], graph.time[node], left, right)
    for i in range(many):
        if roots[i] != NOTHING:
            roots[i] = number[roots[i]]
    return kept


class Listing(NamedTuple):
    """Listed sets, one after the other: set i is `members[ends[i - 1]:ends[i]]`, first event first."""

    sets: NDArray[np.int64]
    """How many sets and how many members are filled."""
    members: NDArray[np.int64]
    ends: NDArray[np.int64]
    start_time: NDArray[np.int64]


@njit(cache=True)
def fresh_listing(sets: int, members: int) -> Listing:
    """An empty list of sets."""
    return Listing(
        np.zeros(2, dtype=np.int64),
        np.empty(members, dtype=np.int64),
        np.empty(sets, dtype=np.int64),
        np.empty(sets, dtype=np.int64),
    )


@njit(cache=True)
def with_set(listing: Listing, path: NDArray[np.int64], length: int, start_time: int) -> Listing:
    """The listing with the set on `path[:length]` (last event first) appended."""
    sets, members = listing.sets[0], listing.sets[1]
    wider = listing
    if sets == len(listing.ends) or members + length > len(listing.members):
        wider = fresh_listing(2 * sets + 16, 2 * (members + length) + 64)
        copy_part(listing.members, 0, members, wider.members, 0)
        copy_part(listing.ends, 0, sets, wider.ends, 0)
        copy_part(listing.start_time, 0, sets, wider.start_time, 0)
    for i in range(length):
        wider.members[members + i] = path[length - 1 - i]
    wider.ends[sets] = members + length
    wider.start_time[sets] = start_time
    wider.sets[0], wider.sets[1] = sets + 1, members + length
    return wider


@njit(cache=True)
def listed(graph: Graph, root: int, most: int, listing: Listing) -> Listing:
    """The listing with at most `most` of the sets that end at `root` appended."""
    path = np.empty(64, dtype=np.int64)
    stack = np.empty((64, 2), dtype=np.int64)
    stack[0, 0], stack[0, 1] = root, 0
    height, found = 1, 0
    while height > 0 and found < most:
        height -= 1
        node, depth = stack[height, 0], stack[height, 1]
        if height + 2 > len(stack):
            taller = np.empty((2 * len(stack), 2), dtype=np.int64)
            for i in range(height):
                copy_row(stack, i, taller, i)
            stack = taller
        if graph.position[node] == UNION:
            stack[height, 0], stack[height, 1] = graph.right[node], depth
            stack[height + 1, 0], stack[height + 1, 1] = graph.left[node], depth
            height += 2
            continue
        if depth == len(path):
            longer = np.empty(2 * len(path), dtype=np.int64)
            copy_part(path, 0, depth, longer, 0)
            path = longer
        path[depth] = graph.position[node]
        if graph.left[node] == NOTHING:
            listing = with_set(listing, path, depth + 1, graph.time[node])
            found += 1
        else:
            stack[height, 0], stack[height, 1] = graph.left[node], depth + 1
            height += 1
    return listing
