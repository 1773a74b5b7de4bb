"""What a picture of an automaton shows: states, and one arrow between two states for all the symbols it carries."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from foresail.patterns.compiler import CompiledPattern
from foresail.patterns.drawing.guards import Symbol, say_guard


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


def diagram_of(pattern: CompiledPattern) -> Diagram:
    """The automaton of the pattern over the conditions it reads; features do not move it and are left out."""
    features = {feature.name for feature in pattern.spec.features}
    names = [name for name in pattern.condition_names if name not in features]
    numbers = [pattern.condition_names.index(name) for name in names]
    column: dict[Symbol, int] = {}
    for code, kind in zip(map(int, pattern.alphabet.codes), map(int, pattern.classes), strict=True):
        holding = frozenset(name for name, number in zip(names, numbers, strict=True) if code >> number & 1)
        assert column.setdefault(holding, kind) == kind, "a feature does not move the automaton"
    delta = pattern.automaton.delta[:, list(column.values())]
    return make_diagram(pattern.name, names, list(column), delta, pattern.automaton.accepting)


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
