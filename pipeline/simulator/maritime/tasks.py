"""The tasks: each behaviour shows one pattern or, a little slower, further or shorter, just misses it.

Vessels that wait: swinging at anchor, and wandering slowly on open water.

Vessels at work: trawling to and fro, searching in tight turns, running along a shore.
"""

from collections.abc import Callable

import numpy as np

from foresail.pipeline.simulator.geometry import KNOT_MS, Floats, along_m, distance_m, metres_per_degree, moved
from foresail.pipeline.simulator.maritime.chapters import Chapter, Crew, call_marks, excursion, passage
from foresail.pipeline.simulator.maritime.plan import OFFSHORE_M, Task
from foresail.pipeline.simulator.maritime.sailing import (
    AT_ANCHOR,
    FISHING,
    UNDER_WAY,
    Leg,
    Place,
    cross,
    part,
    sail,
    stay,
    way,
)
from foresail.pipeline.simulator.maritime.sea import Spot
from foresail.pipeline.simulator.truth import INJECTED, NEAR_MISS, Mark

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


HOUR_S = 3600.0
TURN_BACK_M = 5_900.0
Behaviour = Callable[[Crew, Place], Leg]

AT_SEA: dict[str, tuple[str, Behaviour]] = {
    "search": (
        "search in tight turns at 7 to 11 kn",
        lambda c, p: search(c.random, p, c.random.uniform(1, 3) * HOUR_S, c.random.uniform(7, 11), c.step_s),
    ),
    "slow_search": (
        "the same turns at 2.0 to 2.4 kn, below 2.7",
        lambda c, p: search(c.random, p, c.random.uniform(1, 2) * HOUR_S, c.random.uniform(2.0, 2.4), c.step_s),
    ),
    "drift": (
        "bow 50 to 80 degrees off the course at 1 to 4 kn",
        lambda c, p: wander(
            c.random, p, c.random.uniform(1, 3) * HOUR_S, 1.0, 4.0, drift_deg=_either(c, 50, 80), turning_deg=8
        ),
    ),
    "small_drift": (
        "bow 22 to 27 degrees off the course, below 30",
        lambda c, p: wander(
            c.random, p, c.random.uniform(1, 3) * HOUR_S, 1.0, 4.0, drift_deg=_either(c, 22, 27), turning_deg=8
        ),
    ),
    "loiter": (
        "hardly moving (0.1 to 0.35 kn) away from port and coast",
        lambda c, p: wander(c.random, p, c.random.uniform(1, 4) * HOUR_S, 0.1, 0.35),
    ),
    "slow_wander": (
        "slow, but at 0.7 to 1.2 kn, above 0.5",
        lambda c, p: wander(c.random, p, c.random.uniform(1, 3) * HOUR_S, 0.7, 1.2),
    ),
    "far_loiter": (
        "0.7 to 1.6 kn for 5 to 8 hours, far offshore",
        lambda c, p: wander(c.random, p, c.random.uniform(5, 8) * HOUR_S, 0.7, 1.6),
    ),
    "far_wander": (
        "2.4 to 3.0 kn for 5 to 7 hours far offshore, above 2",
        lambda c, p: wander(c.random, p, c.random.uniform(5, 7) * HOUR_S, 2.4, 3.0),
    ),
    "short_far_loiter": (
        "0.7 to 1.6 kn far offshore for under 3 hours, shorter than 4",
        lambda c, p: wander(c.random, p, c.random.uniform(2, 2.8) * HOUR_S, 0.7, 1.6),
    ),
    "trawl": (
        "hauls to and fro at 2.5 to 4.5 kn in a fishing area",
        lambda c, p: trawl(c.random, p, c.random.uniform(4, 11) * HOUR_S, c.random.uniform(2.2, 4.8)),
    ),
    "fast_trawl": (
        "the same lines at 10 to 11 kn, above 9",
        lambda c, p: trawl(c.random, p, c.random.uniform(1, 2) * HOUR_S, c.random.uniform(10.4, 11)),
    ),
    "other_trawl": (
        "the same lines at 3 to 4.5 kn by a vessel that is not a fishing vessel",
        lambda c, p: trawl(c.random, p, c.random.uniform(1, 3) * HOUR_S, c.random.uniform(3, 4.5)),
    ),
}
"""Behaviours that happen at a spot at sea, between two passages."""

