"""Passages: along a route, in and out of port, and short ways across open water."""

import numpy as np

from foresail.pipeline.simulator.geometry import KNOT_MS, Floats, along_m, moved
from foresail.pipeline.simulator.maritime.motion import UNDER_WAY, Leg, Place
from foresail.pipeline.simulator.maritime.sea_lanes import Route

KNOT_EVERY_S = 30.0
GRAIN_M = 60.0
NOISE_EVERY_M = 2_500.0
HARBOUR_M = 3_500.0
"""Over this distance from the harbour's slow water a vessel gathers its cruising speed."""


def way(random: np.random.Generator, route: Route) -> Floats:
    """The route as one vessel sails it: up to 1.5 km beside the lane's middle, the ends in port."""
    taper = np.minimum(1, np.minimum(route.along_m, route.length_m - route.along_m) / 15_000)
    swing = np.sin(route.along_m / route.length_m * np.pi * random.integers(1, 4) + random.uniform(0, 6))
    beside = taper * (random.uniform(-900, 900) + 500 * swing)
    lon, lat = moved(route.lon, route.lat, route.left[:, 0] * beside, route.left[:, 1] * beside)
    return np.stack([lon, lat], axis=1)


def part(line: Floats, begin_m: float, end_m: float) -> Floats:
    """The stretch of a line from `begin_m` to `end_m`, backwards when end lies before begin."""
    along = along_m(line[:, 0], line[:, 1])
    low, high = sorted((begin_m, end_m))
    marks = np.concatenate([[low], along[(along > low + 1) & (along < high - 1)], [high]])
    cut = np.stack([np.interp(marks, along, line[:, 0]), np.interp(marks, along, line[:, 1])], axis=1)
    return cut if begin_m <= end_m else cut[::-1]


def sail(
    random: np.random.Generator,
    start_s: float,
    line: Floats,
    cruise_kn: float,
    *,
    from_port_m: float = 0.0,
    to_port_m: float = 0.0,
    harbour_kn: float = 1.0,
    status: int = UNDER_WAY,
    unsteady: float = 0.06,
) -> Leg:
    """The passage along `line`; over the first and last metres given it crawls at the harbour's speed."""
    along = along_m(line[:, 0], line[:, 1])
    grain = np.linspace(0, along[-1], max(4, int(along[-1] / GRAIN_M)))
    speed = cruise_kn * (1 + unsteady * _slow_noise(random, grain))
    speed = np.minimum(speed, _harbour_limit(grain, from_port_m, harbour_kn, cruise_kn))
    speed = np.minimum(speed, _harbour_limit(along[-1] - grain, to_port_m, harbour_kn, cruise_kn))
    middle = (speed[1:] + speed[:-1]) / 2 * KNOT_MS
    clock = np.concatenate([[0.0], np.cumsum(np.diff(grain) / middle)])
    knots = np.linspace(0, clock[-1], max(3, int(clock[-1] / KNOT_EVERY_S) + 1))
    metres = np.interp(knots, clock, grain)
    return Leg(start_s + knots, np.interp(metres, along, line[:, 0]), np.interp(metres, along, line[:, 1]), status)


def cross(random: np.random.Generator, here: Place, lon: float, lat: float, speed_kn: float) -> Leg:
    """A short straight passage to a place."""
    line = np.array([[here.lon, here.lat], [lon, lat]])
    if along_m(line[:, 0], line[:, 1])[-1] < 1:
        return stay(here, 1.0)
    return sail(random, here.time_s, line, speed_kn, unsteady=0.03)


def stay(here: Place, seconds: float, status: int = UNDER_WAY) -> Leg:
    """No movement at all."""
    times = here.time_s + np.array([0.0, max(seconds, 1.0)])
    return Leg(times, np.full(2, here.lon), np.full(2, here.lat), status)


def _harbour_limit(from_port_m: Floats, slow_m: float, harbour_kn: float, cruise_kn: float) -> Floats:
    """Speed allowed at that distance from the berth: slow water, then a smooth rise to any speed."""
    if slow_m <= 0:
        return np.full(len(from_port_m), np.inf)
    rise = np.clip((from_port_m - slow_m) / HARBOUR_M, 0, 1)
    smooth = rise * rise * (3 - 2 * rise)
    return np.where(rise >= 1, np.inf, harbour_kn + smooth * max(cruise_kn - harbour_kn, 0))


def _slow_noise(random: np.random.Generator, along: Floats) -> Floats:
    marks = np.arange(0, along[-1] + 2 * NOISE_EVERY_M, NOISE_EVERY_M)
    return np.interp(along, marks, np.clip(random.standard_normal(len(marks)), -2, 2))
