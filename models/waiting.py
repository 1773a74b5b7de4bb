"""How many events until the next match: the exact distribution for every chain state, by sparse products."""

import numpy as np
from numpy.typing import NDArray

from models.chain import Chain


def waiting_times(chain: Chain, horizon: int) -> NDArray[np.float64]:
    """`[state, n - 1]`: the probability that the first match comes with the n-th event from now."""
    raise NotImplementedError


def expected_seconds(
    chain: Chain, waiting: NDArray[np.float64], mean_seconds: NDArray[np.float64]
) -> NDArray[np.float64]:
    """`[state, n - 1]`: the mean seconds until a match that comes with the n-th event; 0 where it cannot."""
    raise NotImplementedError
