"""From condition words to symbols: what the conditions of a pattern make of each event, a numba pass per batch."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from patterns.compiler import CompiledPattern
from patterns.conditions.syntax import Condition


class SymbolCodes(NamedTuple):
    """What a kernel needs to name the symbol of an event."""

    bits: NDArray[np.int32]
    """The place of each condition of the pattern among the bits of the words."""
    codes: NDArray[np.uint64]
    """The combinations that are symbols, sorted; the position of one is its symbol."""


class SymbolTable:
    """The symbols of one pattern, read from words whose bit n says whether `conditions[n]` holds."""

    def __init__(self, pattern: CompiledPattern, conditions: Sequence[Condition] | None = None) -> None:
        raise NotImplementedError

    def symbols(self, words: NDArray[np.int64]) -> NDArray[np.int32]:
        """The symbol of each event; refuses an event that no symbol describes."""
        raise NotImplementedError
