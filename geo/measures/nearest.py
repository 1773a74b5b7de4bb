"""Which piece of a layer is nearest to a position, which are within a radius, and how far the geodesic to it is.

A piece is a short stretch of a line or an edge, or a single point (both ends the same). Pieces are compared by the
straight distance through the earth, in whole millimetres, then by the number of their feature: so that equal
distances are settled alike wherever they are computed.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from foresail.geo.measures.box_tree import DEEPEST, BoxTree, box_distance2, build_tree
from foresail.geo.measures.spheroid import geodesic_m, point_in_space, points_in_space, settle_distances

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
FARTHEST_MM = 2**60

HALF_WAY_ROUND_M = 20_003_931.4586
"""From pole to pole: no two places are farther apart."""


@dataclass(frozen=True, slots=True)
class Pieces:
    """The pieces of a layer in the order of their tree: `degrees` holds lon, lat of both ends, `space` x, y, z."""

    degrees: Floats
    space: Floats
    feature: Integers
    tree: BoxTree


@dataclass(frozen=True, slots=True)
class Nearest:
    """Per position the nearest feature (-1 where there is none) and its distance (NaN likewise)."""

    feature: Integers
    distance_m: Floats


@dataclass(frozen=True, slots=True)
class Nearby:
    """One row per position and feature within the radius; `row` counts positions."""

    row: Integers
    feature: Integers
    distance_m: Floats


def build_pieces(degrees: Floats, feature: Integers, reach_m: Floats | None = None) -> Pieces:
    """Pieces with their tree; `reach_m` widens each piece's box, for searches by each feature's own radius."""
    ends = [points_in_space(degrees[:, k], degrees[:, k + 1]) for k in (0, 2)]
    widening = np.zeros(len(feature)) if reach_m is None else reach_m
    low, high = np.minimum(*ends) - widening[:, None], np.maximum(*ends) + widening[:, None]
    tree = build_tree(np.ascontiguousarray(low), np.ascontiguousarray(high))
    ordered = BoxTree(tree.low, tree.high, tree.first, tree.last, np.arange(len(feature), dtype=np.int64))
    return Pieces(
        np.ascontiguousarray(degrees[tree.order]),
        np.ascontiguousarray(np.hstack(ends)[tree.order]),
        np.ascontiguousarray(feature[tree.order]),
        ordered,
    )


@njit("Tuple((f8, f8))(f8, f8, f8, f8[:, ::1], i8)", cache=True, inline="always")
def piece_distance2(x: float, y: float, z: float, space: Any, piece: int) -> tuple[float, float]:
    """Square of the straight distance to a piece, and how far along it (0..1) its nearest place lies."""
    ux = space[piece, 3] - space[piece, 0]
    uy = space[piece, 4] - space[piece, 1]
    uz = space[piece, 5] - space[piece, 2]
    vx, vy, vz = x - space[piece, 0], y - space[piece, 1], z - space[piece, 2]
    length2 = ux * ux + uy * uy + uz * uz
    along = 0.0
    if length2 > 0.0:
        along = min(1.0, max(0.0, (ux * vx + uy * vy + uz * vz) / length2))
    dx, dy, dz = vx - along * ux, vy - along * uy, vz - along * uz
    return dx * dx + dy * dy + dz * dz, along


@njit("f8(f8, f8, f8[:, ::1], i8, f8)", cache=True)
def way_to_piece_m(lon: float, lat: float, degrees: Any, piece: int, along: float) -> float:
    """Geodesic to the place `along` a piece, which is straight in degrees as GeoJSON has it."""
    to_lon = degrees[piece, 0] + along * (degrees[piece, 2] - degrees[piece, 0])
    to_lat = degrees[piece, 1] + along * (degrees[piece, 3] - degrees[piece, 1])
    return geodesic_m(lon, lat, to_lon, to_lat)


@njit(
    "Tuple((i8, f8))(f8, f8, f8, f8[:, ::1], i8[::1], f8[:, ::1], f8[:, ::1], i8[::1], i8[::1], i8, i8[::1])",
    cache=True,
)
def _nearest_piece(
    x: float, y: float, z: float, space: Any, feature: Any,
    low: Any, high: Any, first: Any, last: Any, guess: int, stack: Any,
) -> tuple[int, float]:  # fmt: skip
    inner = len(first) // 2
    best, best_along = guess, 0.0
    best_mm: Any = FARTHEST_MM
    best2, limit2 = np.inf, np.inf
    if guess >= 0:
        best2, best_along = piece_distance2(x, y, z, space, guess)
        best_mm = np.int64(np.floor(np.sqrt(best2) * 1000.0 + 0.5))
        limit2 = ((best_mm + 1) * 0.001) ** 2
    depth = 1
    stack[0] = 0
    while depth:
        depth -= 1
        node = stack[depth]
        if box_distance2(x, y, z, low, high, node) > limit2:
            continue
        if node < inner:
            left, right = 2 * node + 1, 2 * node + 2
            to_left, to_right = box_distance2(x, y, z, low, high, left), box_distance2(x, y, z, low, high, right)
            if to_left < to_right:
                left, right = right, left
                to_left, to_right = to_right, to_left
            if to_left <= limit2:
                stack[depth] = left
                depth += 1
            if to_right <= limit2:
                stack[depth] = right
                depth += 1
            continue
        for piece in range(first[node], last[node]):
            d2, along = piece_distance2(x, y, z, space, piece)
            if d2 >= limit2:
                continue
            mm = np.int64(np.floor(np.sqrt(d2) * 1000.0 + 0.5))
            if mm < best_mm or (
                mm == best_mm and (feature[piece] < feature[best] or (feature[piece] == feature[best] and d2 < best2))
            ):
                best, best_along, best_mm, best2 = piece, along, mm, d2
                limit2 = ((best_mm + 1) * 0.001) ** 2
    return best, best_along


@njit(
    "void(f8[::1], f8[::1], b1[::1], f8[:, ::1], f8[:, ::1], i8[::1], f8[:, ::1], f8[:, ::1], i8[::1], i8[::1],"
    " i8[::1], f8[::1], f8[::1], f8[::1])",
    cache=True,
    nogil=True,
)
def _fill_nearest(
    lon: Any, lat: Any, wanted: Any, degrees: Any, space: Any, feature: Any,
    low: Any, high: Any, first: Any, last: Any, out_feature: Any, out_m: Any, to_lon: Any, to_lat: Any,
) -> None:  # fmt: skip
    stack = np.empty(DEEPEST, np.int64)
    guess = -1  # the position before was probably close by: its nearest piece bounds the search for this one
    for i in range(len(lon)):
        if not wanted[i]:
            continue
        x, y, z = point_in_space(lon[i], lat[i])
        piece, along = _nearest_piece(x, y, z, space, feature, low, high, first, last, guess, stack)
        guess = piece
        out_feature[i] = feature[piece]
        to_lon[i] = degrees[piece, 0] + along * (degrees[piece, 2] - degrees[piece, 0])
        to_lat[i] = degrees[piece, 1] + along * (degrees[piece, 3] - degrees[piece, 1])
        out_m[i] = geodesic_m(lon[i], lat[i], to_lon[i], to_lat[i])


def nearest(lon: Floats, lat: Floats, wanted: NDArray[np.bool_], pieces: Pieces) -> Nearest:
    """The nearest feature of every wanted position."""
    feature = np.full(len(lon), -1, np.int64)
    to_lon, to_lat, lengths = (np.full(len(lon), np.nan) for _ in range(3))
    if len(pieces.feature):
        tree = pieces.tree
        _fill_nearest(
            lon, lat, wanted, pieces.degrees, pieces.space, pieces.feature,
            tree.low, tree.high, tree.first, tree.last, feature, lengths, to_lon, to_lat,
        )  # fmt: skip
        settle_distances(lon, lat, to_lon, to_lat, lengths)
    return Nearest(feature, lengths)


@njit(
    "Tuple((i8[::1], i8[::1], f8[::1], i8))(f8[::1], f8[::1], b1[::1], f8[::1], f8[:, ::1], f8[:, ::1], i8[::1],"
    " f8[:, ::1], f8[:, ::1], i8[::1], i8[::1], b1)",
    cache=True,
    nogil=True,
)
def _list_nearby(
    lon: Any, lat: Any, wanted: Any, reach: Any, degrees: Any, space: Any, feature: Any,
    low: Any, high: Any, first: Any, last: Any, boxes_are_widened: bool,
) -> tuple[Any, Any, Any, int]:  # fmt: skip
    stack = np.empty(DEEPEST, np.int64)
    rows, features = np.empty(1024, np.int64), np.empty(1024, np.int64)
    lengths = np.empty(1024, np.float64)
    farthest = 0.0
    if not boxes_are_widened:
        for i in range(len(reach)):
            farthest = max(farthest, reach[i])
    count = 0
    inner = len(first) // 2
    for i in range(len(lon)):
        if not wanted[i]:
            continue
        x, y, z = point_in_space(lon[i], lat[i])
        begin = count
        depth = 1
        stack[0] = 0
        while depth:
            depth -= 1
            node = stack[depth]
            if box_distance2(x, y, z, low, high, node) > farthest * farthest:
                continue
            if node < inner:
                stack[depth], stack[depth + 1] = 2 * node + 1, 2 * node + 2
                depth += 2
                continue
            for piece in range(first[node], last[node]):
                d2, along = piece_distance2(x, y, z, space, piece)
                own = reach[feature[piece]]
                if d2 > own * own:
                    continue
                length = way_to_piece_m(lon[i], lat[i], degrees, piece, along)
                if length < 0.0:
                    length = HALF_WAY_ROUND_M  # left open only for nearly opposite places
                if length > own:
                    continue
                known = begin
                while known < count and features[known] != feature[piece]:
                    known += 1
                if known < count:
                    lengths[known] = min(lengths[known], length)
                    continue
                if count == len(rows):
                    rows = np.concatenate((rows, np.empty(count, np.int64)))
                    features = np.concatenate((features, np.empty(count, np.int64)))
                    lengths = np.concatenate((lengths, np.empty(count, np.float64)))
                rows[count], features[count], lengths[count] = i, feature[piece], length
                count += 1
    return rows, features, lengths, count


def nearby(
    lon: Floats, lat: Floats, wanted: NDArray[np.bool_], pieces: Pieces, reach_m: Floats, widened: bool = False
) -> Nearby:
    """Every feature whose geodesic distance is at most its own entry of `reach_m`; `widened` if the boxes have it."""
    tree = pieces.tree
    rows, features, lengths, count = _list_nearby(
        lon, lat, wanted, reach_m, pieces.degrees, pieces.space, pieces.feature,
        tree.low, tree.high, tree.first, tree.last, widened,
    )  # fmt: skip
    order = np.lexsort((features[:count], rows[:count]))
    return Nearby(rows[:count][order], features[:count][order], lengths[:count][order])