SHORE_RUNS = {
    "fast_run": (120.0, 16.0, "14 kn or more, 120 m off the coast"),
    "further_run": (430.0, 16.0, "as fast, but 430 m off the coast, beyond 300"),
    "slow_run": (120.0, 4.3, "as near, but at 4.3 kn, below 5"),
}
SILENCE_H = {"silence": (12.5, 14.5), "short_silence": (9.0, 11.0)}


def perform(crew: Crew, task: Task, port: int, start_s: float) -> Chapter | None:
    """The chapter of this task from `port`, or None where the port has no place for it."""
    match task.behaviour:
        case name if name in AT_SEA:
            return _at_sea(crew, task, port, start_s)
        case name if name in SHORE_RUNS:
            return _shore_run(crew, task, port, start_s)
        case name if name in SILENCE_H:
            return _silence(crew, task, port, start_s)
        case "anchor" | "slow_in_anchorage":
            return _anchorage(crew, task, port, start_s)
        case "turn_back":
            return _turn_back(crew, port, start_s)
        case "touch_and_go":
            return _touch_and_go(crew, port, start_s)
    msg = f"no behaviour is called {task.behaviour}"
    raise AssertionError(msg)


def mark(task: Task, start_s: float, end_s: float, detail: str, feature: str | None = None) -> Mark:
    """What the task means to show in that time."""
    return Mark(task.pattern, start_s, end_s, INJECTED if task.injected else NEAR_MISS, detail, feature)


def _at_sea(crew: Crew, task: Task, port: int, start_s: float) -> Chapter | None:
    spot = _spot(crew, task, port)
    if spot is None:
        return None
    detail, behave = AT_SEA[task.behaviour]
    legs, work = excursion(crew, start_s, spot.route, spot.along_m, lambda here: [behave(crew, here)])
    return Chapter(legs, port, [mark(task, work[0].start.time_s, work[-1].end.time_s, detail)])


def _spot(crew: Crew, task: Task, port: int) -> Spot | None:
    """One of the nearest fitting places on the routes from this port."""
    nearby = crew.sea.spots_from.get(port, ())
    match task.behaviour:
        case "trawl" | "fast_trawl" | "other_trawl":
            fitting = [spot for spot in nearby if spot in crew.sea.fishing_spots]
        case "far_loiter" | "far_wander" | "short_far_loiter":
            fitting = [spot for spot in nearby if spot.port_m > OFFSHORE_M]
        case _:
            fitting = [spot for spot in nearby if spot.port_m > 14_000]
    nearest = fitting[:6]
    return nearest[int(crew.random.integers(len(nearest)))] if nearest else None


def _shore_run(crew: Crew, task: Task, port: int, start_s: float) -> Chapter | None:
    """Out of port, along the shore at some distance, and back."""
    if port not in crew.sea.open_shores:
        return None
    offset_m, speed_kn, detail = SHORE_RUNS[task.behaviour]
    route = crew.sea.routes[crew.sea.routes_from[port][0]]
    gate = route.lon[4], route.lat[4]
    run = shore_line(crew.sea.shores[port], offset_m, (float(gate[0]), float(gate[1])))
    out = passage(crew, start_s, part(np.stack([route.lon, route.lat], axis=1), 0, 2_500), arriving=False)
    to_run = cross(crew.random, out.end, *_seaward(run[0], gate), speed_kn=min(crew.cruise_kn, 4.5))
    line = np.concatenate([[[to_run.end.lon, to_run.end.lat]], run])
    along_shore = sail(crew.random, to_run.end.time_s, line, speed_kn, unsteady=0.03)
    back = cross(crew.random, along_shore.end, *_seaward(run[-1], gate), speed_kn=4.5)
    home = cross(crew.random, back.end, float(gate[0]), float(gate[1]), crew.cruise_kn)
    end = np.array([[home.end.lon, home.end.lat], [crew.sea.ports[port].lon, crew.sea.ports[port].lat]])
    berth = passage(crew, home.end.time_s, end, leaving=False)
    marks = [mark(task, along_shore.start.time_s, along_shore.end.time_s, detail)]
    return Chapter([out, to_run, along_shore, back, home, berth], port, marks)


def _seaward(point: Floats, gate: tuple[float, float]) -> tuple[float, float]:
    """A place one fifth of the way from a point near the shore to the port's gate."""
    lon, lat = point + 0.2 * (np.array(gate) - point)
    return float(lon), float(lat)


