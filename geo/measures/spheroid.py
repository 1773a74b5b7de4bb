"""The WGS84 spheroid: positions as points in space, and the length of the shortest way between two of them.

In space (earth-centred coordinates) the 180th meridian and the poles are places like any other, so all searching
happens there; the distance that is reported is the geodesic's.
"""

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray
from pyproj import Geod

EQUATOR_RADIUS_M = 6378137.0
FLATTENING = 1 / 298.257223563
POLE_RADIUS_M = EQUATOR_RADIUS_M * (1 - FLATTENING)
ECCENTRICITY_SQUARED = FLATTENING * (2 - FLATTENING)

Floats = NDArray[np.float64]

_UNSETTLED = -1.0
_MOST_STEPS = 20


def points_in_space(lon: Floats, lat: Floats) -> Floats:
    """Earth-centred x, y, z in metres, one row per position."""
    out = np.empty((len(lon), 3))
    _fill_points(np.ascontiguousarray(lon, np.float64), np.ascontiguousarray(lat, np.float64), out)
    return out


@njit("Tuple((f8, f8, f8))(f8, f8)", cache=True)
def point_in_space(lon: float, lat: float) -> tuple[float, float, float]:
    """Earth-centred x, y, z in metres of one position in degrees."""
    phi = np.radians(lat)
    lam = np.radians(lon)
    sine = np.sin(phi)
    normal = EQUATOR_RADIUS_M / np.sqrt(1.0 - ECCENTRICITY_SQUARED * sine * sine)
    across = normal * np.cos(phi)
    return across * np.cos(lam), across * np.sin(lam), normal * (1.0 - ECCENTRICITY_SQUARED) * sine


def place_in_space(functions: Any, lon: Any, lat: Any) -> tuple[Any, Any, Any]:
    """The same in the words of another library: `functions` has radians, sin, cos and sqrt, as Spark's have."""
    phi, lam = functions.radians(lat), functions.radians(lon)
    sine = functions.sin(phi)
    normal = EQUATOR_RADIUS_M / functions.sqrt(1.0 - ECCENTRICITY_SQUARED * sine * sine)
    across = normal * functions.cos(phi)
    return across * functions.cos(lam), across * functions.sin(lam), normal * (1.0 - ECCENTRICITY_SQUARED) * sine


@njit("void(f8[::1], f8[::1], f8[:, ::1])", cache=True)
def _fill_points(lon: Any, lat: Any, out: Any) -> None:
    for i in range(len(lon)):
        out[i, 0], out[i, 1], out[i, 2] = point_in_space(lon[i], lat[i])


def distance_m(lon: Floats, lat: Floats, to_lon: Floats, to_lat: Floats) -> Floats:
    """Geodesic distances in metres, row by row; NaN where a coordinate is NaN."""
    a, b, c, d = (np.ascontiguousarray(v, np.float64) for v in np.broadcast_arrays(lon, lat, to_lon, to_lat))
    lengths = np.empty(len(a))
    _fill_lengths(a, b, c, d, lengths)
    settle_distances(a, b, c, d, lengths)
    return lengths


def settle_distances(lon: Floats, lat: Floats, to_lon: Floats, to_lat: Floats, lengths: Floats) -> None:
    """Fill in, by Karney's method, the few lengths that `geodesic_m` left open (nearly opposite places)."""
    rows = np.flatnonzero(lengths == _UNSETTLED)
    if len(rows):
        _, _, lengths[rows] = Geod(ellps="WGS84").inv(lon[rows], lat[rows], to_lon[rows], to_lat[rows])


@njit("f8(f8, f8, f8, f8, f8)", cache=True)
def _length(sigma: float, sin_sigma: float, cos_sigma: float, middle: float, cos2_alpha: float) -> float:
    u2 = cos2_alpha * (EQUATOR_RADIUS_M**2 - POLE_RADIUS_M**2) / POLE_RADIUS_M**2
    a = 1.0 + u2 / 16384.0 * (4096.0 + u2 * (-768.0 + u2 * (320.0 - 175.0 * u2)))
    b = u2 / 1024.0 * (256.0 + u2 * (-128.0 + u2 * (74.0 - 47.0 * u2)))
    m2 = middle * middle
    inner = cos_sigma * (2.0 * m2 - 1.0) - b / 6.0 * middle * (4.0 * sin_sigma * sin_sigma - 3.0) * (4.0 * m2 - 3.0)
    return POLE_RADIUS_M * a * (sigma - b * sin_sigma * (middle + b / 4.0 * inner))


@njit("f8(f8, f8, f8, f8)", cache=True)
def geodesic_m(lon: float, lat: float, to_lon: float, to_lat: float) -> float:
    """Vincenty's inverse (Survey Review 23, 1975); -1 where it does not converge, which only opposite places do."""
    u1 = np.arctan((1.0 - FLATTENING) * np.tan(np.radians(lat)))
    u2 = np.arctan((1.0 - FLATTENING) * np.tan(np.radians(to_lat)))
    apart = np.radians(to_lon - lon)
    if apart > np.pi:
        apart -= 2.0 * np.pi
    elif apart < -np.pi:
        apart += 2.0 * np.pi
    sin1, cos1, sin2, cos2 = np.sin(u1), np.cos(u1), np.sin(u2), np.cos(u2)
    lam = apart
    for _ in range(_MOST_STEPS):
        sin_lam, cos_lam = np.sin(lam), np.cos(lam)
        east = cos2 * sin_lam
        north = cos1 * sin2 - sin1 * cos2 * cos_lam
        sin_sigma = np.sqrt(east * east + north * north)
        if sin_sigma == 0.0:
            return 0.0 if cos_lam > 0.0 else _UNSETTLED
        cos_sigma = sin1 * sin2 + cos1 * cos2 * cos_lam
        sigma = np.arctan2(sin_sigma, cos_sigma)
        sin_alpha = cos1 * cos2 * sin_lam / sin_sigma
        cos2_alpha = 1.0 - sin_alpha * sin_alpha
        middle = cos_sigma - 2.0 * sin1 * sin2 / cos2_alpha if cos2_alpha > 1e-15 else 0.0
        c = FLATTENING / 16.0 * cos2_alpha * (4.0 + FLATTENING * (4.0 - 3.0 * cos2_alpha))
        stretch = sigma + c * sin_sigma * (middle + c * cos_sigma * (2.0 * middle * middle - 1.0))
        following = apart + (1.0 - c) * FLATTENING * sin_alpha * stretch
        if abs(following) > np.pi:
            return _UNSETTLED
        if abs(following - lam) < 1e-14 + 1e-13 * abs(lam):
            return _length(sigma, sin_sigma, cos_sigma, middle, cos2_alpha)
        lam = following
    return _UNSETTLED


@njit("void(f8[::1], f8[::1], f8[::1], f8[::1], f8[::1])", cache=True)
def _fill_lengths(lon: Any, lat: Any, to_lon: Any, to_lat: Any, out: Any) -> None:
    for i in range(len(lon)):
        out[i] = geodesic_m(lon[i], lat[i], to_lon[i], to_lat[i])
