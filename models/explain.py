"""Why a forecast says what it says: the context and the automaton state in words, and the waiting-time curve."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from models.model import Model


@dataclass(frozen=True, slots=True, eq=False)
class Explanation:
    """One forecast, explained."""

    sentence: str
    context: tuple[str, ...]
    """What the events of the context were, oldest first; empty where the model looked at none."""
    state: int
    """The automaton state."""
    progress: str
    """How far the pattern has come, in words."""
    events: NDArray[np.int64]
    """1 to the horizon: the curve's horizontal axis."""
    probability: NDArray[np.float64]
    """The probability that the match comes with that event."""
    seconds: NDArray[np.float64]
    """The mean seconds until then; NaN where unknown."""


def explain(model: Model, chain_state: int) -> Explanation:
    """The forecast of `model` in one of its chain states (the column `chain` of `Forecasts`)."""
    raise NotImplementedError


def symbol_text(model: Model, symbol: int) -> str:
    """The conditions that hold in a symbol, by name: `inside, not fast`."""
    raise NotImplementedError
