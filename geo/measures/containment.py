"""Which zone holds a position: crossings of a ray, counted over the few edges at the position's latitude.

A position on an edge is held. The sign of every turn is either certain (Shewchuk 1997, the error bound of his
orientation test) or the position is handed back as open, to be settled by exact arithmetic elsewhere.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from foresail.geo.measures.box_tree import DEEPEST, BoxTree, build_tree

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

NONE, OPEN = -1, -2
_OUTSIDE, _HELD, _UNSURE = 0, 1, -1
_EDGES_PER_BAND = 4
_MOST_BANDS = 20_000
_ROUNDING = (3.0 + 16.0 * 2.0**-53) * 2.0**-53
_UNDERFLOW = 1e-280


@dataclass(frozen=True, slots=True)
class Zones:
    """Polygons by latitude band: edges of band b of zone i are `edges[band_edges[bands[k]:bands[k + 1]]]`."""

    feature: Integers
    bottom: Floats
    band_height: Floats
    first_band: Integers
    bands: Integers
    band_edges: Integers
    edges: Floats
    tree: BoxTree


def build_zones(edges: Floats, zone: Integers, feature: Integers) -> Zones:
    """Zones from all `edges` (lon, lat, lon, lat), each of the zone numbered in `zone`; zone i is `feature[i]`."""
    count = len(feature)
    low, high = np.full((count, 3), np.inf), np.full((count, 3), -np.inf)
    for axis in (0, 1):
        np.minimum.at(low[:, axis], zone, np.minimum(edges[:, axis], edges[:, axis + 2]))
        np.maximum.at(high[:, axis], zone, np.maximum(edges[:, axis], edges[:, axis + 2]))
    low[:, 2] = high[:, 2] = 0.0
    band_counts = np.clip(np.bincount(zone, minlength=count) // _EDGES_PER_BAND, 1, _MOST_BANDS)
    first_band = np.concatenate(([0], np.cumsum(band_counts))).astype(np.int64)
    height = (high[:, 1] - low[:, 1]) / band_counts
    bands, band_edges = _sort_into_bands(
        np.ascontiguousarray(edges, np.float64), zone.astype(np.int64), low[:, 1].copy(), height, first_band
    )
    return Zones(
        feature.astype(np.int64), low[:, 1].copy(), height, first_band, bands, band_edges,
        np.ascontiguousarray(edges, np.float64), build_tree(low, high),
    )  # fmt: skip


@njit("i8(f8, f8, f8, i8)", cache=True, inline="always")
def _band_of(lat: float, bottom: float, height: float, bands: int) -> int:
    if height <= 0.0:
        return 0
    return int(min(max(int(np.floor((lat - bottom) / height)), 0), bands - 1))


@njit("Tuple((i8[::1], i8[::1]))(f8[:, ::1], i8[::1], f8[::1], f8[::1], i8[::1])", cache=True)
def _sort_into_bands(edges: Any, zone: Any, bottom: Any, height: Any, first_band: Any) -> tuple[Any, Any]:
    counts = np.zeros(first_band[-1] + 1, np.int64)
    lowest, highest = np.empty(len(edges), np.int64), np.empty(len(edges), np.int64)
    for e in range(len(edges)):
        z = zone[e]
        bands = first_band[z + 1] - first_band[z]
        lowest[e] = first_band[z] + _band_of(min(edges[e, 1], edges[e, 3]), bottom[z], height[z], bands)
        highest[e] = first_band[z] + _band_of(max(edges[e, 1], edges[e, 3]), bottom[z], height[z], bands)
        for band in range(lowest[e], highest[e] + 1):
            counts[band + 1] += 1
    ends = np.cumsum(counts)
    filled = ends[:-1].copy()
    band_edges = np.empty(ends[-1], np.int64)
    for e in range(len(edges)):
        for band in range(lowest[e], highest[e] + 1):
            band_edges[filled[band]] = e
            filled[band] += 1
    return ends, band_edges


@njit("i8(f8, f8, f8, f8, f8, f8)", cache=True, inline="always")
def _side(ax: float, ay: float, bx: float, by: float, x: float, y: float) -> int:
    """1 left of a to b, -1 right of it, 0 on it, 2 where rounding leaves it open."""
    left = (ax - x) * (by - y)
    right = (ay - y) * (bx - x)
    turn = left - right
    size = abs(left) + abs(right)
    if size < _UNDERFLOW:
        exact = (ax == x or by == y) and (ay == y or bx == x)
        return 0 if exact else 2
    if abs(turn) >= _ROUNDING * size:
        return 1 if turn > 0.0 else -1
    return 2


@njit("i8(f8, f8, i8, f8[::1], f8[::1], i8[::1], i8[::1], i8[::1], f8[:, ::1])", cache=True)
def _holds(
    x: float, y: float, zone: int, bottom: Any, height: Any, first_band: Any, bands: Any, band_edges: Any, edges: Any
) -> int:
    begin = first_band[zone]
    band = begin + _band_of(y, bottom[zone], height[zone], first_band[zone + 1] - begin)
    inside = False
    for k in range(bands[band], bands[band + 1]):
        e = band_edges[k]
        ax, ay, bx, by = edges[e, 0], edges[e, 1], edges[e, 2], edges[e, 3]
        if (y < ay and y < by) or (y > ay and y > by) or (x > ax and x > bx):
            continue
        if x < ax and x < bx:
            if (ay > y) != (by > y):
                inside = not inside
            continue
        if ay == by:
            return _HELD
        side = _side(ax, ay, bx, by, x, y)
        if side == 0:
            return _HELD
        if side == 2:
            return _UNSURE
        if (ay > y) != (by > y) and (side > 0) == (by > ay):
            inside = not inside
    return _HELD if inside else _OUTSIDE


@njit(
    "void(f8[::1], f8[::1], b1[::1], i8[::1], f8[::1], f8[::1], i8[::1], i8[::1], i8[::1], f8[:, ::1],"
    " f8[:, ::1], f8[:, ::1], i8[::1], i8[::1], i8[::1], i8[::1])",
    cache=True,
    nogil=True,
)
def _fill_first_zone(
    lon: Any, lat: Any, wanted: Any, feature: Any, bottom: Any, height: Any, first_band: Any, bands: Any,
    band_edges: Any, edges: Any, low: Any, high: Any, first: Any, last: Any, order: Any, out: Any,
) -> None:  # fmt: skip
    stack = np.empty(DEEPEST, np.int64)
    inner = len(first) // 2
    for i in range(len(lon)):
        if not wanted[i]:
            continue
        x, y = lon[i], lat[i]
        if abs(x) == 180.0 or abs(y) == 90.0:
            out[i] = OPEN  # one place with two or many pairs of coordinates
            continue
        best = NONE
        depth = 1
        stack[0] = 0
        while depth and best != OPEN:
            depth -= 1
            node = stack[depth]
            if x < low[node, 0] or x > high[node, 0] or y < low[node, 1] or y > high[node, 1]:
                continue
            if node < inner:
                stack[depth], stack[depth + 1] = 2 * node + 1, 2 * node + 2
                depth += 2
                continue
            for k in range(first[node], last[node]):
                zone = order[k]
                if best != NONE and feature[zone] >= best:
                    continue
                held = _holds(x, y, zone, bottom, height, first_band, bands, band_edges, edges)
                if held == _UNSURE:
                    best = OPEN
                    break
                if held == _HELD:
                    best = feature[zone]
        out[i] = best


def first_zone(lon: Floats, lat: Floats, wanted: NDArray[np.bool_], zones: Zones) -> Integers:
    """The lowest-numbered feature that holds each wanted position; NONE, or OPEN where rounding cannot tell."""
    out = np.full(len(lon), NONE, np.int64)
    if len(zones.feature):
        tree = zones.tree
        _fill_first_zone(
            lon, lat, wanted, zones.feature, zones.bottom, zones.band_height, zones.first_band, zones.bands,
            zones.band_edges, zones.edges, tree.low, tree.high, tree.first, tree.last, tree.order, out,
        )  # fmt: skip
    return out
