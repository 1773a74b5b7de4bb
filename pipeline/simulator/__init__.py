"""The fleet simulator: seeded tracks of vessels and vehicles with a table of what is true of them."""

from foresail.pipeline.simulator.job import SimulationSummary, simulate
from foresail.pipeline.simulator.settings import SimulationSettings

__all__ = ["SimulationSettings", "SimulationSummary", "simulate"]