def _silence(crew: Crew, task: Task, port: int, start_s: float) -> Chapter:
    """A voyage during which no position is sent for many hours; the vessel may wait at sea meanwhile."""
    hours = crew.random.uniform(*SILENCE_H[task.behaviour])
    numbers = crew.sea.routes_from[port]
    route = numbers[int(crew.random.integers(len(numbers)))]
    seconds = hours * HOUR_S

    def slow_steaming(here: Place) -> list[Leg]:
        return [wander(crew.random, here, seconds, 0.6, 1.5)]

    legs, work = excursion(crew, start_s, route, 25_000, slow_steaming)
    begin = work[0].start.time_s
    detail = f"silent for {hours:.1f} h"
    return Chapter(legs, port, [mark(task, begin - 600, begin + seconds + 600, detail)], [(begin, begin + seconds)])


def _anchorage(crew: Crew, task: Task, port: int, start_s: float) -> Chapter | None:
    """A call at the anchorage off the port."""
    if port not in crew.sea.anchorage_of_port:
        return None
    zone = crew.sea.anchorages[crew.sea.anchorage_of_port[port]]

    def wait(here: Place) -> list[Leg]:
        to_zone = cross(crew.random, here, zone.lon, zone.lat, 4.0)
        if task.injected:
            return [to_zone, swing_at_anchor(crew.random, to_zone.end, crew.random.uniform(2, 8) * HOUR_S)]
        return [to_zone, wander(crew.random, to_zone.end, 0.5 * HOUR_S, 0.7, 1.0)]

    legs, work = excursion(crew, start_s, crew.sea.routes_from[port][0], 9_000, wait)
    detail = f"at anchor in {zone.name}" if task.injected else f"0.7 to 1.0 kn in {zone.name}, above 0.5"
    return Chapter(legs, port, [mark(task, work[-1].start.time_s, work[-1].end.time_s, detail)])


def _turn_back(crew: Crew, port: int, start_s: float) -> Chapter:
    """A voyage that turns some 6 km before its port and goes home."""
    numbers = crew.sea.routes_from[port]
    route = min((crew.sea.routes[number] for number in numbers), key=lambda route: route.length_m)
    line = way(crew.random, route)
    along = along_m(line[:, 0], line[:, 1])
    to_port_m = distance_m(line[:, 0], line[:, 1], line[-1, 0], line[-1, 1])
    turn_m = float(along[np.argmax(to_port_m < TURN_BACK_M) - 1])
    out = passage(crew, start_s, part(line, 0, turn_m), arriving=False)
    home = passage(crew, out.end.time_s, part(line, turn_m, 0), leaving=False)
    name = crew.sea.ports[route.destination].name
    detail = f"turns back about {TURN_BACK_M / 1000:.0f} km before {name}, outside 5 km"
    window = (out.end.time_s - HOUR_S, out.end.time_s + HOUR_S)
    marks = [Mark(pattern, *window, NEAR_MISS, detail, name) for pattern in ("approaching_port", "port_entry")]
    return Chapter([out, home], port, marks)


def _touch_and_go(crew: Crew, port: int, start_s: float) -> Chapter:
    """Into another port and out again without a stop."""
    numbers = crew.sea.routes_from[port]
    route = min((crew.sea.routes[number] for number in numbers), key=lambda route: route.length_m)
    line = way(crew.random, route)
    out = sail(crew.random, start_s, line, crew.cruise_kn, from_port_m=900, to_port_m=900, harbour_kn=1.8)
    home = sail(
        crew.random, out.end.time_s + 1, line[::-1], crew.cruise_kn, from_port_m=900, to_port_m=900, harbour_kn=1.8
    )
    name = crew.sea.ports[route.destination].name
    window = (out.end.time_s - 0.75 * HOUR_S, out.end.time_s + 0.75 * HOUR_S)
    calls = [
        m
        for m in call_marks(crew, route.destination, out.end.time_s, 0)
        if m.pattern in ("approaching_port", "port_entry")
    ]
    miss = Mark("port_visit", *window, NEAR_MISS, f"in and out of {name} without a stop", name)
    return Chapter([out, stay(out.end, 1.0), home], port, [*calls, miss])


def _either(crew: Crew, least: float, most: float) -> float:
    return float(crew.random.choice([-1.0, 1.0]) * crew.random.uniform(least, most))
