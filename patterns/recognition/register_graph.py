"""Sets of marked events of runs with registers, shared: as `set_graph`, and each node tells which registers it wrote.

What a register held when a match ended is then found on the walk itself, also where nothing reads it any more: runs
that differ only in that are still merged.
"""

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from foresail.patterns.recognition.arrays import copy_part, copy_row, fill, inlined

NOTHING = -1
UNION = 0
"""In the place of a position; hidden events that were kept have theirs below zero."""


class Graph(NamedTuple):
    """Per node: the event's position and time, the registers that keep it, and the node before; or the two united."""

    size: NDArray[np.int64]
    position: NDArray[np.int64]
    time: NDArray[np.int64]
    writes: NDArray[np.int64]
    left: NDArray[np.int64]
    right: NDArray[np.int64]


@njit(cache=True)
def fresh_register_graph(capacity: int) -> Graph:
    """An empty graph with room for `capacity` nodes."""
    return Graph(
        np.zeros(1, dtype=np.int64),
        np.empty(capacity, dtype=np.int64),
        np.empty(capacity, dtype=np.int64),
        np.empty(capacity, dtype=np.int64),
        np.empty(capacity, dtype=np.int64),
        np.empty(capacity, dtype=np.int64),
    )


@njit(cache=True)
def graph_with_room(graph: Graph, nodes: int) -> Graph:
    """The same graph, with room for `nodes` more."""
    count = graph.size[0]
    if count + nodes <= len(graph.position):
        return graph
    wider = fresh_register_graph(2 * (count + nodes))
    wider.size[0] = count
    copy_part(graph.position, 0, count, wider.position, 0)
    copy_part(graph.time, 0, count, wider.time, 0)
    copy_part(graph.writes, 0, count, wider.writes, 0)
    copy_part(graph.left, 0, count, wider.left, 0)
    copy_part(graph.right, 0, count, wider.right, 0)
    return wider


@inlined
def node_added(graph: Graph, position: int, time: int, writes: int, left: int, right: int) -> int:
    """A new node; there must be room."""
    node = graph.size[0]
    graph.position[node] = position
    graph.time[node] = time
    graph.writes[node] = writes
    graph.left[node] = left
    graph.right[node] = right
    graph.size[0] = node + 1
    return node


@njit(cache=True)
def graph_compacted(graph: Graph, roots: NDArray[np.int64], many: int) -> Graph:
    """Only what the first `many` of `roots` still lead to; these are renumbered in place."""
    count = graph.size[0]
    number = np.empty(count, dtype=np.int64)
    fill(number, 0, count, NOTHING)
    for i in range(many):
        if roots[i] != NOTHING:
            number[roots[i]] = 0
    used = 0
    for node in range(count - 1, -1, -1):
        if number[node] != NOTHING:
            used += 1
            if graph.left[node] != NOTHING:
                number[graph.left[node]] = 0
            if graph.right[node] != NOTHING:
                number[graph.right[node]] = 0
    kept = fresh_register_graph(used + 16)
    for node in range(count):
        if number[node] != NOTHING:
            left = NOTHING if graph.left[node] == NOTHING else number[graph.left[node]]
            right = NOTHING if graph.right[node] == NOTHING else number[graph.right[node]]
            number[node] = node_added(kept, graph.position[node], graph.time[node], graph.writes[node], left, right)
    for i in range(many):
        if roots[i] != NOTHING:
            roots[i] = number[roots[i]]
    return kept


class Paths(NamedTuple):
    """Walks found from a root: their nodes last first, one walk after the other."""

    size: NDArray[np.int64]
    """How many walks and how many nodes are filled."""
    nodes: NDArray[np.int64]
    ends: NDArray[np.int64]


@njit(cache=True)
def fresh_paths(walks: int, nodes: int) -> Paths:
    """No walks yet."""
    return Paths(np.zeros(2, dtype=np.int64), np.empty(nodes, dtype=np.int64), np.empty(walks, dtype=np.int64))


@njit(cache=True)
def with_path(paths: Paths, path: NDArray[np.int64], length: int) -> Paths:
    """The walks with one more."""
    walks, nodes = paths.size[0], paths.size[1]
    wider = paths
    if walks == len(paths.ends) or nodes + length > len(paths.nodes):
        wider = fresh_paths(2 * walks + 16, 2 * (nodes + length) + 64)
        copy_part(paths.nodes, 0, nodes, wider.nodes, 0)
        copy_part(paths.ends, 0, walks, wider.ends, 0)
    copy_part(path, 0, length, wider.nodes, nodes)
    wider.ends[walks] = nodes + length
    wider.size[0], wider.size[1] = walks + 1, nodes + length
    return wider


@njit(cache=True)
def walked(graph: Graph, root: int, most: int, paths: Paths) -> Paths:
    """`paths` emptied and filled with at most `most` of the walks that end at `root`."""
    path = np.empty(64, dtype=np.int64)
    stack = np.empty((64, 2), dtype=np.int64)
    stack[0, 0], stack[0, 1] = root, 0
    height = 1
    paths.size[0], paths.size[1] = 0, 0
    while height > 0 and paths.size[0] < most:
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
        path[depth] = node
        if graph.left[node] == NOTHING:
            paths = with_path(paths, path, depth + 1)
        else:
            stack[height, 0], stack[height, 1] = graph.left[node], depth + 1
            height += 1
    return paths
