"""Geometries that cross the 180th meridian or close around a pole, cut so that every part lies within -180..180.

GeoJSON asks for such cuts (RFC 7946, 3.1.9), but files jump from 179 to -179 degrees or go on to 190 instead.
A step of more than 180 and less than 360 degrees is read as the short way around the earth.

Geometries as the arrays that kernels search: short pieces for distances, edges for zones.
"""

from collections.abc import Iterable
from typing import Any

import numpy as np
import shapely
from numpy.typing import NDArray
from shapely.affinity import translate

from foresail.geo.measures.containment import Zones, build_zones
from foresail.geo.measures.spheroid import EQUATOR_RADIUS_M, points_in_space

WORLD = shapely.box(-180.0, -90.0, 180.0, 90.0)
Geometries = NDArray[Any]


def cut_at_antimeridian(geometries: Geometries) -> tuple[Geometries, NDArray[np.bool_]]:
    """The geometries within -180..180 degrees, and which of them had to be changed."""
    bounds = shapely.bounds(geometries)
    beyond = (bounds[:, 0] < -180.0) | (bounds[:, 2] > 180.0)
    suspect = np.flatnonzero(beyond | (bounds[:, 2] - bounds[:, 0] > 180.0))
    out, changed = geometries.copy(), np.zeros(len(geometries), bool)
    for row in suspect:
        if beyond[row] or _jumps(geometries[row]):
            out[row] = _cut(_unwrapped(geometries[row]))
            changed[row] = True
    return out, changed


def _jumps(geometry: Any) -> bool:
    return any(_steps(shapely.get_coordinates(path)[:, 0]).any() for path in _paths(geometry))


def _paths(geometry: Any) -> Iterable[Any]:
    parts = shapely.get_parts(geometry)
    polygons = shapely.get_type_id(parts) == 3
    yield from shapely.get_rings(parts[polygons])
    for part in parts[~polygons]:
        if part.geom_type == "GeometryCollection":
            yield from _paths(part)
        elif part.geom_type != "Point":
            yield part


def _steps(lon: NDArray[np.float64]) -> NDArray[np.float64]:
    """+-360 at each step that is to be read as the other way around the earth, else 0."""
    step = np.diff(lon)
    long_way = (np.abs(step) > 180.0) & (np.abs(step) < 360.0)
    return np.where(long_way, -360.0 * np.sign(step), 0.0)


def _unwrapped(geometry: Any) -> Any:
    if geometry.geom_type == "Polygon":
        return _unwrapped_polygon(geometry)
    if geometry.geom_type in ("LineString", "LinearRing"):
        return shapely.LineString(_unwrap(shapely.get_coordinates(geometry)))
    if geometry.geom_type == "Point":
        return geometry
    return shapely.GeometryCollection([_unwrapped(part) for part in geometry.geoms])


def _unwrap(coordinates: NDArray[np.float64]) -> NDArray[np.float64]:
    shift = np.concatenate(([0.0], np.cumsum(_steps(coordinates[:, 0]))))
    return np.column_stack((coordinates[:, 0] + shift, coordinates[:, 1]))


def _unwrapped_polygon(polygon: Any) -> Any:
    shell = _closed_ring(shapely.get_coordinates(polygon.exterior))
    middle = (shell[:, 0].min() + shell[:, 0].max()) / 2.0
    holes = []
    for ring in polygon.interiors:
        hole = _closed_ring(shapely.get_coordinates(ring))
        hole[:, 0] += 360.0 * np.round((middle - (hole[:, 0].min() + hole[:, 0].max()) / 2.0) / 360.0)
        holes.append(hole)
    return shapely.Polygon(shell, holes)


def _closed_ring(coordinates: NDArray[np.float64]) -> NDArray[np.float64]:
    """The ring unwrapped; one that goes once around the earth is closed over the pole of its hemisphere."""
    ring = _unwrap(coordinates)
    turn = ring[-1, 0] - ring[0, 0]
    if abs(turn) < 180.0:
        return ring
    pole = 90.0 if ring[:, 1].mean() > 0 else -90.0
    over = np.array([[ring[-1, 0], pole], [ring[0, 0], pole], ring[0]])
    return np.vstack((ring, over))


def _cut(geometry: Any) -> Any:
    if geometry.geom_type == "GeometryCollection":
        return _flat([_cut(part) for part in geometry.geoms])
    if geometry.geom_type in ("Point", "MultiPoint"):
        return shapely.transform(geometry, _wrapped)
    geometry = geometry if geometry.is_valid else shapely.make_valid(geometry)
    west, _, east, _ = geometry.bounds
    turns = range(int(np.floor((west + 180.0) / 360.0)), int(np.ceil((east - 180.0) / 360.0)) + 1)
    dimension = shapely.get_dimensions(geometry)
    parts: list[Any] = []
    for turn in turns:
        inside = shapely.get_parts(shapely.intersection(translate(geometry, -360.0 * turn), WORLD))
        parts += [part for part in inside if shapely.get_dimensions(part) == dimension and not part.is_empty]
    return _flat(parts)


def _flat(parts: list[Any]) -> Any:
    """One geometry of all parts, of the simplest type that holds them."""
    single = [piece for part in parts for piece in shapely.get_parts(part)]
    if len(single) == 1:
        return single[0]
    kinds = {piece.geom_type for piece in single}
    if kinds == {"Polygon"}:
        return shapely.union_all(single)  # parts of one shape may come to lie side by side
    if kinds == {"LineString"}:
        return shapely.MultiLineString(single)
    return shapely.MultiPoint(single) if kinds == {"Point"} else shapely.GeometryCollection(single)


def _wrapped(coordinates: NDArray[np.float64]) -> NDArray[np.float64]:
    lon = coordinates[:, 0]
    return np.column_stack((np.where(np.abs(lon) > 180.0, (lon + 180.0) % 360.0 - 180.0, lon), coordinates[:, 1]))


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
