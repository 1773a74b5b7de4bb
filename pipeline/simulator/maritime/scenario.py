"""Simulated vessels as a scenario: their canonical columns, their truth, the layers of their sea."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa

from foresail.pipeline.simulator.columns import SOURCE, canonical_batch, doubles, repeated, times, whole
from foresail.pipeline.simulator.maritime.definitions import intervals, write_sea
from foresail.pipeline.simulator.maritime.pairs import PAIR_PATTERNS, pair_findings
from foresail.pipeline.simulator.maritime.plan import TASKS, VesselPlan, make_plans
from foresail.pipeline.simulator.maritime.sea import Sea, make_sea
from foresail.pipeline.simulator.maritime.sensors import VesselRows, receive
from foresail.pipeline.simulator.maritime.vessels import KINDS
from foresail.pipeline.simulator.scenario import Facts
from foresail.pipeline.simulator.settings import SimulationSettings
from foresail.pipeline.simulator.truth import findings


@dataclass(frozen=True, slots=True)
class MaritimeScenario:
    """The sea and the plan of every vessel on it."""

    settings: SimulationSettings
    sea: Sea
    plans: tuple[VesselPlan, ...]

    @property
    def patterns(self) -> tuple[str, ...]:
        """The patterns that the truth table can name."""
        return tuple(sorted({task.pattern for task in TASKS} | {"port_entry"} | set(PAIR_PATTERNS)))

    def track(self, number: int) -> str:
        """The vessel's simulated MMSI."""
        return str(self.plans[number].mmsi)

    def rows(self, number: int) -> pa.RecordBatch:
        """The canonical positions of one vessel."""
        return canonical(receive(self.sea, self.plans[number], self.settings), self.settings)

    def facts(self, number: int) -> Facts:
        """The truth and the faults of one vessel; a meeting is told by the first of the two."""
        plan = self.plans[number]
        rows = receive(self.sea, plan, self.settings)
        own = [mark for mark in rows.marks if mark.pattern not in PAIR_PATTERNS]
        found = findings(own, intervals(self.sea, rows), rows.time_s)
        if plan.meeting and plan.meeting.first == number:
            other = receive(self.sea, self.plans[plan.meeting.second], self.settings)
            found += pair_findings(self.sea, rows, other)
        return Facts(found, rows.faults)

    def write_layers(self, folder: Path) -> None:
        """Write ports, shores, anchorages and areas, with their layers.yaml."""
        write_sea(self.sea, folder)


def make_maritime(settings: SimulationSettings) -> MaritimeScenario:
    """The scenario for these settings."""
    sea = make_sea(settings.place, settings.seed)
    return MaritimeScenario(settings, sea, make_plans(sea, settings))


def canonical(rows: VesselRows, settings: SimulationSettings) -> pa.RecordBatch:
    """The rows as an Arrow batch with the canonical columns."""
    plan, count = rows.plan, len(rows.time_s)
    kind = KINDS[plan.vessel_type]
    offsets = plan.number * settings.steps + rows.step_index.astype(np.int64)
    columns = {
        "track": repeated(str(plan.mmsi), pa.string(), count),
        "time": times(settings.start, rows.time_s),
        "lon": doubles(rows.lon),
        "lat": doubles(rows.lat),
        "source": repeated(SOURCE, pa.string(), count),
        "offset": pa.array(offsets, type=pa.int64()),
        "mmsi": repeated(plan.mmsi, pa.int64(), count),
        "speed_kn": doubles(rows.speed_kn),
        "course_deg": doubles(rows.course_deg),
        "heading_deg": doubles(rows.heading_deg),
        "turn_rate": doubles(rows.turn_rate),
        "nav_status": whole(rows.nav_status),
        "vessel_type": repeated(plan.vessel_type, pa.string(), count),
        "ship_type": repeated(kind.ship_type, pa.int32(), count),
        "length_m": repeated(rows.length_m, pa.float64(), count),
        "name": repeated(f"SIM {plan.vessel_type.upper()} {plan.number:05d}", pa.string(), count),
    }
    return canonical_batch(columns)
