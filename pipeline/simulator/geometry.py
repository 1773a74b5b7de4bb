"""Distances and moves on the WGS 84 ellipsoid for numpy arrays: short ones, exact enough to check events by."""

from itertools import pairwise
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Floats: TypeAlias = NDArray[np.float64]
Bools: TypeAlias = NDArray[np.bool_]

KNOT_MS = 1852 / 3600
"""One knot in metres per second."""
SEMI_MAJOR_M = 6_378_137.0
ECCENTRICITY_2 = 6.694379990141316e-3


def cartesian(lon: Floats, lat: Floats) -> Floats:
    """Earth-centred coordinates in metres, one row per point; chords below 100 km are geodesics within 1e-5."""
    lam, phi = np.radians(lon), np.radians(lat)
    normal = SEMI_MAJOR_M / np.sqrt(1 - ECCENTRICITY_2 * np.sin(phi) ** 2)
    return np.stack(
        [
            normal * np.cos(phi) * np.cos(lam),
            normal * np.cos(phi) * np.sin(lam),
            normal * (1 - ECCENTRICITY_2) * np.sin(phi),
        ],
        axis=-1,
    )


def distance_m(lon: Floats, lat: Floats, lon2: Floats | float, lat2: Floats | float) -> Floats:
    """Metres between points, element by element."""
    other = cartesian(np.asarray(lon2, dtype=float), np.asarray(lat2, dtype=float))
    result: Floats = np.linalg.norm(cartesian(np.asarray(lon), np.asarray(lat)) - other, axis=-1)
    return result


def metres_per_degree(lat: Floats | float) -> tuple[Floats, Floats]:
    """Metres of one degree of longitude and of one degree of latitude, there."""
    phi = np.radians(np.asarray(lat, dtype=float))
    curvature = 1 - ECCENTRICITY_2 * np.sin(phi) ** 2
    east = np.radians(SEMI_MAJOR_M * np.cos(phi) / np.sqrt(curvature))
    north = np.radians(SEMI_MAJOR_M * (1 - ECCENTRICITY_2) / curvature**1.5)
    return east, north


def moved(
    lon: Floats | float, lat: Floats | float, east_m: Floats | float, north_m: Floats | float
) -> tuple[Floats, Floats]:
    """The points that many metres to the east and to the north."""
    per_lon, per_lat = metres_per_degree(lat)
    return np.asarray(lon + east_m / per_lon), np.asarray(lat + north_m / per_lat)


def bearing_deg(lon: Floats, lat: Floats, lon2: Floats, lat2: Floats) -> Floats:
    """Direction of travel from the first points to the second, 0..360, for short distances."""
    per_lon, per_lat = metres_per_degree((np.asarray(lat) + lat2) / 2)
    result: Floats = np.degrees(np.arctan2((lon2 - lon) * per_lon, (lat2 - lat) * per_lat)) % 360
    return result


def along_m(lon: Floats, lat: Floats) -> Floats:
    """Metres from the start of a line to each of its points."""
    steps = distance_m(lon[:-1], lat[:-1], lon[1:], lat[1:])
    return np.concatenate([[0.0], np.cumsum(steps)])


def inside_polygon(lon: Floats, lat: Floats, ring: Floats) -> Bools:
    """Whether each point lies inside the closed ring (n, 2), by counting crossings to the east."""
    inside = np.zeros(lon.shape, dtype=bool)
    for (x1, y1), (x2, y2) in pairwise(ring):
        if y1 == y2:
            continue
        spans = (y1 > lat) != (y2 > lat)
        inside ^= spans & (lon < (x2 - x1) * (lat - y1) / (y2 - y1) + x1)
    return inside


def distance_to_line_m(lon: Floats, lat: Floats, line: Floats) -> Floats:
    """Metres from each point to the line (n, 2), flat around each point: for distances up to some 50 km."""
    per_lon, per_lat = metres_per_degree(lat)
    x = (line[:, 0] - lon[:, None]) * per_lon[:, None]
    y = (line[:, 1] - lat[:, None]) * per_lat[:, None]
    dx, dy = np.diff(x, axis=1), np.diff(y, axis=1)
    x, y = x[:, :-1], y[:, :-1]
    share = np.clip(-(x * dx + y * dy) / np.maximum(dx * dx + dy * dy, 1e-9), 0, 1)
    result: Floats = np.hypot(x + share * dx, y + share * dy).min(axis=1)
    return result


def wrapped_deg(angle: Floats) -> Floats:
    """The same angle in -180..180."""
    return (angle + 180) % 360 - 180
