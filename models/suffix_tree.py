"""Which contexts are worth keeping, and what follows each: the prediction suffix tree.

After D. Ron, Y. Singer, N. Tishby, "The Power of Amnesia" (1996), with the smoothing of R. Begleiter, R. El-Yaniv,
G. Yona, "On Prediction Using Variable Order Markov Models" (2004).
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from models.counts.table import Counts


@dataclass(frozen=True, slots=True)
class LearnSettings:
    """How contexts are chosen; an order of 0 keeps the empty context alone."""

    order: int = 4
    kind: Literal["variable", "full"] = "variable"
    min_context_probability: float = 0.001
    min_symbol_probability: float = 0.001
    alpha: float = 0.0
    ratio: float = 1.05
    smoothing: float = 0.001


@dataclass(frozen=True, slots=True, eq=False)
class SuffixTree:
    """The kept contexts, shortest first (the empty one is row 0), and the distribution of the symbol after each."""

    symbols: int
    order: int
    contexts: NDArray[np.int32]
    """One row per context, as wide as the order: its symbols at the right, newest last, -1 to their left."""
    lengths: NDArray[np.int32]
    distribution: NDArray[np.float64]
    """Per context and symbol the smoothed probability that it comes next."""

    def context(self, row: int) -> tuple[int, ...]:
        """The symbols of one context, oldest first."""
        return tuple(int(s) for s in self.contexts[row, self.order - self.lengths[row] :])

    def longest_suffix(self, history: tuple[int, ...]) -> int:
        """The row of the longest kept context that ends `history`; plain, for tests and explanations."""
        raise NotImplementedError


def learn(counts: Counts, settings: LearnSettings) -> SuffixTree:
    """The suffix tree of the counts, of any order up to their `max_order`."""
    raise NotImplementedError
