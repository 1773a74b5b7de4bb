"""The days of one vehicle: tasks first, then drives, stops and nights, as canonical columns with their marks."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from foresail.pipeline.simulator.fleet.tasks import (
    IDLE,
    MOVING,
    OFF,
    PARKED,
    TASKS,
    Act,
    Driver,
    FleetTask,
    Stretch,
    act,
    drive,
    rest,
)
from foresail.pipeline.simulator.fleet.town import Town, crossing, icy
from foresail.pipeline.simulator.geometry import Bools, Floats
from foresail.pipeline.simulator.scenario import Fault, due_times, fault_of, generator, lost
from foresail.pipeline.simulator.settings import SimulationSettings
from foresail.pipeline.simulator.truth import INJECTED, NEAR_MISS, Mark

BURN_PER_KM = 0.0012
LOW_FUEL = 0.2
GPS_M = 2.0
REFUEL = next(task for task in TASKS if task.behaviour == "refuel")
ROUTE = next(task for task in TASKS if task.behaviour == "route")
NIGHT_EVERY_S, NIGHT_MIN = 86_400.0, 480.0


@dataclass(frozen=True, slots=True)
class VehiclePlan:
    """What one vehicle means to do."""

    number: int
    tasks: tuple[FleetTask, ...] = ()

    @property
    def track(self) -> str:
        """The vehicle's name."""
        return f"vehicle-{self.number:05d}"

    @property
    def start_fuel(self) -> tuple[float, float]:
        """The tank at the start: a task at a gas station needs it to be low or high."""
        behaviours = {task.behaviour for task in self.tasks}
        return (0.3, 0.45) if "refuel" in behaviours else (0.75, 1.0)


@dataclass(frozen=True, slots=True)
class VehicleRows:
    """The positions of one vehicle as received, its marks and its faults; places in metres around the centre."""

    plan: VehiclePlan
    time_s: Floats
    step_index: NDArray[np.int64]
    place: Floats
    engine: NDArray[np.int64]
    speed_kmh: Floats
    fuel_level: Floats
    satellites: Floats
    accelerating: Bools
    ice: Bools
    marks: list[Mark]
    faults: list[Fault]


