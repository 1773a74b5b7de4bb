"""The symbol of each event from its condition words, for one pattern."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from foresail.models.kernels.decorators import compiled, inlined

IMPOSSIBLE = -1
FINE = -1


class SymbolCodes(NamedTuple):
    """What names the symbol of an event."""

    bits: NDArray[np.int32]
    """The place of each condition of the pattern among the bits of the words."""
    codes: NDArray[np.uint64]
    """The combinations that are symbols, sorted; the position of one is its symbol."""


@inlined
def symbol_at(
    bits: NDArray[np.int32],
    first_bit: int,
    end_bit: int,
    codes: NDArray[np.uint64],
    first: int,
    end: int,
    words: NDArray[np.int64],
    event: int,
) -> int:
    """The symbol among `codes[first:end]` of an event with these words, or IMPOSSIBLE."""
    code = np.uint64(0)
    for i in range(end_bit - first_bit):
        bit = bits[first_bit + i]
        code |= ((np.uint64(words[event, bit >> 6]) >> np.uint64(bit & 63)) & np.uint64(1)) << np.uint64(i)
    low, high = first, end
    while low < high:
        middle = (low + high) // 2
        if codes[middle] < code:
            low = middle + 1
        else:
            high = middle
    if low == end or codes[low] != code:
        return IMPOSSIBLE
    return low - first


@compiled
def read_symbols(table: SymbolCodes, words: NDArray[np.int64], symbols: NDArray[np.int32]) -> int:
    """Write the symbol of each event; FINE, or the first event that no symbol describes."""
    symbol = 0
    for event in range(len(symbols)):
        same = event > 0
        for w in range(words.shape[1]):
            same = same and words[event, w] == words[event - 1, w]
        if not same:
            symbol = symbol_at(table.bits, 0, len(table.bits), table.codes, 0, len(table.codes), words, event)
            if symbol == IMPOSSIBLE:
                return event
        symbols[event] = symbol
    return FINE
