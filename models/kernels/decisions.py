"""The table that the event path looks up: what a model says in each chain state."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray


class Decisions(NamedTuple):
    """One row per chain state; NONE (0) in earliest, latest and most_likely stands for none."""

    emitted: NDArray[np.uint8]
    """Whether a forecast is given here: not while a match is being told, unless the model is asked to."""
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
