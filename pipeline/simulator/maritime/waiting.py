"""Vessels that wait: swinging at anchor, and wandering slowly on open water."""

import numpy as np

from foresail.pipeline.simulator.geometry import KNOT_MS, moved
from foresail.pipeline.simulator.maritime.motion import AT_ANCHOR, UNDER_WAY, Leg, Place

WANDER_EVERY_S = 300.0


def swing_at_anchor(random: np.random.Generator, here: Place, seconds: float) -> Leg:
    """Hours on the anchor chain: a slow arc around the anchor."""
    times = np.linspace(0, seconds, max(3, int(seconds / 600) + 1))
    angle = random.uniform(0, 2 * np.pi) + 1.2 * np.sin(2 * np.pi * times / random.uniform(20_000, 40_000))
    radius = random.uniform(30, 60)
    lon, lat = moved(
        here.lon, here.lat, radius * (np.cos(angle) - np.cos(angle[0])), radius * (np.sin(angle) - np.sin(angle[0]))
    )
    return Leg(here.time_s + times, lon, lat, AT_ANCHOR)


def wander(
    random: np.random.Generator,
    here: Place,
    seconds: float,
    slowest_kn: float,
    fastest_kn: float,
    *,
    drift_deg: float = 0.0,
    turning_deg: float = 25.0,
    status: int = UNDER_WAY,
) -> Leg:
    """Slow movement with a course that changes a little every few minutes, the bow `drift_deg` off it."""
    count = max(2, int(seconds / WANDER_EVERY_S) + 1)
    times = np.linspace(0, seconds, count)
    course = np.radians(random.uniform(0, 360) + np.cumsum(random.uniform(-turning_deg, turning_deg, count - 1)))
    metres = random.uniform(slowest_kn, fastest_kn, count - 1) * KNOT_MS * np.diff(times)
    east = np.concatenate([[0.0], np.cumsum(metres * np.sin(course))])
    north = np.concatenate([[0.0], np.cumsum(metres * np.cos(course))])
    lon, lat = moved(here.lon, here.lat, east, north)
    return Leg(here.time_s + times, lon, lat, status, drift_deg)
