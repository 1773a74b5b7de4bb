"""Passages: along a route, in and out of port, and short ways across open water.

Motion as knots in time: legs that behaviours make, and how they join into the motion of one vessel.
"""

from dataclasses import dataclass

import numpy as np

from foresail.pipeline.simulator.geometry import (
    KNOT_MS,
    Bools,
    Floats,
    along_m,
    bearing_deg,
    distance_m,
    moved,
    wrapped_deg,
)
from foresail.pipeline.simulator.maritime.sea import Route

UNDER_WAY, AT_ANCHOR, RESTRICTED, MOORED, FISHING, SAILING = 0, 1, 3, 5, 7, 8


@dataclass(frozen=True, slots=True)
class Place:
    """Where a vessel is, when (seconds since the start of the simulation)."""

    time_s: float
    lon: float
    lat: float


@dataclass(frozen=True, slots=True)
class Leg:
    """Knots of one behaviour; the vessel moves evenly between them. The bow points `drift_deg` off the course."""

    time_s: Floats
    lon: Floats
    lat: Floats
    status: int = UNDER_WAY
    drift_deg: float = 0.0

    @property
    def start(self) -> Place:
        """The first knot."""
        return Place(float(self.time_s[0]), float(self.lon[0]), float(self.lat[0]))

    @property
    def end(self) -> Place:
        """The last knot."""
        return Place(float(self.time_s[-1]), float(self.lon[-1]), float(self.lat[-1]))

    def shifted(self, seconds: float) -> "Leg":
        """The same movement, that much later."""
        return Leg(self.time_s + seconds, self.lon, self.lat, self.status, self.drift_deg)


@dataclass(frozen=True, slots=True)
class Motion:
    """The movement of one vessel over the whole simulation: knots, and one value per stretch between knots."""

    time_s: Floats
    lon: Floats
    lat: Floats
    status: Floats
    drift_deg: Floats
    speed_kn: Floats
    course_deg: Floats


@dataclass(frozen=True, slots=True)
class Sample:
    """A motion seen at chosen times: the true values, before any sensor."""

    time_s: Floats
    lon: Floats
    lat: Floats
    speed_kn: Floats
    course_deg: Floats
    bow_deg: Floats
    status: Floats


def joined(legs: list[Leg]) -> Motion:
    """One motion from legs that follow each other in time."""
    time_s = np.concatenate([leg.time_s for leg in legs])
    lon = np.concatenate([leg.lon for leg in legs])
    lat = np.concatenate([leg.lat for leg in legs])
    status = np.concatenate([np.full(len(leg.time_s), leg.status, dtype=float) for leg in legs])
    drift = np.concatenate([np.full(len(leg.time_s), leg.drift_deg) for leg in legs])
    last_of_same_time = np.concatenate([np.diff(time_s) > 1e-6, [True]])
    time_s, lon, lat, status, drift = (a[last_of_same_time] for a in (time_s, lon, lat, status, drift))
    metres = distance_m(lon[:-1], lat[:-1], lon[1:], lat[1:])
    speed = metres / np.diff(time_s) / KNOT_MS
    course = _kept_when_still(bearing_deg(lon[:-1], lat[:-1], lon[1:], lat[1:]), metres > 0.5)
    return Motion(time_s, lon, lat, status[:-1], drift[:-1], speed, course)


def sampled(motion: Motion, times_s: Floats) -> Sample:
    """The motion at `times_s`."""
    stretch = np.clip(np.searchsorted(motion.time_s, times_s, side="right") - 1, 0, len(motion.speed_kn) - 1)
    course = motion.course_deg[stretch]
    return Sample(
        times_s,
        np.interp(times_s, motion.time_s, motion.lon),
        np.interp(times_s, motion.time_s, motion.lat),
        motion.speed_kn[stretch],
        course,
        (course + motion.drift_deg[stretch]) % 360,
        motion.status[stretch],
    )


def _kept_when_still(course: Floats, moving: Bools) -> Floats:
    """The course of each stretch, or of the last one that moved."""
    last = np.maximum.accumulate(np.where(moving, np.arange(len(course)), 0))
    return course[last]


def turned_deg(bow: Floats) -> Floats:
    """Change of the bow's direction from the position before, -180..180; unknown for the first."""
    return np.concatenate([[np.nan], wrapped_deg(np.diff(bow))])


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
