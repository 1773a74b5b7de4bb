"""Motion as knots in time: legs that behaviours make, and how they join into the motion of one vessel."""

from dataclasses import dataclass

import numpy as np

from foresail.pipeline.simulator.geometry import KNOT_MS, Bools, Floats, bearing_deg, distance_m, wrapped_deg

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
