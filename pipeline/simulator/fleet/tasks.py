"""What a vehicle may be told to do: behaviours that show one pattern, or just miss it."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from foresail.pipeline.simulator.fleet.driving import (
    IDLE,
    MOVING,
    OFF,
    PARKED,
    Stretch,
    creep,
    drive,
    follow,
    rest,
    with_engine,
    with_satellites,
)
from foresail.pipeline.simulator.fleet.town import CELL_M, Town, crossing, icy_cell
from foresail.pipeline.simulator.geometry import Floats


@dataclass(frozen=True, slots=True)
class FleetTask:
    """Something to do, once."""

    pattern: str
    behaviour: str
    detail: str
    injected: bool = True


TASKS = (
    FleetTask("route", "route", "45 min off, a drive, 45 min off"),
    FleetTask("parked_moving_swing", "parked_moving", "parked and moving in turn at every position"),
    FleetTask("idle_parked_swing", "idle_parked", "idle and parked in turn at every position"),
    FleetTask("speed_swing", "speed_swing", "60 km/h and 0 in turn at every position"),
    FleetTask("moving_with_zero_speed", "zero_speed", "the speed sensor reads 0 while driving"),
    FleetTask("moving_with_bad_signal", "bad_signal", "accelerates without a satellite in sight"),
    FleetTask("possible_theft", "theft", "parked, speed 0, yet moved 150 m or more per position"),
    FleetTask("dangerous_driving", "fast_on_ice", "88 km/h or more on ice"),
    FleetTask("refuel_opportunity", "refuel", "at a gas station with less than half a tank"),
    FleetTask("route", "short_stops", "drives with stops of 20 min, shorter than 30", injected=False),
    FleetTask("parked_moving_swing", "half_parked_moving", "parked, moving, parked, then idle", injected=False),
    FleetTask("idle_parked_swing", "half_idle_parked", "idle, parked, idle, then moving", injected=False),
    FleetTask("speed_swing", "slow_swing", "45 km/h and 0 in turn, below 50", injected=False),
    FleetTask("moving_with_zero_speed", "two_zero_speeds", "speed 0 while driving, but only twice", injected=False),
    FleetTask("moving_with_bad_signal", "weak_signal", "accelerates with one to three satellites", injected=False),
    FleetTask("possible_theft", "shaken", "parked, speed 0, moved 14 to 22 m per position, below 30", injected=False),
    FleetTask("dangerous_driving", "careful_on_ice", "66 to 78 km/h on ice, below 80", injected=False),
    FleetTask("refuel_opportunity", "full_tank", "at a gas station with over half a tank", injected=False),
)


@dataclass(frozen=True, slots=True)
class Driver:
    """What a behaviour may use."""

    random: np.random.Generator
    town: Town
    step_s: float

    def rows(self, minutes: float) -> int:
        """Positions in that many minutes, two at least."""
        return max(2, int(np.ceil(minutes * 60 / self.step_s)))


@dataclass(frozen=True, slots=True)
class Act:
    """The stretches of a behaviour; `first` and `last` count those that are its heart."""

    stretches: list[Stretch]
    first: int
    last: int


def act(driver: Driver, task: FleetTask, here: Floats, time_s: float) -> Act:
    """The behaviour of this task, from here and now."""
    random = driver.random
    lead = [rest(here, driver.rows(3), IDLE), drive(random, here, crossing(random), driver.step_s)]
    spot = lead[-1].end
    match task.behaviour:
        case "route":
            return _route(driver, here)
        case "short_stops":
            return _short_stops(driver, here)
        case "fast_on_ice" | "careful_on_ice":
            return _on_ice(driver, here, time_s, (88, 110) if task.injected else (66, 78))
        case "refuel" | "full_tank":
            return _refuel(driver, here)
        case _:
            heart = _heart(driver, task.behaviour, spot)
            tail = [rest(heart[-1].end, driver.rows(4), IDLE)]
            return Act([*lead, *heart, *tail], 2, 1 + len(heart))


def _heart(driver: Driver, behaviour: str, spot: Floats) -> list[Stretch]:
    """The positions that matter, driven straight on from a crossing."""
    random, few = driver.random, int(driver.random.integers(14, 21))
    town_m = (180.0, 320.0)
    gaining = np.linspace(12, 48, few).round(1)
    makers: dict[str, Callable[[], Stretch]] = {
        "parked_moving": lambda: with_engine(creep(random, spot, few, (40, 90), kmh=12.0), [PARKED, MOVING]),
        "half_parked_moving": lambda: with_engine(
            creep(random, spot, 6, (2, 6), kmh=8.0), [IDLE, PARKED, MOVING, PARKED, IDLE, IDLE]
        ),
        "idle_parked": lambda: with_engine(creep(random, spot, few, (0, 3)), [IDLE, PARKED]),
        "half_idle_parked": lambda: with_engine(
            creep(random, spot, 5, (2, 6), kmh=9.0), [IDLE, PARKED, IDLE, MOVING, MOVING]
        ),
        "speed_swing": lambda: creep(random, spot, few, town_m, kmh=np.resize([62.0, 0.0], few)),
        "slow_swing": lambda: creep(random, spot, few, town_m, kmh=np.resize([45.0, 0.0], few)),
        "zero_speed": lambda: creep(random, spot, few, town_m),
        "two_zero_speeds": lambda: creep(random, spot, 6, town_m, kmh=np.array([30.0, 31.0, 0.0, 0.0, 32.0, 30.0])),
        "bad_signal": lambda: with_satellites(
            creep(random, spot, few, town_m, kmh=gaining), np.zeros(few, dtype=np.int64)
        ),
        "weak_signal": lambda: with_satellites(
            creep(random, spot, few, town_m, kmh=gaining), random.integers(1, 4, few)
        ),
        "theft": lambda: creep(random, spot, few, (150, 400), engine=PARKED),
        "shaken": lambda: creep(random, spot, few, (14, 22), engine=PARKED),
    }
    return [makers[behaviour]()]


def _route(driver: Driver, here: Floats) -> Act:
    """Off for 45 minutes, a drive without any pause, off for 45 minutes."""
    random = driver.random
    off = rest(here, driver.rows(45), OFF)
    ride = drive(random, here, crossing(random), driver.step_s)
    return Act([off, ride, rest(ride.end, driver.rows(45), OFF), rest(ride.end, driver.rows(3), IDLE)], 0, 2)


def _short_stops(driver: Driver, here: Floats) -> Act:
    """Three drives with the engine off for 20 minutes between them."""
    stretches = [rest(here, driver.rows(3), IDLE)]
    for _ in range(3):
        ride = drive(driver.random, stretches[-1].end, crossing(driver.random), driver.step_s)
        stretches += [ride, rest(ride.end, driver.rows(20), OFF)]
    stretches[-1] = rest(stretches[-1].end, driver.rows(4), IDLE)
    return Act(stretches, 1, len(stretches) - 2)


def _on_ice(driver: Driver, here: Floats, time_s: float, kmh: tuple[float, float]) -> Act:
    """To a cell with ice and around a loop in it."""
    random = driver.random
    middle = icy_cell(driver.town, random, time_s)
    to_cell = drive(random, here, middle, driver.step_s, (30, 48))
    side = CELL_M * 0.4
    loop = middle + side * np.array([[0, 0], [1, 0], [1, 1], [-1, 1], [-1, -1], [1, -1], [1, 0], [0, 0]])
    fast = follow(random, loop, driver.step_s, kmh, least_rows=1)
    return Act([to_cell, fast, rest(fast.end, driver.rows(4), PARKED)], 1, 1)


def _refuel(driver: Driver, here: Floats) -> Act:
    """To the nearest gas station and some minutes at the pump; the tank is filled at the end."""
    stations = driver.town.stations
    nearest = stations[int(np.abs(stations - here).sum(axis=1).argmin())]
    ride = drive(driver.random, here, nearest, driver.step_s)
    pump = rest(nearest, driver.rows(driver.random.uniform(5, 9)), IDLE, refuels=True)
    away = drive(driver.random, nearest, crossing(driver.random), driver.step_s)
    return Act([ride, pump, away], 1, 1)
