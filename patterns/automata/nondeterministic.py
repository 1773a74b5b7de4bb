"""Nondeterministic automata without empty transitions, built bottom up from the core.

Every automaton has one start state that nothing leads to, so that sequences and iterations only copy the transitions
that leave it (the position automaton of Glushkov, 1961). Symbols are bits of an integer: a guard is a set of symbols.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from typing import TypeAlias, assert_never

from foresail.patterns.automata.limits import MOST_STATES, SizeExceededError
from foresail.patterns.language.expand import (
    Complement,
    Concatenation,
    Core,
    Event,
    Intersection,
    Iteration,
    Nothing,
    Union,
)

Symbols: TypeAlias = int
"""A set of symbols: bit s is set when symbol s belongs to it."""


@dataclass(frozen=True, slots=True)
class Transition:
    """On an event whose symbol is in `guard`, go from `source` to `target`, marking the event or not."""

    source: int
    guard: Symbols
    marked: bool
    target: int
    writes: frozenset[str] = frozenset()
    """The registers that hold the event from then on."""


@dataclass(frozen=True, slots=True)
class Nondeterministic:
    """States 0..states-1; state 0 is the start and no transition leads to it."""

    states: int
    finals: frozenset[int]
    transitions: tuple[Transition, ...]

    def __post_init__(self) -> None:
        if self.states > MOST_STATES:
            raise SizeExceededError(self.states)

    @property
    def nullable(self) -> bool:
        """Whether the empty stretch matches."""
        return 0 in self.finals

    def __str__(self) -> str:
        lines = [f"{self.states} states, final {sorted(self.finals)}"]
        lines += [
            f"  {t.source} --{t.guard:b}{'' if t.marked else ' hidden'}{_kept(t)}--> {t.target}"
            for t in self.transitions
        ]
        return "\n".join(lines)


Guards: TypeAlias = Callable[[int | None], Symbols]
"""The symbols on which a condition holds; None asks for all symbols."""


def construct(
    core: Core, guards: Guards, complement: Callable[[Nondeterministic], Nondeterministic]
) -> Nondeterministic:
    """The automaton whose walks are the matches of `core`; `complement` closes the one operator that needs subsets."""

    def build(part: Core) -> Nondeterministic:
        return construct(part, guards, complement)

    match core:
        case Nothing():
            return _empty()
        case Event(condition, marked, register):
            writes = frozenset({register} if register else ())
            return _merged(2, [1], [Transition(0, guards(condition), marked, 1, writes)])
        case Concatenation(parts):
            return _in_turn([_empty(), *map(build, parts)])
        case Union(parts):
            return reduce(_united, map(build, parts))
        case Iteration(part, least, most):
            return _iterated(build(part), least, most)
        case Intersection(parts):
            return reduce(_intersected, map(build, parts))
        case Complement(part):
            return complement(build(part))
        case _:
            assert_never(core)


def from_start_anew(automaton: Nondeterministic) -> Nondeterministic:
    """The same matches with a fresh start that nothing leads to."""
    moved = [_shifted(t, 1) for t in automaton.transitions]
    leaving = [replace(t, source=0) for t in moved if t.source == 1]
    finals = [f + 1 for f in automaton.finals] + ([0] if automaton.nullable else [])
    return trimmed(_merged(automaton.states + 1, finals, leaving + moved))


def trimmed(automaton: Nondeterministic, must_mark_last: bool = False) -> Nondeterministic:
    """Without the transitions and states that lie on no walk from the start to a match (whose last event is marked)."""
    ends = {t for t in automaton.transitions if t.target in automaton.finals and (t.marked or not must_mark_last)}
    reached = _closure({0}, ((t.source, t.target) for t in automaton.transitions))
    useful = _closure({t.source for t in ends}, ((t.target, t.source) for t in automaton.transitions))
    kept = [t for t in automaton.transitions if t.source in reached and (t.target in useful or t in ends)]
    states = sorted({0} | {t.source for t in kept} | {t.target for t in kept})
    number = {state: n for n, state in enumerate(states)}
    finals = [number[f] for f in automaton.finals if f in number]
    moved = [replace(t, source=number[t.source], target=number[t.target]) for t in kept]
    return _merged(len(states), finals, moved)


def unmarked_runs(automaton: Nondeterministic) -> frozenset[int]:
    """The states in which a run may stand that has marked nothing yet."""
    return frozenset(_closure({0}, ((t.source, t.target) for t in automaton.transitions if not t.marked)))


def like_the_start(automaton: Nondeterministic) -> frozenset[int]:
    """The states in which no run has marked anything yet, and from which just what follows the start follows."""
    marked = _closure(
        {t.target for t in automaton.transitions if t.marked}, ((t.source, t.target) for t in automaton.transitions)
    )
    leaving = [[t for t in automaton.transitions if t.source == state] for state in range(automaton.states)]
    block = [int(state in automaton.finals) for state in range(automaton.states)]
    for _ in range(automaton.states):
        ways = []
        for state in range(automaton.states):
            guards: dict[tuple[bool, int], Symbols] = {}
            for t in leaving[state]:
                key = t.marked, block[t.target]
                guards[key] = guards.get(key, 0) | t.guard
            ways.append((block[state], tuple(sorted(guards.items()))))
        number = {way: n for n, way in enumerate(dict.fromkeys(ways))}
        if len(number) == len(set(block)):
            break
        block = [number[way] for way in ways]
    alike = {state for state in range(automaton.states) if block[state] == block[0]}
    return (frozenset(alike) & unmarked_runs(automaton) - marked) | {0}


def _empty() -> Nondeterministic:
    return Nondeterministic(1, frozenset({0}), ())


def _concatenated(first: Nondeterministic, then: Nondeterministic) -> Nondeterministic:
    offset = first.states - 1  # the start of `then` disappears into the finals of `first`
    kept = list(first.transitions) + [_shifted(t, offset) for t in then.transitions if t.source != 0]
    bridges = [
        replace(t, source=final, target=t.target + offset)
        for final in first.finals
        for t in then.transitions
        if t.source == 0
    ]
    finals = {f + offset for f in then.finals if f != 0} | (first.finals if then.nullable else set())
    return _merged(offset + then.states, finals, kept + bridges)


def _united(left: Nondeterministic, right: Nondeterministic) -> Nondeterministic:
    offset = left.states - 1
    moved = [
        replace(t, source=0 if t.source == 0 else t.source + offset, target=t.target + offset)
        for t in right.transitions
    ]
    finals = left.finals | {0 if f == 0 else f + offset for f in right.finals}
    return _merged(offset + right.states, finals, list(left.transitions) + moved)


def _iterated(part: Nondeterministic, least: int, most: int | None) -> Nondeterministic:
    if most == 0:
        return _empty()
    if (least + (most or 0)) * (part.states - 1) > 2 * MOST_STATES:
        raise SizeExceededError(max(least, most or 0) * (part.states - 1))
    if most is None:
        tail = _plus(part)
        if least == 0:
            return replace(tail, finals=tail.finals | {0})
        return _in_turn([part] * (least - 1) + [tail])
    tail = _empty()
    for _ in range(most - least):
        longer = _concatenated(part, tail)
        tail = replace(longer, finals=longer.finals | {0})
    return _in_turn([part] * least + [tail])


def _in_turn(parts: Sequence[Nondeterministic]) -> Nondeterministic:
    """One after the other, joined by halves: each state is copied once a level, not once for every part after it."""
    if len(parts) == 1:
        return parts[0]
    middle = len(parts) // 2
    return _concatenated(_in_turn(parts[:middle]), _in_turn(parts[middle:]))


def _plus(part: Nondeterministic) -> Nondeterministic:
    again = [replace(t, source=final) for final in part.finals if final != 0 for t in part.transitions if t.source == 0]
    return _merged(part.states, part.finals, list(part.transitions) + again)


def _intersected(left: Nondeterministic, right: Nondeterministic) -> Nondeterministic:
    """Walks of both at once; only transitions that agree on the mark pair up, so that both sides mark the same."""
    leaving = {state: [t for t in right.transitions if t.source == state] for state in range(right.states)}
    leaving_left = {state: [t for t in left.transitions if t.source == state] for state in range(left.states)}
    number = {(0, 0): 0}
    waiting = [(0, 0)]
    transitions: list[Transition] = []
    while waiting:
        pair = waiting.pop()
        for one in leaving_left[pair[0]]:
            for other in leaving[pair[1]]:
                guard = one.guard & other.guard
                if one.marked != other.marked or not guard:
                    continue
                target = (one.target, other.target)
                if target not in number:
                    number[target] = len(number)
                    waiting.append(target)
                    if len(number) > MOST_STATES:
                        raise SizeExceededError(len(number))
                writes = one.writes | other.writes
                transitions.append(Transition(number[pair], guard, one.marked, number[target], writes))
    finals = [n for (a, b), n in number.items() if a in left.finals and b in right.finals]
    return trimmed(_merged(len(number), finals, transitions))


def _merged(states: int, finals: Iterable[int], transitions: Iterable[Transition]) -> Nondeterministic:
    """Parallel transitions with one mark and the same registers become one, whose guard is their union.

    Merging those that write different registers, as the published construction does, would join two branches.
    """
    guards: dict[tuple[int, bool, int, tuple[str, ...]], Symbols] = {}
    for t in transitions:
        key = (t.source, t.marked, t.target, tuple(sorted(t.writes)))
        guards[key] = guards.get(key, 0) | t.guard
    merged = tuple(
        Transition(source, guard, marked, target, frozenset(writes))
        for (source, marked, target, writes), guard in sorted(guards.items())
        if guard
    )
    return Nondeterministic(states, frozenset(finals), merged)


def _kept(transition: Transition) -> str:
    return f" as {','.join(sorted(transition.writes))}" if transition.writes else ""


def _shifted(transition: Transition, offset: int) -> Transition:
    return replace(transition, source=transition.source + offset, target=transition.target + offset)


def _closure(seed: Iterable[int], edges: Iterable[tuple[int, int]]) -> set[int]:
    successors: dict[int, list[int]] = {}
    for source, target in edges:
        successors.setdefault(source, []).append(target)
    reached = set(seed)
    waiting = list(reached)
    while waiting:
        for target in successors.get(waiting.pop(), ()):
            if target not in reached:
                reached.add(target)
                waiting.append(target)
    return reached
