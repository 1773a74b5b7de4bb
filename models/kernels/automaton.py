"""Walking an automaton over the symbols of whole tracks."""

import numpy as np
from numpy.typing import NDArray

from foresail.models.kernels.decorators import compiled


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
