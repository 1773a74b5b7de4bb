"""What a domain must offer to be simulated: tracks that can each be made alone, anywhere, in any order."""

from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import pyarrow as pa

from foresail.pipeline.simulator.faults import Fault
from foresail.pipeline.simulator.settings import SimulationSettings
from foresail.pipeline.simulator.truth import Finding


@dataclass(frozen=True, slots=True)
class Facts:
    """What is true of one track: its events and misses, and its faults."""

    findings: list[Finding]
    faults: list[Fault]


class Scenario(Protocol):
    """A world and the plan of every track in it; pickled to the workers, which make the tracks."""

    @property
    def settings(self) -> SimulationSettings:
        """What was asked for."""

    @property
    def patterns(self) -> tuple[str, ...]:
        """The patterns that the truth table can name."""

    def track(self, number: int) -> str:
        """The name of the track of that number."""

    def rows(self, number: int) -> pa.RecordBatch:
        """The canonical positions of one track, in time order."""

    def facts(self, number: int) -> Facts:
        """The truth and the faults of one track."""

    def write_layers(self, folder: Path) -> None:
        """Write the layers that enrichment needs, with their layers.yaml."""
