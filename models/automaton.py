"""The automaton of a pattern over its symbols, with the rule for what follows a match: what a chain is made from."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from foresail.patterns.compiler import CompiledPattern
from foresail.patterns.spec import AfterMatch


class SymbolAutomaton(NamedTuple):
    """State 0 is the start. Windows are no part of it: it tells what the pattern does without one."""

    delta: NDArray[np.int32]
    """`delta[state, symbol]`: the next state."""
    accepting: NDArray[np.bool_]


def symbol_automaton(pattern: CompiledPattern) -> SymbolAutomaton:
    """The automaton of `pattern`; with `after_match: restart` an accepting state steps like the start."""
    delta = pattern.automaton.delta[:, pattern.classes]
    accepting = pattern.automaton.accepting
    if pattern.spec.after_match is AfterMatch.RESTART:
        delta = np.where(accepting[:, None], delta[:1], delta)
    return SymbolAutomaton(np.ascontiguousarray(delta, dtype=np.int32), np.ascontiguousarray(accepting, dtype=np.bool_))


def distances(automaton: SymbolAutomaton) -> NDArray[np.int32]:
    """Per state the least number of events to a match (0 when accepting); -1 where none can come."""
    distance = np.where(automaton.accepting, 0, -1).astype(np.int32)
    for events in range(1, len(distance) + 1):
        reaches = (distance[automaton.delta] == events - 1).any(axis=1) & (distance < 0)
        if not reaches.any():
            break
        distance[reaches] = events
    return distance
