"""How well a model foresees the very next symbol: the log-loss that compares orders before any pattern comes in."""

import numpy as np
from numpy.typing import NDArray

LEAST = 1e-12
"""A symbol that the model held impossible costs this much, not everything."""


def log_loss_of(given: NDArray[np.float64]) -> float | None:
    """The mean of -ln p over the symbols that came; `given` is the probability each had before it came."""
    return float(-np.log(np.maximum(given, LEAST)).mean()) if len(given) else None
