"""The tasks: each behaviour shows one pattern or, a little slower, further or shorter, just misses it."""

from collections.abc import Callable

import numpy as np

from foresail.pipeline.simulator.geometry import Floats, along_m, distance_m
from foresail.pipeline.simulator.maritime.chapters import Chapter, Crew, call_marks, excursion, passage
from foresail.pipeline.simulator.maritime.motion import Leg, Place
from foresail.pipeline.simulator.maritime.plan import OFFSHORE_M, Task
from foresail.pipeline.simulator.maritime.sailing import cross, part, sail, stay, way
from foresail.pipeline.simulator.maritime.sea import Spot
from foresail.pipeline.simulator.maritime.waiting import swing_at_anchor, wander
from foresail.pipeline.simulator.maritime.working import search, shore_line, trawl
from foresail.pipeline.simulator.truth import INJECTED, NEAR_MISS, Mark

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
