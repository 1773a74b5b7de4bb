"""The table that the event path looks up: what a model says in each chain state.

The shortest interval that holds enough of a distribution, by two pointers.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from foresail.patterns.recognition.arrays import compiled


class Decisions(NamedTuple):
    """One row per chain state; NONE (0) in earliest, latest and most_likely stands for none."""

    emitted: NDArray[np.uint8]
    """Whether a forecast is given here: not where a match is reported, unless the model is asked to."""
    model: NDArray[np.int32]
    """The number of the model that speaks here."""
    chain: NDArray[np.int32]
    """The number that this chain state has in that model."""
    state: NDArray[np.int32]
    """The automaton state."""
    probability: NDArray[np.float64]
    """NaN where the kind is `interval` and there is none."""
    positive: NDArray[np.uint8]
    earliest: NDArray[np.int32]
    latest: NDArray[np.int32]
    most_likely: NDArray[np.int32]
    earliest_s: NDArray[np.float32]
    """Mean seconds until a match that comes with the earliest event; NaN for none or unknown."""
    latest_s: NDArray[np.float32]
    most_likely_s: NDArray[np.float32]


SAME = 1e-6
"""Masses that differ by less than this share are equal: what they add up was kept in 32 bits."""
ROUNDED = 1e-12
"""What the running sum may have rounded."""


@compiled
def shortest_intervals(
    waiting: NDArray[np.float64],
    threshold: NDArray[np.float64],
    earliest: NDArray[np.int32],
    latest: NDArray[np.int32],
    mass: NDArray[np.float64],
) -> None:
    """Write per row the shortest interval (from 1) with at least the row's threshold; 0 where there is none."""
    for row in range(len(waiting)):
        earliest[row], latest[row], mass[row] = 0, 0, 0.0
        shortest = waiting.shape[1] + 1
        first, held = 0, 0.0
        for last in range(waiting.shape[1]):
            held += waiting[row, last]
            while first < last and held - waiting[row, first] >= threshold[row]:
                held -= waiting[row, first]
                first += 1
            length = last - first + 1
            better = length < shortest or (length == shortest and held > mass[row] * (1 + SAME) + ROUNDED)
            if held >= threshold[row] and held > 0 and better:
                shortest = length
                earliest[row], latest[row], mass[row] = first + 1, last + 1, held