def make_plans(settings: SimulationSettings) -> tuple[VehiclePlan, ...]:
    """Tasks in turn to all vehicles, once for every 40 of them; a small fleet gets several each."""
    queues: list[list[FleetTask]] = [[] for _ in range(settings.tracks)]
    limit = max(1, int(settings.days * 8))
    for index, task in enumerate(TASKS * max(1, settings.tracks // 40)):
        queue = queues[index % settings.tracks]
        if len(queue) < limit:
            queue.append(task)
    first = ("refuel", "full_tank")  # the tank is right for these only at the start
    ordered = (sorted(queue, key=lambda task: task.behaviour not in first) for queue in queues)
    return tuple(VehiclePlan(number, tuple(queue)) for number, queue in enumerate(ordered))


def live(town: Town, plan: VehiclePlan, settings: SimulationSettings) -> VehicleRows:
    """All positions of the vehicle over the whole simulation."""
    random = generator(settings.seed, "vehicle", plan.number)
    due = due_times(random, settings.steps, settings.step_s, settings.faults)
    fuel = random.uniform(*plan.start_fuel)
    stretches, marks, levels = _stretches(Driver(random, town, settings.step_s), plan, due, fuel)
    place = np.concatenate([stretch.place for stretch in stretches])[: len(due)]
    engine = np.concatenate([stretch.engine for stretch in stretches])[: len(due)]
    speed = np.concatenate([stretch.speed_kmh for stretch in stretches])[: len(due)]
    satellites = _satellites(random, stretches)[: len(due)]
    seen = place + random.uniform(-GPS_M, GPS_M, place.shape)
    keep, faults = _heard(random, due, settings)
    unknown = random.random(len(due)) < 0.005 if settings.faults else np.zeros(len(due), dtype=bool)
    return VehicleRows(
        plan,
        due[keep],
        np.flatnonzero(keep),
        seen[keep],
        engine[keep],
        speed[keep],
        np.where(unknown, np.nan, np.round(levels[: len(due)], 4))[keep],
        satellites[keep],
        (np.diff(speed, prepend=speed[:1]) > 1)[keep],
        icy(town, due, place)[keep],
        marks,
        faults + fault_of("fuel_unknown", unknown & keep, due),
    )


def _stretches(driver: Driver, plan: VehiclePlan, due: Floats, fuel: float) -> tuple[list[Stretch], list[Mark], Floats]:
    """Stretches that fill the simulation, what they mean to show, and the tank at every position."""
    random = driver.random
    stretches = [rest(crossing(random), driver.rows(random.uniform(5, 40)), OFF)]
    marks: list[Mark] = []
    tasks, rows, night_s = list(plan.tasks), len(stretches[0]), random.uniform(0.6, 1.0) * NIGHT_EVERY_S
    levels = [_fuel_levels(stretches, fuel)]
    while rows < len(due):
        here, now = stretches[-1].end, float(due[min(rows, len(due) - 1)])
        task = tasks.pop(0) if tasks else _usual(random, fuel)
        if task:
            scene = act(driver, task, here, now)
            marks.append(_mark(task, scene, rows, due))
            fresh = scene.stretches
        else:
            fresh = _outing(driver, here, night=now > night_s)
            night_s += NIGHT_EVERY_S if now > night_s else 0
        stretches += fresh
        levels.append(_fuel_levels(fresh, fuel))
        fuel = 0.95 if fresh[-1].refuels else float(levels[-1][-1])
        rows += sum(len(stretch) for stretch in fresh)
    return stretches, marks, np.concatenate(levels)


def _usual(random: np.random.Generator, fuel: float) -> FleetTask | None:
    """An empty tank leads to a gas station; now and then a drive is a whole route."""
    if fuel < LOW_FUEL:
        return REFUEL
    return ROUTE if random.random() < 0.15 else None


def _outing(driver: Driver, here: Floats, night: bool) -> list[Stretch]:
    """A drive with the engine warmed before, and a rest after it."""
    random = driver.random
    ride = drive(random, here, crossing(random), driver.step_s)
    after = rest(ride.end, driver.rows(random.uniform(5, 25)), PARKED)
    if night or random.random() < 0.3:
        after = rest(ride.end, driver.rows(NIGHT_MIN if night else random.uniform(35, 90)), OFF)
    return [rest(here, driver.rows(2), IDLE), ride, after]


def _mark(task: FleetTask, scene: Act, rows: int, due: Floats) -> Mark:
    sizes = np.cumsum([rows, *(len(stretch) for stretch in scene.stretches)])
    first, last = sizes[scene.first], sizes[scene.last + 1] - 1
    start, end = (float(due[min(int(row), len(due) - 1)]) for row in (first, last))
    return Mark(task.pattern, start, end, INJECTED if task.injected else NEAR_MISS, task.detail)


def _satellites(random: np.random.Generator, stretches: list[Stretch]) -> Floats:
    count = sum(len(stretch) for stretch in stretches)
    usual = random.integers(6, 14, count).astype(float)
    usual[random.random(count) < 0.002] = 0
    start = 0
    for stretch in stretches:
        if stretch.satellites is not None:
            usual[start : start + len(stretch)] = stretch.satellites
        start += len(stretch)
    return usual


def _fuel_levels(stretches: list[Stretch], fuel: float) -> Floats:
    """The tank at every position: burnt by the metre, filled when a stop at the pump ends."""
    levels = []
    for stretch in stretches:
        metres = np.abs(np.diff(stretch.place, axis=0, prepend=stretch.place[:1])).sum(axis=1)
        burning = (stretch.engine == MOVING) | (stretch.engine == IDLE)
        levels.append(np.maximum(fuel - np.cumsum(metres * burning) / 1000 * BURN_PER_KM, 0.02))
        fuel = 0.95 if stretch.refuels else float(levels[-1][-1])
    return np.concatenate(levels)


def _heard(random: np.random.Generator, due: Floats, settings: SimulationSettings) -> tuple[Bools, list[Fault]]:
    gone = lost(random, len(due))
    if not settings.faults:
        return np.ones(len(due), dtype=bool), []
    return ~gone, fault_of("position_lost", gone, due, "bursts of 2 to 7 positions lost")
