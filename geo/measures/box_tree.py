"""A balanced tree of boxes in space: which of many pieces can be near a point, without looking at the others.

The tree is four plain arrays, so that it is stored, memory-mapped and shared by workers as it is. Node i has the
children 2i+1 and 2i+2; the items of node i are the stretch `first[i]..last[i]` of the tree's order.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

LEAF_ITEMS = 6
DEEPEST = 64

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class BoxTree:
    """`low` and `high` corners and item stretch of every node; `order` says which item stands where."""

    low: Floats
    high: Floats
    first: Integers
    last: Integers
    order: Integers


def build_tree(low: Floats, high: Floats) -> BoxTree:
    """The tree over items whose boxes reach from `low` to `high` (one row of x, y, z each)."""
    items = len(low)
    levels = max(1, int(np.ceil(np.log2(max(items, 1) / LEAF_ITEMS))) + 1)
    nodes = 2**levels - 1
    order = np.arange(items, dtype=np.int64)
    first, last = np.zeros(nodes, np.int64), np.zeros(nodes, np.int64)
    node_low, node_high = np.full((nodes, 3), np.inf), np.full((nodes, 3), -np.inf)
    _split_items((low + high) / 2.0, order, first, last)
    _bound_nodes(np.ascontiguousarray(low), np.ascontiguousarray(high), order, first, last, node_low, node_high)
    return BoxTree(node_low, node_high, first, last, order)


@njit("void(f8[:, ::1], i8[::1], i8[::1], i8[::1])", cache=True)
def _split_items(centres: Any, order: Any, first: Any, last: Any) -> None:
    nodes = len(first)
    last[0] = len(order)
    for node in range(nodes // 2):
        begin, end = first[node], last[node]
        middle = (begin + end) // 2
        if end - begin > 1:
            axis, widest = 0, -1.0
            for candidate in range(3):
                lowest, highest = np.inf, -np.inf
                for i in range(begin, end):
                    value = centres[order[i], candidate]
                    lowest, highest = min(lowest, value), max(highest, value)
                if highest - lowest > widest:
                    axis, widest = candidate, highest - lowest
            stretch = order[begin:end].copy()
            keys = np.empty(end - begin)
            for i in range(end - begin):
                keys[i] = centres[stretch[i], axis]
            ranks = np.argsort(keys, kind="mergesort")
            for i in range(end - begin):
                order[begin + i] = stretch[ranks[i]]
        first[2 * node + 1], last[2 * node + 1] = begin, middle
        first[2 * node + 2], last[2 * node + 2] = middle, end


@njit("void(f8[:, ::1], f8[:, ::1], i8[::1], i8[::1], i8[::1], f8[:, ::1], f8[:, ::1])", cache=True)
def _bound_nodes(low: Any, high: Any, order: Any, first: Any, last: Any, node_low: Any, node_high: Any) -> None:
    nodes = len(first)
    for node in range(nodes - 1, -1, -1):
        for axis in range(3):
            if node >= nodes // 2:
                for i in range(first[node], last[node]):
                    node_low[node, axis] = min(node_low[node, axis], low[order[i], axis])
                    node_high[node, axis] = max(node_high[node, axis], high[order[i], axis])
            else:
                left, right = 2 * node + 1, 2 * node + 2
                node_low[node, axis] = min(node_low[left, axis], node_low[right, axis])
                node_high[node, axis] = max(node_high[left, axis], node_high[right, axis])


@njit("f8(f8, f8, f8, f8[:, ::1], f8[:, ::1], i8)", cache=True, inline="always")
def box_distance2(x: float, y: float, z: float, low: Any, high: Any, node: int) -> float:
    """Square of the straight distance from a point to a node's box; 0 inside it."""
    dx = max(low[node, 0] - x, 0.0, x - high[node, 0])
    dy = max(low[node, 1] - y, 0.0, y - high[node, 1])
    dz = max(low[node, 2] - z, 0.0, z - high[node, 2])
    return float(dx * dx + dy * dy + dz * dz)
