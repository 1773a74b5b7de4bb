"""Who does what: the kind, home and tasks of every vessel, decided once for the whole fleet."""

from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np

from foresail.pipeline.simulator.maritime.sea import Sea, Spot
from foresail.pipeline.simulator.maritime.vessels import KINDS, MIXES
from foresail.pipeline.simulator.scenario import generator
from foresail.pipeline.simulator.settings import SimulationSettings

Choice = TypeVar("Choice")
TRACKS_PER_ROUND = 120
"""One round of every task for that many vessels."""
OFFSHORE_M = 50_000.0
MEETING_FROM_PORT_M = 20_000.0
FIRST_MMSI = 228_000_000
"""Simulated identities start here; they stand for no real vessel."""


@dataclass(frozen=True, slots=True)
class Task:
    """Something to do, once: `behaviour` either shows the pattern or misses it narrowly."""

    pattern: str
    behaviour: str
    vessel_type: str
    injected: bool = True


@dataclass(frozen=True, slots=True)
class PairTask:
    """Something two vessels of these kinds do together."""

    pattern: str
    behaviour: str
    vessel_types: tuple[str, str]
    injected: bool = True


@dataclass(frozen=True, slots=True)
class Meeting:
    """A pair task with its place and time; both vessels know it, `first` and `second` are track numbers."""

    number: int
    task: PairTask
    spot: Spot
    time_s: float
    first: int
    second: int


@dataclass(frozen=True, slots=True)
class VesselPlan:
    """What one vessel is and means to do."""

    number: int
    vessel_type: str
    home: int
    tasks: tuple[Task, ...] = ()
    meeting: Meeting | None = None

    @property
    def mmsi(self) -> int:
        """A simulated identity."""
        return FIRST_MMSI + self.number


TASKS = (
    Task("search_and_rescue", "search", "search_and_rescue"),
    Task("high_speed_near_coast", "fast_run", "pleasure"),
    Task("drifting", "drift", "cargo"),
    Task("anchored", "anchor", "tanker"),
    Task("gap", "silence", "tanker"),
    Task("trawling", "trawl", "fishing"),
    Task("loitering", "loiter", "cargo"),
    Task("loitering_far_offshore", "far_loiter", "cargo"),
    Task("approaching_port", "turn_back", "passenger", injected=False),
    Task("port_visit", "touch_and_go", "sailing", injected=False),
    Task("search_and_rescue", "slow_search", "search_and_rescue", injected=False),
    Task("high_speed_near_coast", "further_run", "pleasure", injected=False),
    Task("high_speed_near_coast", "slow_run", "pleasure", injected=False),
    Task("drifting", "small_drift", "cargo", injected=False),
    Task("anchored", "slow_in_anchorage", "tanker", injected=False),
    Task("gap", "short_silence", "tanker", injected=False),
    Task("trawling", "fast_trawl", "fishing", injected=False),
    Task("trawling", "other_trawl", "sailing", injected=False),
    Task("loitering", "slow_wander", "cargo", injected=False),
    Task("loitering_far_offshore", "far_wander", "cargo", injected=False),
    Task("loitering_far_offshore", "short_far_loiter", "cargo", injected=False),
)

PAIR_TASKS = (
    PairTask("rendezvous", "rendezvous", ("fishing", "cargo")),
    PairTask("encounter", "encounter", ("fishing", "tanker")),
    PairTask("tugging", "tow", ("tug", "cargo")),
    PairTask("collision_risk", "crossing", ("cargo", "passenger")),
    PairTask("rendezvous", "distant_rendezvous", ("fishing", "cargo"), injected=False),
    PairTask("encounter", "short_encounter", ("fishing", "tanker"), injected=False),
    PairTask("tugging", "convoy", ("tanker", "cargo"), injected=False),
    PairTask("collision_risk", "wide_crossing", ("cargo", "passenger"), injected=False),
)


def make_plans(sea: Sea, settings: SimulationSettings) -> tuple[VesselPlan, ...]:
    """The plan of every vessel; the same for the same seed, however the work is split later."""
    random = generator(settings.seed, "plans")
    rounds = max(1, settings.tracks // TRACKS_PER_ROUND)
    homes = _homes(sea)
    plans = _meeting_plans(random, sea, settings, rounds)
    queue_limit = max(1, int(settings.days * 1.5))
    for task in TASKS * rounds:
        if len(plans) < settings.tracks:
            plans.append(VesselPlan(len(plans), task.vessel_type, _any(random, homes[task.vessel_type]), (task,)))
        else:
            _queue(plans, task, queue_limit)
    names, parts = zip(*MIXES[settings.mix].items(), strict=True)
    share = np.array(parts) / sum(parts)
    while len(plans) < settings.tracks:
        vessel_type = names[int(random.choice(len(names), p=share))]
        plans.append(VesselPlan(len(plans), vessel_type, _any(random, homes[vessel_type])))
    return tuple(plans)


def _meeting_plans(
    random: np.random.Generator, sea: Sea, settings: SimulationSettings, rounds: int
) -> list[VesselPlan]:
    """Plans of the vessels that meet, two by two; a small fleet keeps a third of its vessels for other tasks."""
    plans: list[VesselPlan] = []
    spots = _meeting_spots(sea)
    for task in PAIR_TASKS * rounds:
        if len(plans) + 2 > max(settings.tracks * 2 // 3, 2 if settings.tracks >= 2 else 0):
            break
        spot = _any(random, spots)
        time_s = float(np.clip(random.uniform(0.12, 0.35) * settings.duration_s, 3_600, 40_000))
        meeting = Meeting(len(plans) // 2, task, spot, time_s, len(plans), len(plans) + 1)
        route = sea.routes[spot.route]
        for vessel_type, home in zip(task.vessel_types, (route.origin, route.destination), strict=True):
            plans.append(VesselPlan(len(plans), vessel_type, home, (), meeting))
    return plans


def _queue(plans: list[VesselPlan], task: Task, queue_limit: int) -> None:
    """Give the task to the least busy vessel of its kind, when the fleet is full."""
    able = [plan for plan in plans if plan.vessel_type == task.vessel_type and len(plan.tasks) < queue_limit]
    if able:
        chosen = min(able, key=lambda plan: (len(plan.tasks), plan.number))
        plans[chosen.number] = replace(chosen, tasks=(*chosen.tasks, task))


def _homes(sea: Sea) -> dict[str, tuple[int, ...]]:
    """For each kind of vessel the ports from which it finds what its tasks need."""
    anywhere = sea.home_ports
    fishing = {sea.routes[spot.route].origin for spot in sea.fishing_spots}
    offshore = {sea.routes[spot.route].origin for spot in sea.spots if spot.port_m > OFFSHORE_M}
    special = {
        "fishing": fishing,
        "sailing": fishing,
        "tanker": set(sea.anchorage_of_port),
        "pleasure": set(sea.open_shores),
        "cargo": offshore,
    }
    return {kind: tuple(sorted(special.get(kind, ()))) or anywhere for kind in KINDS}


def _meeting_spots(sea: Sea) -> tuple[Spot, ...]:
    """Places away from port, near the middle of a short route."""
    fitting = tuple(spot for spot in sea.spots if spot.port_m > MEETING_FROM_PORT_M and _central(sea, spot))
    return fitting or (max(sea.spots, key=lambda spot: spot.port_m),)


def _any(random: np.random.Generator, choices: tuple[Choice, ...]) -> Choice:
    return choices[int(random.integers(len(choices)))]


def _central(sea: Sea, spot: Spot) -> bool:
    return spot.along_m < 150_000 and sea.routes[spot.route].length_m - spot.along_m < 150_000
