"""Chapters of a vessel's story: what one voyage or task adds, and the voyages that every kind of vessel makes."""

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from foresail.pipeline.simulator.geometry import Floats, along_m
from foresail.pipeline.simulator.maritime.plan import VesselPlan
from foresail.pipeline.simulator.maritime.sailing import MOORED, Leg, Place, part, sail, stay, way
from foresail.pipeline.simulator.maritime.sea import Sea
from foresail.pipeline.simulator.maritime.vessels import KINDS, Kind
from foresail.pipeline.simulator.truth import INJECTED, Mark

PORT_PATTERNS = ("approaching_port", "port_entry", "port_visit")
AROUND_CALL_S = 3 * 3600.0


@dataclass(frozen=True, slots=True)
class Crew:
    """What a behaviour may use: random numbers, the sea, the vessel and the density of its positions."""

    random: np.random.Generator
    sea: Sea
    plan: VesselPlan
    cruise_kn: float
    step_s: float

    @property
    def kind(self) -> Kind:
        """The kind of this vessel."""
        return KINDS[self.plan.vessel_type]


@dataclass(frozen=True, slots=True)
class Chapter:
    """Movement from one port to another (or the same), what it means to show, and when the vessel falls silent."""

    legs: list[Leg]
    port: int
    marks: list[Mark] = field(default_factory=list)
    silences: list[tuple[float, float]] = field(default_factory=list)

    @property
    def end_s(self) -> float:
        """When it is over."""
        return self.legs[-1].end.time_s


def passage(crew: Crew, start_s: float, line: Floats, leaving: bool = True, arriving: bool = True) -> Leg:
    """Sail a line at this vessel's speed, slowly in the harbour where it leaves or arrives."""
    kind = crew.kind
    slow_m = kind.slow_water_m
    harbour_kn = kind.harbour_kn * crew.random.uniform(0.75, 1.25)
    return sail(
        crew.random,
        start_s,
        line,
        crew.cruise_kn,
        from_port_m=slow_m if leaving else 0,
        to_port_m=slow_m if arriving else 0,
        harbour_kn=harbour_kn,
    )


def port_stay(crew: Crew, port: int, here: Place) -> Chapter:
    """A stay at the berth."""
    hours = crew.random.uniform(*crew.kind.stay_h)
    return Chapter([stay(here, hours * 3600, MOORED)], port, call_marks(crew, port, here.time_s, hours * 3600))


def call_marks(crew: Crew, port: int, arrival_s: float, seconds: float) -> list[Mark]:
    """A call at a port shows all the port patterns for that port."""
    name = crew.sea.ports[port].name
    start, end = arrival_s - AROUND_CALL_S, arrival_s + seconds + AROUND_CALL_S
    detail = f"call at {name}"
    calls = [Mark(pattern, start, end, INJECTED, detail, feature=name) for pattern in PORT_PATTERNS]
    return [*calls, Mark("anchored", arrival_s, arrival_s + seconds, INJECTED, detail)]


def moored_mark(crew: Crew, leg: Leg) -> Mark:
    """Lying at the home berth shows `anchored`."""
    name = crew.sea.ports[crew.plan.home].name
    return Mark("anchored", leg.start.time_s, leg.end.time_s, INJECTED, f"at the berth in {name}")


def voyage(crew: Crew, port: int, start_s: float) -> Chapter:
    """A regular voyage to some other port; ferries keep to the shortest routes."""
    numbers = crew.sea.routes_from[port]
    if crew.plan.vessel_type == "passenger":
        numbers = tuple(sorted(numbers, key=lambda number: crew.sea.routes[number].length_m)[:2])
    route = crew.sea.routes[numbers[int(crew.random.integers(len(numbers)))]]
    return Chapter([passage(crew, start_s, way(crew.random, route))], route.destination)


def excursion(
    crew: Crew, start_s: float, route: int, turn_m: float, work: Callable[[Place], list[Leg]] | None = None
) -> tuple[list[Leg], list[Leg]]:
    """Out along a route, some work there, and back to the same port: all legs, and those of the work alone."""
    line = way(crew.random, crew.sea.routes[route])
    turn_m = min(turn_m, 0.95 * float(along_m(line[:, 0], line[:, 1])[-1]))
    out = passage(crew, start_s, part(line, 0, turn_m), arriving=False)
    work_legs = work(out.end) if work else []
    here = work_legs[-1].end if work_legs else out.end
    home = passage(crew, here.time_s, _from(here, part(line, max(turn_m - 2_000, turn_m / 2), 0)), leaving=False)
    return [out, *work_legs, home], work_legs


def outing(crew: Crew, port: int, start_s: float) -> Chapter:
    """Out for a while and back."""
    numbers = crew.sea.routes_from[port]
    route = numbers[int(crew.random.integers(len(numbers)))]
    legs, _ = excursion(crew, start_s, route, crew.random.uniform(8_000, 35_000))
    return Chapter(legs, port)


def _from(here: Place, line: Floats) -> Floats:
    return np.concatenate([[[here.lon, here.lat]], line])
