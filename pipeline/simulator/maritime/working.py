"""Vessels at work: trawling to and fro, searching in tight turns, running along a shore."""

import numpy as np

from foresail.pipeline.simulator.geometry import KNOT_MS, Floats, metres_per_degree, moved
from foresail.pipeline.simulator.maritime.motion import FISHING, UNDER_WAY, Leg, Place
from foresail.pipeline.simulator.maritime.sailing import part, sail

HAUL_M = 5_000.0
HAUL_SPACING_M = 450.0
SEARCH_TURN_DEG = 40.0
KNOTS_PER_STEP = 6


def trawl(random: np.random.Generator, here: Place, seconds: float, speed_kn: float) -> Leg:
    """Hauls to and fro across the place, with a U-turn after each; stays within 5 km of it for up to 18 hauls."""
    metres = speed_kn * 1.1 * KNOT_MS * seconds
    hauls = max(2, min(18, int(metres / HAUL_M) + 1))
    corners = _hauls(hauls) @ _rotation(random.uniform(0, 2 * np.pi))
    lon, lat = moved(here.lon, here.lat, corners[:, 0], corners[:, 1])
    leg = sail(random, here.time_s, np.stack([lon, lat], axis=1), speed_kn, status=FISHING, unsteady=0.05)
    until = leg.time_s <= here.time_s + seconds
    return Leg(leg.time_s[until], leg.lon[until], leg.lat[until], FISHING)


def search(random: np.random.Generator, here: Place, seconds: float, speed_kn: float, step_s: float) -> Leg:
    """A search in tight turns: between two positions the bow turns by some 40 degrees, the side changing at times."""
    tick = step_s / KNOTS_PER_STEP
    count = max(KNOTS_PER_STEP, int(seconds / tick))
    sides = np.repeat(random.choice([-1.0, 1.0], size=count // (14 * KNOTS_PER_STEP) + 1), 14 * KNOTS_PER_STEP)[:count]
    course = np.radians(random.uniform(0, 360) + np.cumsum(sides * SEARCH_TURN_DEG / KNOTS_PER_STEP))
    metres = speed_kn * KNOT_MS * tick
    east = np.concatenate([[0.0], np.cumsum(metres * np.sin(course))])
    north = np.concatenate([[0.0], np.cumsum(metres * np.cos(course))])
    lon, lat = moved(here.lon, here.lat, east, north)
    return Leg(here.time_s + np.linspace(0, tick * count, count + 1), lon, lat, UNDER_WAY)


def shore_line(shore: Floats, offset_m: float, toward: tuple[float, float]) -> Floats:
    """A line along the outer part of a shore, `offset_m` off it, on the side of the place `toward`."""
    outer = part(shore, 9_500, 12_500)
    per_lon, per_lat = metres_per_degree(float(outer[0, 1]))
    flat = outer * np.array([float(per_lon), float(per_lat)])
    along = np.gradient(flat, axis=0)
    normal = np.stack([-along[:, 1], along[:, 0]], axis=1) / np.hypot(along[:, 0], along[:, 1])[:, None]
    to_sea = (np.array(toward) - outer[0]) * np.array([float(per_lon), float(per_lat)])
    side = 1.0 if float(normal[0] @ to_sea) > 0 else -1.0
    lon, lat = moved(outer[:, 0], outer[:, 1], side * offset_m * normal[:, 0], side * offset_m * normal[:, 1])
    return np.stack([lon, lat], axis=1)


def _hauls(count: int) -> Floats:
    """Corner points in metres around the middle: long hauls side by side, starting and turning around it."""
    corners = [[0.0, 0.0]]
    for haul in range(count):
        side = (haul - count / 2) * HAUL_SPACING_M * 0.9
        ends = (-HAUL_M / 2, HAUL_M / 2) if haul % 2 == 0 else (HAUL_M / 2, -HAUL_M / 2)
        corners += [[ends[0], side], [ends[1], side], [ends[1] * 1.04, side + HAUL_SPACING_M * 0.45]]
    return np.array(corners)


def _rotation(angle: float) -> Floats:
    return np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
