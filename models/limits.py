"""When a limit counts as reached, so that the last bit of a number never decides it.

7 of 100 and a limit of 0.07 are equal on paper; in the machine one of them can be a bit larger, and whether a context
is kept or a forecast is positive would hang on that bit. What misses a limit by less than a stated share reaches it.
"""

from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

COUNTED = 1e-12
"""For shares of counts, which are 64-bit numbers: some thousand times what their arithmetic rounds away."""
STORED = 1e-6
"""For probabilities of waiting times, which models keep as 32-bit numbers: some ten times what that rounds away."""
Limit = TypeVar("Limit", float, NDArray[np.float64])


def least(limit: Limit, tolerance: float) -> Limit:
    """The smallest value that reaches `limit` from below."""
    return limit * (1 - tolerance)


def most(limit: Limit, tolerance: float) -> Limit:
    """The largest value that does not exceed `limit`."""
    return limit * (1 + tolerance)


def reaches(probability: NDArray[np.float64], threshold: float) -> NDArray[np.bool_]:
    """Whether each probability of a model is at least the threshold: what makes a forecast positive, everywhere."""
    return np.asarray(probability >= least(threshold, STORED))
