"""From condition words to symbols: what the conditions of a pattern make of each event."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from foresail.models.errors import ImpossibleSymbolError, ModelError
from foresail.models.kernels.compilation import symbol_kernel
from foresail.models.kernels.symbols import FINE, SymbolCodes
from foresail.patterns.compiler import CompiledPattern
from foresail.patterns.conditions.syntax import Condition
from foresail.patterns.conditions.text import text_of


class SymbolTable:
    """The symbols of one pattern, read from words whose bit n says whether `conditions[n]` holds."""

    def __init__(self, pattern: CompiledPattern, conditions: Sequence[Condition] | None = None) -> None:
        self.pattern = pattern
        given = pattern.conditions if conditions is None else conditions
        self._codes = symbol_codes(pattern.name, pattern.conditions, pattern.alphabet.codes, given)

    def symbols(self, words: NDArray[np.int64]) -> NDArray[np.int32]:
        """The symbol of each event; refuses an event that no symbol describes."""
        found = np.empty(len(words), dtype=np.int32)
        bad = symbol_kernel()(self._codes, words, found)
        if bad != FINE:
            raise impossible_symbol(self.pattern.name, self.pattern.condition_names, self._codes, words[bad])
        return found


def symbol_codes(
    name: str, wanted: Sequence[Condition], codes: NDArray[np.uint64], given: Sequence[Condition]
) -> SymbolCodes:
    """Where the words over the `given` conditions hold each `wanted` one."""
    number = {text_of(condition): n for n, condition in enumerate(given)}
    texts = [text_of(condition) for condition in wanted]
    missing = [text for text in texts if text not in number]
    if missing:
        msg = f"{name}: the words do not tell whether {missing[0]} holds. Evaluate all conditions of the model."
        raise ModelError(msg)
    return SymbolCodes(np.array([number[text] for text in texts], dtype=np.int32), np.ascontiguousarray(codes))


def impossible_symbol(
    name: str, condition_names: Sequence[str], codes: SymbolCodes, words: NDArray[np.int64]
) -> ImpossibleSymbolError:
    """The fault of an event with these words, naming the conditions that held together."""
    held = [n for n, bit in zip(condition_names, codes.bits, strict=True) if int(words[bit >> 6]) >> int(bit & 63) & 1]
    msg = (
        f"{name}: conditions {', '.join(held) or 'none'} held on one event, which the alphabet rules out. "
        "Take them out of `exclusive`, or compile the pattern with the types of these events."
    )
    return ImpossibleSymbolError(msg)
