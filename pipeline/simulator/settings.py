"""What a simulation is asked for; checked once, so that the rest may rely on it."""

import math
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from difflib import get_close_matches

from foresail.pipeline.errors import SettingsError
from foresail.pipeline.simulator.regions import Region, region_of

DOMAINS = ("maritime", "fleet")
MIXES = ("mixed", "us", "baltic")
DEFAULT_START = datetime(2026, 3, 2, tzinfo=UTC)
ROWS_PER_FILE = 500_000
MOST_FILES = 200
MOST_POSITIONS = 2_000_000_000


@dataclass(frozen=True, slots=True)
class SimulationSettings:
    """One simulated fleet: how many tracks, how long, how dense, and the seed that fixes every byte."""

    domain: str = "maritime"
    tracks: int = 50
    days: float = 1.0
    step_s: float = 60.0
    seed: int = 1
    start: datetime = DEFAULT_START
    region: str = "brittany"
    mix: str = "mixed"
    faults: bool = True
    raw: bool = False

    def __post_init__(self) -> None:
        _check_choice("--domain", self.domain, DOMAINS)
        _check_choice("--mix", self.mix, MIXES)
        _check_range("--tracks", self.tracks, 1, 10_000_000)
        _check_range("--days", self.days, 1 / 1440, 3660)
        _check_range("--step", self.step_s, 1, 86_400)
        _check_range("--seed", self.seed, 0, 2**63 - 1)
        region_of(self.region)
        if self.start.tzinfo is None:
            object.__setattr__(self, "start", self.start.replace(tzinfo=UTC))
        if self.positions > MOST_POSITIONS:
            msg = (
                f"simulate: {self.positions:,} positions are more than {MOST_POSITIONS:,}. "
                "Take fewer --tracks, fewer --days or a longer --step."
            )
            raise SettingsError(msg)

    @property
    def duration_s(self) -> float:
        """Seconds from the first moment to the last."""
        return self.days * 86_400

    @property
    def steps(self) -> int:
        """Positions that each track is due to send."""
        return max(1, int(self.duration_s // self.step_s))

    @property
    def positions(self) -> int:
        """Positions that all tracks are due to send, before any is lost."""
        return self.steps * self.tracks

    @property
    def files(self) -> int:
        """Files of events: fixed by the amount of data, never by the cores at hand."""
        return max(1, min(self.tracks, MOST_FILES, max(2, math.ceil(self.positions / ROWS_PER_FILE))))

    @property
    def place(self) -> Region:
        """Where the fleet moves."""
        return region_of(self.region)

    @property
    def end(self) -> datetime:
        """The last moment."""
        return self.start + timedelta(seconds=self.duration_s)


def _check_choice(option: str, value: str, known: tuple[str, ...]) -> None:
    if value not in known:
        near = get_close_matches(value, known, n=1)
        hint = f"Did you mean '{near[0]}'? " if near else ""
        msg = f"{option}: unknown value '{value}'. {hint}Known values: {', '.join(known)}."
        raise SettingsError(msg)


def _check_range(option: str, value: float, least: float, most: float) -> None:
    if not least <= value <= most:  # also refuses NaN
        msg = f"{option}: {value:g} is out of range. Take a number from {least:g} to {most:g}."
        raise SettingsError(msg)
