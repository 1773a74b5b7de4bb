"""Deterministic automata as tables: subset construction, minimisation, complement.

Symbols that no guard tells apart share a class, so a table has one column per class, not per symbol.
"""

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from foresail.patterns.automata.limits import MOST_STATES, SizeExceededError
from foresail.patterns.automata.nondeterministic import (
    Nondeterministic,
    Symbols,
    Transition,
    from_start_anew,
    like_the_start,
)

Node = TypeVar("Node", bound=Hashable)


@dataclass(frozen=True, slots=True, eq=False)
class Deterministic:
    """State 0 is the start; `delta[state, class]` is the next state; `accepting[state]` tells of a match."""

    delta: NDArray[np.int32]
    accepting: NDArray[np.bool_]

    @property
    def states(self) -> int:
        """How many states there are."""
        return len(self.accepting)

    def __str__(self) -> str:
        rows = (
            f"  {state}{' accepts' if self.accepting[state] else ''}: {' '.join(map(str, self.delta[state]))}"
            for state in range(self.states)
        )
        return "\n".join([f"{self.states} states, {self.delta.shape[1]} classes", *rows])


def symbol_classes(automaton: Nondeterministic, symbols: int) -> NDArray[np.int32]:
    """For each symbol its class; classes are numbered by their first symbol."""
    guards = sorted({t.guard for t in automaton.transitions})
    membership = np.array([[guard >> s & 1 for guard in guards] for s in range(symbols)], dtype=np.uint8)
    number: dict[bytes, int] = {}
    return np.array([number.setdefault(row.tobytes(), len(number)) for row in membership], dtype=np.int32)


def class_guards(automaton: Nondeterministic, classes: NDArray[np.int32]) -> dict[Symbols, tuple[int, ...]]:
    """For each guard of the automaton the classes it lets through."""
    first = {int(c): int(np.flatnonzero(classes == c)[0]) for c in np.unique(classes)}
    return {
        guard: tuple(c for c, symbol in first.items() if guard >> symbol & 1)
        for guard in {t.guard for t in automaton.transitions}
    }


def steps_by_class(automaton: Nondeterministic, classes: NDArray[np.int32]) -> list[list[list[Transition]]]:
    """`steps[state][class]`: the transitions that an event of that class enables."""
    allowed = class_guards(automaton, classes)
    count = int(classes.max()) + 1 if len(classes) else 1
    steps: list[list[list[Transition]]] = [[[] for _ in range(count)] for _ in range(automaton.states)]
    for t in automaton.transitions:
        for c in allowed[t.guard]:
            steps[t.source][c].append(t)
    return steps


def explored(
    start: Node, count: int, step: Callable[[Node, int], Node], accepts: Callable[[Node], bool]
) -> Deterministic:
    """The table of all nodes that `step` reaches from `start`, over `count` classes."""
    return _with_nodes(start, count, step, accepts)[0]


def _with_nodes(
    start: Node, count: int, step: Callable[[Node, int], Node], accepts: Callable[[Node], bool]
) -> tuple[Deterministic, list[Node]]:
    """That table, and the node of each of its states."""
    number = {start: 0}
    nodes = [start]
    rows: list[list[int]] = []
    for node in nodes:  # grows while it is walked
        row = []
        for c in range(count):
            target = step(node, c)
            if target not in number:
                if len(nodes) >= MOST_STATES:
                    raise SizeExceededError(len(nodes))
                number[target] = len(nodes)
                nodes.append(target)
            row.append(number[target])
        rows.append(row)
    table = Deterministic(np.array(rows, dtype=np.int32), np.array([accepts(n) for n in nodes], dtype=np.bool_))
    return table, nodes


@dataclass(frozen=True, slots=True, eq=False)
class Detectors:
    """Two automata that accept at the same events."""

    smallest: Deterministic
    watching: Deterministic
    """With a state 0 in which no run is under way whose beginning a later match could tell of."""


def detector(automaton: Nondeterministic, classes: NDArray[np.int32]) -> Deterministic:
    """Accepts after event k iff some stretch that ends at k matches and marks k: a run may begin at every event."""
    return detectors(automaton, classes).smallest


def detectors(automaton: Nondeterministic, classes: NDArray[np.int32]) -> Detectors:
    """The smallest detector, and the smallest that tells an idle pattern from one with runs under way."""
    steps = steps_by_class(automaton, classes)

    def step(node: tuple[frozenset[int], bool], c: int) -> tuple[frozenset[int], bool]:
        taken = [t for state in node[0] for t in steps[state][c]]
        reached = frozenset(t.target for t in taken) | {0}
        return reached, any(t.marked and t.target in automaton.finals for t in taken)

    count = int(classes.max()) + 1
    table, nodes = _with_nodes((frozenset({0}), False), count, step, lambda node: node[1])
    beginnings = like_the_start(automaton)
    return Detectors(minimal(table), minimal(table, apart=[states <= beginnings for states, _ in nodes]))


def complement(symbols: int) -> Callable[[Nondeterministic], Nondeterministic]:
    """Turns an automaton over that many symbols into one of all stretches it does not match, marking nothing."""

    def flipped(automaton: Nondeterministic) -> Nondeterministic:
        classes = symbol_classes(automaton, symbols)
        steps = steps_by_class(automaton, classes)

        def step(node: frozenset[int], c: int) -> frozenset[int]:
            return frozenset(t.target for state in node for t in steps[state][c])

        count = int(classes.max()) + 1
        table = minimal(explored(frozenset({0}), count, step, lambda node: not node.isdisjoint(automaton.finals)))
        guard = [sum(1 << int(s) for s in np.flatnonzero(classes == c)) for c in range(count)]
        transitions = [
            Transition(state, guard[c], False, int(table.delta[state, c]))
            for state in range(table.states)
            for c in range(count)
        ]
        finals = frozenset(int(s) for s in np.flatnonzero(~table.accepting))
        return from_start_anew(Nondeterministic(table.states, finals, tuple(transitions)))

    return flipped


def minimal(table: Deterministic, apart: Sequence[bool] | None = None) -> Deterministic:
    """The smallest table with the same behaviour (Moore's refinement), its states numbered in breadth-first order.

    States that `apart` holds of are never taken for others.
    """
    block = table.accepting.astype(np.int64)
    if apart is not None:
        block = np.unique(2 * block + np.asarray(apart, dtype=np.int64), return_inverse=True)[1].reshape(-1)
    blocks = len(np.unique(block))
    while True:
        signature = np.column_stack([block, block[table.delta]])
        refined = np.unique(signature, axis=0, return_inverse=True)[1].reshape(-1)
        if refined.max() + 1 == blocks:
            break
        block, blocks = refined, int(refined.max()) + 1
    first = np.full(blocks, -1, dtype=np.int64)
    first[refined[::-1]] = np.arange(table.states)[::-1]
    quotient = refined[table.delta[first]]
    return _breadth_first(quotient, table.accepting[first], start=int(refined[0]))


def _breadth_first(delta: NDArray[np.int64], accepting: NDArray[np.bool_], start: int) -> Deterministic:
    order = [start]
    seen = {start}
    for state in order:  # grows while it is walked
        for target in map(int, delta[state]):
            if target not in seen:
                seen.add(target)
                order.append(target)
    number = np.empty(len(delta), dtype=np.int32)
    number[order] = np.arange(len(order), dtype=np.int32)
    return Deterministic(number[delta[order]].astype(np.int32), accepting[order].copy())
