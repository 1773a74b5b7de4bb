"""Geometries as the arrays that kernels search: short pieces for distances, edges for zones."""

from typing import Any

import numpy as np
import shapely
from numpy.typing import NDArray

from foresail.geo.measures.containment import Zones, build_zones
from foresail.geo.measures.spheroid import EQUATOR_RADIUS_M, points_in_space

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

SAG_M = 0.5
"""How far an edge, straight in degrees, may bend away from the straight piece that stands for it."""
STEEPEST = 1000.0


def edges_of(shapes: NDArray[Any]) -> tuple[Floats, Integers, NDArray[np.bool_]]:
    """Every edge of every shape (a point is an edge without length), its shape's number, and whether of a polygon."""
    parts, owner = _simple_parts(shapes)
    kind = shapely.get_type_id(parts)
    rings, ring_owner = shapely.get_rings(parts[kind == 3], return_index=True)
    paths = np.concatenate((rings, parts[(kind == 1) | (kind == 2)]))
    path_owner = np.concatenate((owner[kind == 3][ring_owner], owner[(kind == 1) | (kind == 2)]))
    xy, path = shapely.get_coordinates(paths, return_index=True)
    joined = path[1:] == path[:-1]
    lines = np.hstack((xy[:-1], xy[1:]))[joined]
    line_path = path[:-1][joined]
    points = shapely.get_coordinates(parts[kind == 0])
    edges = np.vstack((lines, np.hstack((points, points))))
    of_polygon = np.concatenate((line_path < len(rings), np.zeros(len(points), bool)))
    return edges, np.concatenate((path_owner[line_path], owner[kind == 0])).astype(np.int64), of_polygon


def _simple_parts(shapes: NDArray[Any]) -> tuple[NDArray[Any], Integers]:
    parts, owner = shapely.get_parts(shapes, return_index=True)
    while (shapely.get_type_id(parts) > 3).any():
        parts, inner = shapely.get_parts(parts, return_index=True)
        owner = owner[inner]
    return parts, owner


def shortened(edges: Floats, owner: Integers) -> tuple[Floats, Integers]:
    """The edges cut so short that each is straight in space as well, within SAG_M."""
    chord = np.linalg.norm(
        points_in_space(edges[:, 0], edges[:, 1]) - points_in_space(edges[:, 2], edges[:, 3]), axis=1
    )
    around = np.abs(edges[:, 2] - edges[:, 0])
    flattest = np.minimum(np.abs(edges[:, 1]), np.abs(edges[:, 3]))
    length = np.maximum(chord, np.radians(around) * np.cos(np.radians(flattest)) * EQUATOR_RADIUS_M)
    steep = np.clip(np.tan(np.radians(np.maximum(np.abs(edges[:, 1]), np.abs(edges[:, 3])))), 1.0, STEEPEST)
    parts = np.ceil(np.maximum(length / np.sqrt(8.0 * EQUATOR_RADIUS_M * SAG_M / steep), around / 90.0))
    parts = np.maximum(parts, 1).astype(np.int64)
    row = np.repeat(np.arange(len(edges)), parts)
    step = np.arange(len(row)) - np.repeat(np.cumsum(parts) - parts, parts)
    begin, end = (step / parts[row])[:, None], ((step + 1) / parts[row])[:, None]
    low, span = edges[row, :2], edges[row, 2:] - edges[row, :2]
    cut = np.hstack((low + begin * span, np.where(end == 1.0, edges[row, 2:], low + end * span)))
    return cut, owner[row]


def zones_of(edges: Floats, owner: Integers, of_polygon: NDArray[np.bool_]) -> Zones:
    """The polygons among the edges, ready for containment."""
    features, zone = np.unique(owner[of_polygon], return_inverse=True)
    return build_zones(edges[of_polygon], zone.astype(np.int64), features.astype(np.int64))
