"""Simulated vehicles as a scenario: their canonical columns, their truth, the layers of their town.

The fleet patterns by their definition, checked directly on the rows of one vehicle: what is true, planned or not.
"""

from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from foresail.pipeline.simulator.columns import SOURCE, canonical_batch, doubles, repeated, times, whole
from foresail.pipeline.simulator.fleet.day import VehiclePlan, VehicleRows, live, make_plans
from foresail.pipeline.simulator.fleet.tasks import ENGINE, IDLE, MOVING, OFF, PARKED, TASKS
from foresail.pipeline.simulator.fleet.town import Town, make_town, write_town
from foresail.pipeline.simulator.geometry import Bools, Floats
from foresail.pipeline.simulator.scenario import Facts
from foresail.pipeline.simulator.settings import SimulationSettings
from foresail.pipeline.simulator.truth import Interval, findings, runs

MAX_GAP_S = 1_800.0
FAR_M = 30.0
FAST_KMH = 50.0
ICE_LIMIT_KMH = 80.0
CLOSE_M = 100.0
HALF_TANK = 0.5
LONG_STOP_MIN = 30.0
LONGEST_PAUSE_MIN = 30.0


def intervals(town: Town, rows: VehicleRows) -> list[Interval]:
    """Every stretch of the track where the definition of a pattern holds."""
    if not len(rows.time_s):
        return []
    engine, speed = rows.engine, rows.speed_kmh
    moved = np.hypot(*np.diff(rows.place, axis=0, prepend=rows.place[:1]).T) > FAR_M
    found = [
        Interval(pattern, first, last)
        for pattern, (holds, least) in {
            "moving_with_zero_speed": ((engine == MOVING) & (speed == 0) & moved, 3),
            "moving_with_bad_signal": (rows.accelerating & (rows.satellites == 0) & moved, 3),
            "possible_theft": ((engine == PARKED) & (speed == 0) & moved, 3),
            "dangerous_driving": (rows.ice & (speed > ICE_LIMIT_KMH), 2),
            "refuel_opportunity": (_near_station(town, rows.place) & (rows.fuel_level < HALF_TANK), 2),
        }.items()
        for first, last in runs(holds, rows.time_s, least, MAX_GAP_S)
    ]
    fast, still = speed > FAST_KMH, speed == 0
    found += _swings("speed_swing", (fast, still), rows.time_s)
    found += _swings("parked_moving_swing", (engine == PARKED, engine == MOVING), rows.time_s)
    found += _swings("idle_parked_swing", (engine == IDLE, engine == PARKED), rows.time_s)
    return found + [Interval("route", *ends) for ends in routes(engine, rows.time_s)]


def _near_station(town: Town, place: Floats) -> Bools:
    metres = np.linalg.norm(place[:, None, :] - town.stations[None, :, :], axis=2)
    result: Bools = metres.min(axis=1) < CLOSE_M
    return result


def _swings(pattern: str, states: tuple[Bools, Bools], times_s: Floats) -> list[Interval]:
    """One, the other, one, the other, at four positions in a row; swings that overlap are one interval."""
    one, other = states
    if len(one) < 4:
        return []
    calm = np.diff(times_s) <= MAX_GAP_S
    hit = one[:-3] & other[1:-2] & one[2:-1] & other[3:] & calm[:-2] & calm[1:-1] & calm[2:]
    covered = np.zeros(len(one), dtype=bool)
    for shift in range(4):
        covered[shift : len(one) - 3 + shift] |= hit
    return [Interval(pattern, first, last) for first, last in runs(covered, times_s, 4, MAX_GAP_S)]


def routes(engine: NDArray[np.int64], times_s: Floats) -> list[tuple[int, int]]:
    """From a long stop through a drive (with pauses of up to half an hour) to the next long stop."""
    changed = np.concatenate([[True], np.diff(engine) != 0])
    since = times_s[np.maximum.accumulate(np.where(changed, np.arange(len(engine)), 0))]
    minutes = (times_s - since) / 60
    long_stop = (engine == OFF) & (minutes > LONG_STOP_MIN)
    long_pause = np.isin(engine, (IDLE, PARKED)) & (minutes > LONGEST_PAUSE_MIN)
    stops = np.flatnonzero(long_stop)
    drives = np.cumsum(engine == MOVING)
    pauses = np.cumsum(long_pause)
    return [
        (int(first), int(last))
        for first, last in pairwise(stops)
        if engine[first + 1] == MOVING and drives[last] > drives[first] and pauses[last] == pauses[first]
    ]


@dataclass(frozen=True, slots=True)
class FleetScenario:
    """The town and the plan of every vehicle in it."""

    settings: SimulationSettings
    town: Town
    plans: tuple[VehiclePlan, ...]

    @property
    def patterns(self) -> tuple[str, ...]:
        """The patterns that the truth table can name."""
        return tuple(sorted({task.pattern for task in TASKS}))

    def track(self, number: int) -> str:
        """The vehicle's name."""
        return self.plans[number].track

    def rows(self, number: int) -> pa.RecordBatch:
        """The canonical positions of one vehicle."""
        return canonical(self.town, live(self.town, self.plans[number], self.settings), self.settings)

    def facts(self, number: int) -> Facts:
        """The truth and the faults of one vehicle."""
        rows = live(self.town, self.plans[number], self.settings)
        return Facts(findings(rows.marks, intervals(self.town, rows), rows.time_s), rows.faults)

    def write_layers(self, folder: Path) -> None:
        """Write gas stations and weather cells, with their layers.yaml."""
        write_town(self.town, self.settings, folder)


def make_fleet(settings: SimulationSettings) -> FleetScenario:
    """The scenario for these settings."""
    return FleetScenario(settings, make_town(settings), make_plans(settings))


def canonical(town: Town, rows: VehicleRows, settings: SimulationSettings) -> pa.RecordBatch:
    """The rows as an Arrow batch with the canonical columns."""
    count = len(rows.time_s)
    lon, lat = town.degrees(rows.place)
    columns = {
        "track": repeated(rows.plan.track, pa.string(), count),
        "time": times(settings.start, rows.time_s),
        "lon": doubles(lon.round(7)),
        "lat": doubles(lat.round(7)),
        "source": repeated(SOURCE, pa.string(), count),
        "offset": pa.array(rows.plan.number * settings.steps + rows.step_index, type=pa.int64()),
        "engine": pa.array(ENGINE[rows.engine], type=pa.string()),
        "speed_kmh": doubles(rows.speed_kmh),
        "fuel_level": doubles(rows.fuel_level),
        "satellites": whole(rows.satellites),
        "accelerating": pa.array(rows.accelerating),
        "ice": pa.array(rows.ice),
        "name": repeated(f"SIM VEHICLE {rows.plan.number:05d}", pa.string(), count),
    }
    return canonical_batch(columns)
