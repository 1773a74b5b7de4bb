"""Two small scenarios that the simulator's tests look at."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pytest

from foresail.pipeline.simulator.fleet.scenario import make_fleet
from foresail.pipeline.simulator.maritime.scenario import make_maritime
from foresail.pipeline.simulator.scenario import Scenario
from foresail.pipeline.simulator.settings import SimulationSettings


@dataclass
class Simulated:
    """A scenario with its rows and its truth at hand, one track after the other."""

    scenario: Scenario

    @cached_property
    def findings(self) -> list:
        count = self.scenario.settings.tracks
        return [(n, finding) for n in range(count) for finding in self.scenario.facts(n).findings]

    def rows(self, number: int) -> dict[str, np.ndarray]:
        """The canonical columns as arrays; `time_s` counts from the start of the simulation."""
        batch = self.scenario.rows(number)
        columns = {name: batch.column(name).to_numpy(zero_copy_only=False) for name in batch.schema.names}
        began = np.datetime64(self.scenario.settings.start.replace(tzinfo=None), "us")
        columns["time_s"] = (columns["time"].astype("datetime64[us]") - began) / np.timedelta64(1, "s")
        return columns

    def window(self, number: int, finding) -> dict[str, np.ndarray]:
        """The rows of one finding."""
        rows = self.rows(number)
        inside = (rows["time_s"] >= finding.start_s) & (rows["time_s"] <= finding.end_s)
        return {name: values[inside] for name, values in rows.items()}

    def of(self, pattern: str, kind: str) -> list:
        """The findings of one pattern and kind, each with its track's number."""
        return [(n, f) for n, f in self.findings if f.pattern == pattern and f.kind == kind]


@pytest.fixture(scope="session")
def vessels() -> Simulated:
    return Simulated(make_maritime(SimulationSettings(tracks=45, days=1.5, seed=11)))


@pytest.fixture(scope="session")
def vehicles() -> Simulated:
    return Simulated(make_fleet(SimulationSettings(domain="fleet", tracks=20, days=1, seed=11)))
