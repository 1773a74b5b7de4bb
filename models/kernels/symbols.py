"""The symbol of each event from its condition words, for one pattern.

Walking an automaton over the symbols of whole tracks.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from foresail.patterns.recognition.arrays import compiled, inlined

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


@compiled
def count_accepted(
    delta: NDArray[np.int32],
    accepting: NDArray[np.bool_],
    symbols: NDArray[np.int32],
    age: NDArray[np.int64],
    counted: NDArray[np.bool_],
    first_of: NDArray[np.int64],
    states: NDArray[np.int32],
    found: NDArray[np.int64],
) -> None:
    """Write how often counted events of each track are accepted, read from the state that `states` gives it."""
    for track in range(len(first_of) - 1):
        state = states[track]
        found[track] = 0
        for event in range(first_of[track], first_of[track + 1]):
            if counted[event]:
                state = delta[0 if age[event] == 1 and event > first_of[track] else state, symbols[event]]
                found[track] += accepting[state]


@compiled
def walk(
    delta: NDArray[np.int32], symbols: NDArray[np.int32], age: NDArray[np.int64], before: NDArray[np.int32]
) -> None:
    """Write for each event the state from which it is read."""
    state = 0
    for event in range(len(symbols)):
        if age[event] == 1:
            state = 0
        before[event] = state
        state = delta[state, symbols[event]]


@compiled
def reachable(
    delta: NDArray[np.int32], nodes: NDArray[np.int32], number: NDArray[np.int32], found: NDArray[np.int32]
) -> int:
    """Number the pairs (state, node) that are reached from (0, 0), as `state * nodes + node`; how many there are."""
    count = len(nodes)
    number[0], found[0] = 0, 0
    known, at = 1, 0
    while at < known:
        state, node = found[at] // count, found[at] % count
        for symbol in range(delta.shape[1]):
            pair = np.int64(delta[state, symbol]) * count + nodes[node, symbol]
            if number[pair] < 0:
                number[pair] = known
                found[known] = pair
                known += 1
        at += 1
    return known
