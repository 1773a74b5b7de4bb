"""Geometries that cross the 180th meridian or close around a pole, cut so that every part lies within -180..180.

GeoJSON asks for such cuts (RFC 7946, 3.1.9), but files jump from 179 to -179 degrees or go on to 190 instead.
A step of more than 180 and less than 360 degrees is read as the short way around the earth.
"""

from collections.abc import Iterable
from typing import Any

import numpy as np
import shapely
from numpy.typing import NDArray
from shapely.affinity import translate

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
