"""The automaton of marked strings: one walk per set of marked events, so that walks can be counted and listed.

It reads pairs (class, marked or not). Determinised over these pairs, two derivations of one set of marked events
become one walk; a run may begin at any event until the first mark, none after it.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from foresail.patterns.automata.deterministic import Deterministic, explored, minimal, steps_by_class
from foresail.patterns.automata.nondeterministic import Nondeterministic

DEAD = -1


@dataclass(frozen=True, slots=True, eq=False)
class Marking:
    """`delta[state, class, marked]` is the next state or DEAD; a match ends on a marked step into `accepting`."""

    delta: NDArray[np.int32]
    accepting: NDArray[np.bool_]

    @property
    def states(self) -> int:
        """How many states there are."""
        return len(self.accepting)


Node = tuple[frozenset[int], bool, bool]
"""Active states, whether nothing is marked yet, and whether the last step was a marked one into a final state."""


def marking(automaton: Nondeterministic, classes: NDArray[np.int32]) -> Marking:
    """The marked strings of `automaton`; state 0 is the start."""
    steps = steps_by_class(automaton, classes)
    count = int(classes.max()) + 1

    def step(node: Node, letter: int) -> Node:
        states, fresh, _ = node
        c, marked = divmod(letter, 2)
        taken = [t for state in states for t in steps[state][c] if t.marked == bool(marked)]
        reached = frozenset(t.target for t in taken)
        if fresh and not marked:
            return reached | {0}, True, False
        return reached, False, bool(marked) and any(t.target in automaton.finals for t in taken)

    table = minimal(explored((frozenset({0}), True, False), count * 2, step, lambda node: node[2]))
    return _without_dead_ends(table, count)


def _without_dead_ends(table: Deterministic, count: int) -> Marking:
    """States from which no match can follow become DEAD; the rest are numbered anew, the start first."""
    alive = table.accepting.copy()
    while True:
        grown = alive | alive[table.delta].any(axis=1)
        if (grown == alive).all():
            break
        alive = grown
    alive[0] = True
    number = np.where(alive, np.cumsum(alive) - 1, DEAD).astype(np.int32)
    delta = number[table.delta[alive]].reshape(-1, count, 2)
    return Marking(delta, table.accepting[alive].copy())
