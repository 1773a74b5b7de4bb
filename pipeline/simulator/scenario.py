"""What a domain must offer to be simulated: tracks that can each be made alone, anywhere, in any order.

Random numbers that depend on the seed and on what they are for, never on who draws first.

Faults of receivers and sensors, at the rates measured on real feeds: what is lost, and what is unknown.
"""

import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import numpy as np
import pyarrow as pa

from foresail.pipeline.simulator.geometry import Bools, Floats
from foresail.pipeline.simulator.settings import SimulationSettings
from foresail.pipeline.simulator.truth import Finding

SHORT_LOSS = 0.053
"""Share of steps after which two or three positions are lost."""
LONG_LOSS = 0.009
"""Share of steps after which four to seven positions are lost."""
JITTER = 0.09
"""Positions come up to this share of a step early or late."""


@dataclass(frozen=True, slots=True)
class Fault:
    """Rows of one track that suffer one fault; `table` says where it shows: in the events or in the raw messages."""

    fault: str
    start_s: float
    end_s: float
    rows: int
    table: str = "events"
    detail: str = ""


def due_times(random: np.random.Generator, steps: int, step_s: float, faults: bool) -> Floats:
    """When a track is due to send its positions, in whole seconds, always increasing."""
    phase = random.uniform(0, step_s)
    early = random.uniform(-JITTER, JITTER, steps) * step_s if faults else np.zeros(steps)
    times = np.floor(np.clip(phase + np.arange(steps) * step_s + early, 0, steps * step_s - 1e-6))
    return np.maximum.accumulate(np.maximum(times, times[0] + np.arange(steps)))


def lost(random: np.random.Generator, count: int) -> Bools:
    """Which positions never arrive: bursts of two to seven."""
    draw = random.random(count)
    lengths = np.where(
        draw < LONG_LOSS,
        random.integers(4, 8, count),
        np.where(draw < LONG_LOSS + SHORT_LOSS, random.choice([2, 2, 2, 2, 2, 3], count), 0),
    )
    edges = np.zeros(count + 1, dtype=np.int64)
    starts = np.flatnonzero(lengths)
    np.add.at(edges, starts, 1)
    np.add.at(edges, np.minimum(starts + lengths[starts], count), -1)
    return np.cumsum(edges[:-1]) > 0


def fault_of(name: str, rows: Bools, times_s: Floats, detail: str = "", table: str = "events") -> list[Fault]:
    """One line for the fault table, or none where no row suffers."""
    hit = np.flatnonzero(rows)
    if not len(hit):
        return []
    return [Fault(name, float(times_s[hit[0]]), float(times_s[hit[-1]]), len(hit), table, detail)]


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


def generator(seed: int, purpose: str, number: int = 0) -> np.random.Generator:
    """A generator of its own for each purpose and number (a track, a meeting): the same on every machine."""
    return np.random.Generator(np.random.Philox(np.random.SeedSequence([seed, zlib.crc32(purpose.encode()), number])))
