"""Which pieces can be nearest to some place within a circle: what a cell must know to answer for all its positions.

If the nearest piece to the middle is d away and no place of the cell is farther than r from the middle, then the
nearest piece to any place of the cell is within d + 2r of the middle (straight distances obey the triangle rule).
"""

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from foresail.geo.measures.box_tree import DEEPEST, box_distance2
from foresail.geo.measures.nearest import Pieces, _nearest_piece, piece_distance2

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
SLACK_M = 0.01


@njit(
    "Tuple((i8[::1], i8[::1]))(f8[:, ::1], f8[::1], f8[::1], f8[:, ::1], i8[::1],"
    " f8[:, ::1], f8[:, ::1], i8[::1], i8[::1])",
    cache=True,
)
def _list_candidates(
    middle: Any, radius: Any, reach: Any, space: Any, feature: Any,
    low: Any, high: Any, first: Any, last: Any,
) -> tuple[Any, Any]:  # fmt: skip
    stack, search = np.empty(DEEPEST, np.int64), np.empty(DEEPEST, np.int64)
    ends = np.zeros(len(middle) + 1, np.int64)
    pieces = np.empty(1024, np.int64)
    farthest = 0.0
    for i in range(len(reach)):
        farthest = max(farthest, reach[i])
    count, guess, inner = 0, -1, len(first) // 2
    for i in range(len(middle)):
        x, y, z = middle[i, 0], middle[i, 1], middle[i, 2]
        guess, _ = _nearest_piece(x, y, z, space, feature, low, high, first, last, guess, search)
        nearest2, _ = piece_distance2(x, y, z, space, guess)
        bound = np.sqrt(nearest2) + 2.0 * radius[i] + SLACK_M
        widest = max(bound, farthest + radius[i] + SLACK_M)
        depth = 1
        stack[0] = 0
        while depth:
            depth -= 1
            node = stack[depth]
            if box_distance2(x, y, z, low, high, node) > widest * widest:
                continue
            if node < inner:
                stack[depth], stack[depth + 1] = 2 * node + 1, 2 * node + 2
                depth += 2
                continue
            for piece in range(first[node], last[node]):
                d2, _ = piece_distance2(x, y, z, space, piece)
                own = max(bound, reach[feature[piece]] + radius[i] + SLACK_M)
                if d2 <= own * own:
                    if count == len(pieces):
                        pieces = np.concatenate((pieces, np.empty(count, np.int64)))
                    pieces[count] = piece
                    count += 1
        ends[i + 1] = count
    return ends, pieces[:count].copy()


def candidates(middle: Floats, radius_m: Floats, pieces: Pieces, reach_m: Floats) -> tuple[Integers, Integers]:
    """Where each cell's stretch ends, and the pieces in them.

    `reach_m` is per feature: a piece within it of any place of the cell is listed too.
    """
    tree = pieces.tree
    ends, listed = _list_candidates(
        np.ascontiguousarray(middle), np.ascontiguousarray(radius_m), reach_m, pieces.space, pieces.feature,
        tree.low, tree.high, tree.first, tree.last,
    )  # fmt: skip
    return ends, listed
