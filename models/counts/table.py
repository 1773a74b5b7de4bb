"""The counter suffix tree as arrays: one level per length, one integer per stretch.

A stretch of length L is numbered by its place in level L, in the order of its symbols. Its code is
`place of its first L - 1 symbols * alphabet + last symbol`: for any alphabet and any length one integer of 64 bits.
"""

import hashlib
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from foresail.models.identity import Identity

HISTOGRAM_BINS = 80
BINS_PER_DOUBLING = 4
LEAST_SECONDS = 0.125
"""The histogram of seconds goes in quarter doublings from an eighth of a second to a day and a half."""
_SAME_STEP = 0.01
"""Steps between events that vary by less than this share of their mean are one step."""


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

    def median_s(self) -> float:
        """The median over all symbols, to the width of a bin."""
        held = self.histogram.sum(axis=0)
        middle = int(np.searchsorted(np.cumsum(held), held.sum() / 2))
        return float(LEAST_SECONDS * 2 ** ((middle + 0.5) / BINS_PER_DOUBLING))


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
        codes = self.levels[length - 1].codes
        last = (codes % self.symbols).astype(np.int32)[:, None]
        if length == 1:
            return last
        return np.hstack([self.strings(length - 1)[codes // self.symbols], last])

    def as_dictionary(self) -> dict[tuple[int, ...], float]:
        """Every stretch with its count; for small counts, to be read."""
        return {
            tuple(map(int, string)): float(times)
            for length, level in enumerate(self.levels, start=1)
            for string, times in zip(self.strings(length), level.counts, strict=True)
        }

    def mean_seconds(self) -> NDArray[np.float64]:
        """Per symbol the mean seconds before an event with it; the mean over all where it was never seen."""
        number, seconds = self.intervals.number, self.intervals.seconds
        overall = seconds.sum() / number.sum() if number.sum() else np.nan
        return np.where(number > 0, seconds / np.maximum(number, 1e-300), overall)

    def constant_step_s(self) -> float | None:
        """The time between events where it is the same for all, else None."""
        number = self.intervals.number.sum()
        if number == 0:
            return None
        mean = self.intervals.seconds.sum() / number
        variance = max(self.intervals.squares.sum() / number - mean**2, 0.0)
        return float(mean) if np.sqrt(variance) <= _SAME_STEP * mean else None

    def sampling_step_s(self) -> float | None:
        """The usual time between events: their common step where they have one, else the median; None unknown."""
        if self.intervals.number.sum() == 0:
            return None
        return self.constant_step_s() or self.intervals.median_s()

    def fingerprint(self) -> str:
        """A short hash of all that was counted."""
        digest = hashlib.sha256(f"{self.identity} {self.max_order} {self.events} {self.tracks}".encode())
        for level in self.levels:
            digest.update(level.codes.tobytes())
            digest.update(level.counts.tobytes())
        digest.update(self.intervals.seconds.tobytes())
        return digest.hexdigest()[:16]
