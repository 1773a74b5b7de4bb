"""Stretches of a vehicle's day, one value per position: at rest, on the way, or with something wrong."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

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
