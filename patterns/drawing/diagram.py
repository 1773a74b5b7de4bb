"""What a picture of an automaton shows: states, and one arrow between two states for all the symbols it carries.

A set of symbols said in words: the shortest combination of condition names that holds for these and no others.

A symbol is the set of conditions that hold on an event. Combinations that cannot occur are not among the symbols, so
they may fall on either side: this is what makes the words short (`inside` rather than `inside and not outside`).
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from foresail.patterns.automata.registers import RegisterAutomaton
from foresail.patterns.compiler import CompiledPattern
from foresail.patterns.conditions.text import text_of

Symbol: TypeAlias = frozenset[str]
Term: TypeAlias = tuple[frozenset[str], frozenset[str]]
"""The conditions that must hold, and those that must not."""


def say_guard(chosen: Collection[Symbol], symbols: Collection[Symbol], names: Sequence[str]) -> str:
    """The guard that lets the `chosen` of all `symbols` through, in words; `names` gives the order of conditions."""
    inside = frozenset(chosen)
    outside = frozenset(symbols) - inside
    if not outside:
        return "any event"
    terms = _cover(inside, outside, names)
    flipped = _cover(outside, inside, names)
    if len(flipped) == 1 and _length(flipped) < _length(terms):
        (only,) = flipped
        return f"not ({_say(only, names)})" if _length(flipped) > 1 else _say((only[1], only[0]), names)
    return " or ".join(_say(term, names) for term in terms)


def _cover(inside: frozenset[Symbol], outside: frozenset[Symbol], names: Sequence[str]) -> list[Term]:
    """Terms that together hold on all of `inside` and on none of `outside`: each as short as can be, few of them."""
    ordered = sorted(inside, key=lambda symbol: [names.index(name) for name in sorted(symbol, key=names.index)])
    common = sorted(names, key=lambda name: -sum(name in symbol for symbol in inside))
    terms = list(dict.fromkeys(_shortest(symbol, outside, order) for symbol in ordered for order in (common, names)))
    left, kept = set(inside), []
    while left:
        best = max(terms, key=lambda term: (sum(_holds(term, s) for s in left), -_length([term]), -terms.index(term)))
        kept.append(best)
        left = {symbol for symbol in left if not _holds(best, symbol)}
    return sorted(kept, key=terms.index)


def _shortest(symbol: Symbol, outside: frozenset[Symbol], names: Sequence[str]) -> Term:
    """The symbol's own term with everything dropped that is not needed to tell it from `outside`.

    What does not hold is dropped first: people would rather read what is than what is not. Of the rest the last of
    `names` goes first.
    """
    holds, fails = symbol, frozenset(names) - symbol
    for name in reversed(names):
        if name in fails and not any(_holds((holds, fails - {name}), other) for other in outside):
            fails = fails - {name}
    for name in reversed(names):
        if name in holds and not any(_holds((holds - {name}, fails), other) for other in outside):
            holds = holds - {name}
    return holds, fails


def _holds(term: Term, symbol: Symbol) -> bool:
    return term[0] <= symbol and term[1].isdisjoint(symbol)


def _length(terms: Sequence[Term]) -> int:
    return sum(len(holds) + len(fails) for holds, fails in terms)


def _say(term: Term, names: Sequence[str]) -> str:
    holds, fails = term
    said = [name for name in names if name in holds] + [f"not {name}" for name in names if name in fails]
    return " and ".join(said) or "any event"


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
    relations: tuple[str, ...] = ()
    """What conditions that read registers say, by name: below the picture."""

    @property
    def forward(self) -> tuple[Edge, ...]:
        """The arrows that tell something: all but those that lead back to the start."""
        return tuple(edge for edge in self.edges if not edge.back)


def diagram_of(pattern: CompiledPattern) -> Diagram:
    """The automaton of the pattern over the conditions it reads; features do not move it and are left out."""
    if pattern.memory is not None:
        return _with_memory(pattern, pattern.memory)
    features = {feature.name for feature in pattern.spec.features}
    names = [name for name in pattern.condition_names if name not in features]
    numbers = [pattern.condition_names.index(name) for name in names]
    column: dict[Symbol, int] = {}
    for code, kind in zip(map(int, pattern.alphabet.codes), map(int, pattern.classes), strict=True):
        holding = frozenset(name for name, number in zip(names, numbers, strict=True) if code >> number & 1)
        assert column.setdefault(holding, kind) == kind, "a feature does not move the automaton"
    delta = pattern.automaton.delta[:, list(column.values())]
    return make_diagram(pattern.name, names, list(column), delta, pattern.automaton.accepting)


def _with_memory(pattern: CompiledPattern, memory: RegisterAutomaton) -> Diagram:
    """The automaton that a pattern with registers runs on, its arrows as `parked as before` and `hidden any event`."""
    named = {text_of(condition): name for name, condition in zip(memory.names, memory.asked, strict=True)}
    names = memory.names[: memory.read]
    codes = map(int, pattern.alphabet.codes)
    symbols = [frozenset(name for n, name in enumerate(names) if code >> n & 1) for code in codes]
    labels: dict[tuple[int, int], list[str]] = {}
    for t in pattern.nfa.transitions:
        chosen = {symbols[s] for s in range(len(symbols)) if t.guard >> s & 1}
        words = say_guard(chosen, set(symbols), names)
        kept = "".join(f" as {register}" for register in memory.registers if register in t.writes)
        if " or " in words and (kept or not t.marked):
            words = f"({words})"
        labels.setdefault((t.source, t.target), []).append(f"{'' if t.marked else 'hidden '}{words}{kept}")
    edges = tuple(Edge(*ends, " or ".join(dict.fromkeys(some))) for ends, some in sorted(labels.items()))
    accepting = frozenset(t.target for t in pattern.nfa.transitions if t.marked and t.target in pattern.nfa.finals)
    relations = tuple(
        f"{named[text]}: {text}" if named[text] != text else text for text in map(text_of, memory.relations)
    )
    return Diagram(pattern.name, pattern.nfa.states, accepting, edges, relations)


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
