"""The shortest interval that holds enough of a distribution, by two pointers."""

import numpy as np
from numpy.typing import NDArray

from foresail.models.kernels.decorators import compiled

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
