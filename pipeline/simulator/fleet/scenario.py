"""Simulated vehicles as a scenario: their canonical columns, their truth, the layers of their town."""

from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa

from foresail.pipeline.simulator.columns import SOURCE, canonical_batch, doubles, repeated, times, whole
from foresail.pipeline.simulator.fleet.day import VehiclePlan, VehicleRows, live, make_plans
from foresail.pipeline.simulator.fleet.definitions import intervals
from foresail.pipeline.simulator.fleet.driving import ENGINE
from foresail.pipeline.simulator.fleet.tasks import TASKS
from foresail.pipeline.simulator.fleet.town import Town, make_town, write_town
from foresail.pipeline.simulator.scenario import Facts
from foresail.pipeline.simulator.settings import SimulationSettings
from foresail.pipeline.simulator.truth import findings


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
