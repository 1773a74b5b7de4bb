"""How many events until the next match: the exact distribution for every chain state, by sparse products.

W_1(x) = sum over symbols that lead to an accepting state of p(x, s)
W_n(x) = sum over the other symbols of p(x, s) W_{n-1}(step(x, s))
"""

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from foresail.models.chain import Chain
from foresail.models.errors import ModelSettingError, ModelSizeError

MOST_CELLS = 250_000_000
"""The most probabilities that are kept: chain states times events of the horizon."""


def check_cells(chain: Chain, horizon: int) -> None:
    """Refuse a table that a machine could not hold."""
    if horizon * chain.states > MOST_CELLS:
        msg = (
            f"{chain.states} chain states and a horizon of {horizon} events make a table that is too large. "
            "Choose a shorter horizon or a lower order, or a higher `min_context_probability`."
        )
        raise ModelSizeError(msg)


def waiting_times(chain: Chain, horizon: int) -> NDArray[np.float64]:
    """`[state, n - 1]`: the probability that the first match comes with the n-th event from now."""
    if horizon < 1:
        msg = f"horizon is {horizon} events. A forecast looks at least one event ahead: choose 1 or more."
        raise ModelSettingError(msg)
    check_cells(chain, horizon)
    going_on = _transitions(chain, chain.p)
    waiting = np.empty((horizon, chain.states))
    waiting[0] = _accepting_mass(chain, chain.p)
    for n in range(1, horizon):
        waiting[n] = going_on @ waiting[n - 1]
    return waiting.T


def expected_seconds(
    chain: Chain, waiting: NDArray[np.float64], mean_seconds: NDArray[np.float64]
) -> NDArray[np.float64]:
    """`[state, n - 1]`: the mean seconds until a match that comes with the n-th event; 0 where it cannot.

    With mu_s the mean seconds before an event with symbol s, A_n(x) = sum of p(x, s) (A_{n-1}(x') + mu_s W_{n-1}(x'))
    over the symbols that do not match is the mean where a match at n counts and everything else is 0; A_n / W_n is
    then the mean given n.
    """
    weighted = chain.p * mean_seconds
    going_on, passing = _transitions(chain, chain.p), _transitions(chain, weighted)
    elapsed = np.empty((waiting.shape[1], chain.states))
    elapsed[0] = _accepting_mass(chain, weighted)
    for n in range(1, len(elapsed)):
        elapsed[n] = going_on @ elapsed[n - 1] + passing @ np.ascontiguousarray(waiting[:, n - 1])
    possible = waiting > 0
    return np.divide(elapsed.T, waiting, out=np.zeros_like(waiting), where=possible)


def _transitions(chain: Chain, weight: NDArray[np.float64]) -> csr_matrix:
    """The weights of the symbols that lead on, from state to state."""
    states, symbols = chain.step.shape
    target = chain.step.ravel()
    on = ~chain.accepting[target]
    source = np.repeat(np.arange(states, dtype=np.int32), symbols)
    return csr_matrix((weight.ravel()[on], (source[on], target[on])), shape=(states, states))


def _accepting_mass(chain: Chain, weight: NDArray[np.float64]) -> NDArray[np.float64]:
    """Per state the weight of the symbols that lead to a match."""
    return np.asarray(np.where(chain.accepting[chain.step], weight, 0.0).sum(axis=1))
