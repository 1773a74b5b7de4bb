"""The counter suffix tree as arrays: one level per length, one integer per stretch.

A stretch of length L is numbered by its place in level L, in the order of its symbols. Its code is
`place of its first L - 1 symbols * alphabet + last symbol`: for any alphabet and any length one integer of 64 bits.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from models.identity import Identity

HISTOGRAM_BINS = 64
"""Bins of the histogram of seconds: four to each doubling, from an eighth of a second to about two hours."""


@dataclass(frozen=True, slots=True, eq=False)
class Level:
    """The stretches of one length that occur, sorted, and how often."""

    codes: NDArray[np.int64]
    counts: NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.codes)


@dataclass(frozen=True, slots=True, eq=False)
class Intervals:
    """Seconds between an event and the one before it, by the symbol of the later one."""

    number: NDArray[np.float64]
    seconds: NDArray[np.float64]
    squares: NDArray[np.float64]
    histogram: NDArray[np.float64]
    """Per symbol and bin how many."""


@dataclass(frozen=True, slots=True, eq=False)
class Counts:
    """What was counted for one pattern, on any number of tracks."""

    identity: Identity
    max_order: int
    levels: tuple[Level, ...]
    """`levels[L - 1]` holds the stretches of length L, up to `max_order + 1`."""
    intervals: Intervals
    events: float
    tracks: float
    matches: float
    """How often the automaton accepted, without regard to its window."""
    first_us: int | None
    last_us: int | None

    @property
    def symbols(self) -> int:
        """How many symbols the alphabet has."""
        return self.identity.symbols

    def windows(self, length: int) -> float:
        """How many stretches of that length were counted."""
        return float(self.levels[length - 1].counts.sum())

    def strings(self, length: int) -> NDArray[np.int32]:
        """The stretches of that length as rows of symbols, oldest first, in the order of the level."""
        raise NotImplementedError

    def as_dictionary(self) -> dict[tuple[int, ...], float]:
        """Every stretch with its count; for small counts, to be read."""
        raise NotImplementedError

    def mean_seconds(self) -> NDArray[np.float64]:
        """Per symbol the mean seconds before an event with it; the mean over all where it was never seen."""
        raise NotImplementedError

    def sampling_step_s(self) -> float | None:
        """The usual time between events: their common step where they have one, else the median; None unknown."""
        raise NotImplementedError

    def constant_step_s(self) -> float | None:
        """The time between events where it is the same for all, else None."""
        raise NotImplementedError

    def fingerprint(self) -> str:
        """A short hash of all that was counted."""
        raise NotImplementedError
