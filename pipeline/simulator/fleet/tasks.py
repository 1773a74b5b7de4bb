"""What a vehicle may be told to do: behaviours that show one pattern, or just miss it.

Stretches of a vehicle's day, one value per position: at rest, on the way, or with something wrong.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from foresail.pipeline.simulator.fleet.town import CELL_M, Town, crossing, icy_cell
from foresail.pipeline.simulator.geometry import Floats

OFF, IDLE, PARKED, MOVING = range(4)
ENGINE = np.array(["off", "idle", "parked", "moving"])
TOWN_KMH = (20.0, 48.0)


@dataclass(frozen=True, slots=True)
class Stretch:
    """Consecutive positions: where the vehicle is, and what it reports."""

    place: Floats
    engine: NDArray[np.int64]
    speed_kmh: Floats
    satellites: NDArray[np.int64] | None = None
    refuels: bool = False

    def __len__(self) -> int:
        return len(self.place)

    @property
    def end(self) -> Floats:
        """Where it ends, in metres east and north of the centre."""
        last: Floats = self.place[-1]
        return last


def rest(place: Floats, rows: int, engine: int, refuels: bool = False) -> Stretch:
    """No movement for that many positions."""
    rows = max(rows, 1)
    return Stretch(np.tile(place, (rows, 1)), np.full(rows, engine), np.zeros(rows), refuels=refuels)


def drive(
    random: np.random.Generator, here: Floats, there: Floats, step_s: float, kmh: tuple[float, float] = TOWN_KMH
) -> Stretch:
    """Along the streets from here to there: east or west first, then north or south."""
    corner = np.array([there[0], here[1]])
    return follow(random, np.stack([here, corner, there]), step_s, kmh)


def follow(
    random: np.random.Generator, line: Floats, step_s: float, kmh: tuple[float, float], least_rows: int = 3
) -> Stretch:
    """Along a line at speeds within `kmh`, ending at its end; the last position may be slower to fit."""
    legs = np.abs(np.diff(line, axis=0)).sum(axis=1)
    along = np.concatenate([[0.0], np.cumsum(legs)])
    low, high = kmh
    rows = max(least_rows, int(np.ceil(along[-1] / ((low + high) / 7.2 * step_s))))
    speed = random.uniform(low, high, rows)
    metres = np.cumsum(speed / 3.6 * step_s)
    metres *= along[-1] / metres[-1]
    place = np.stack([np.interp(metres, along, line[:, axis]) for axis in (0, 1)], axis=1)
    return Stretch(place, np.full(rows, MOVING), np.round(speed, 1))


def creep(
    random: np.random.Generator,
    here: Floats,
    rows: int,
    metres: tuple[float, float],
    *,
    engine: int = MOVING,
    kmh: Floats | float = 0.0,
) -> Stretch:
    """Straight on by so many metres per position, reporting whatever speed and engine it is told to."""
    way = 1.0 if here[0] < 0 else -1.0
    east = here[0] + way * np.cumsum(random.uniform(*metres, rows))
    place = np.stack([east, np.full(rows, here[1])], axis=1)
    return Stretch(place, np.full(rows, engine), np.zeros(rows) + kmh)


def with_engine(stretch: Stretch, engine: list[int]) -> Stretch:
    """The same movement under a sequence of engine states."""
    states = np.resize(np.array(engine), len(stretch))
    return Stretch(stretch.place, states, np.where(states == MOVING, stretch.speed_kmh, 0.0), stretch.satellites)


def with_satellites(stretch: Stretch, satellites: NDArray[np.int64]) -> Stretch:
    """The same movement seen by that many satellites."""
    return Stretch(stretch.place, stretch.engine, stretch.speed_kmh, satellites)


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
