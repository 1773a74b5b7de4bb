"""What a picture of an automaton shows: states, and one arrow between two states whatever number of symbols it carries."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from patterns.drawing.guards import Symbol, say_guard


@dataclass(frozen=True, slots=True)
class Edge:
    """An arrow and its guard in words; `back` when it only says that nothing has begun."""

    source: int
    target: int
    label: str
    back: bool = False


@dataclass(frozen=True, slots=True)
class Diagram:
    """States are numbered from 0, the start."""

    title: str
    states: int
    accepting: frozenset[int]
    edges: tuple[Edge, ...]

    @property
    def forward(self) -> tuple[Edge, ...]:
        """The arrows that tell something: all but those that lead back to the start."""
        return tuple(edge for edge in self.edges if not edge.back)


def make_diagram(
    title: str,
    names: Sequence[str],
    symbols: Sequence[Symbol],
    delta: NDArray[np.int32],
    accepting: NDArray[np.bool_],
) -> Diagram:
    """The diagram of the table `delta[state, symbol]`; `symbols` says which of the conditions `names` hold on each."""
    edges = []
    for source in range(len(delta)):
        chosen: dict[int, set[Symbol]] = {}
        for symbol, target in zip(symbols, map(int, delta[source]), strict=True):
            chosen.setdefault(target, set()).add(symbol)
        for target in sorted(chosen):
            back = target == 0
            label = "otherwise" if back and len(chosen) > 1 else say_guard(chosen[target], symbols, names)
            edges.append(Edge(source, target, label, back))
    return Diagram(title, len(delta), frozenset(map(int, np.flatnonzero(accepting))), tuple(edges))
