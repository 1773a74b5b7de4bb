"""Sugar and selection strategies, rewritten into the core.

The rewrites follow `any` and `next` as defined for symbolic register transducers by Alevizos, Artikis and Paliouras
(VLDB 2024), with skip-till-next corrected: between two parts lies a stretch in which the later part does not occur.

The core that every pattern is lowered to: few operators, each with one construction in automata/.
"""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import permutations
from typing import TypeAlias, assert_never

from foresail.patterns.language.syntax import (
    Absent,
    Anything,
    Both,
    Choice,
    Each,
    Hidden,
    Inline,
    Named,
    Not,
    Pattern,
    Repeat,
    Sequence,
    SkipTillAny,
    SkipTillNext,
    Terminal,
)


@dataclass(frozen=True, slots=True)
class Event:
    """One event on which condition number `condition` holds (None: any event), marked or not."""

    condition: int | None
    marked: bool
    register: str | None = None
    """The register that holds the event from then on."""


@dataclass(frozen=True, slots=True)
class Nothing:
    """The empty stretch."""


@dataclass(frozen=True, slots=True)
class Concatenation:
    """The parts one right after the other."""

    parts: tuple["Core", ...]


@dataclass(frozen=True, slots=True)
class Union:
    """One of the parts."""

    parts: tuple["Core", ...]


@dataclass(frozen=True, slots=True)
class Iteration:
    """The part `least` to `most` times; no `most` means without end."""

    part: "Core"
    least: int
    most: int | None


@dataclass(frozen=True, slots=True)
class Complement:
    """Any stretch that the part does not match; marks nothing."""

    part: "Core"


@dataclass(frozen=True, slots=True)
class Intersection:
    """Every part on the same stretch with the same marks."""

    parts: tuple["Core", ...]


Core: TypeAlias = Event | Nothing | Concatenation | Union | Iteration | Complement | Intersection

SKIP = Iteration(Event(None, marked=False), 0, None)
"""Any number of events that are not part of the match."""


ConditionNumber = Callable[[Terminal], int | None]
"""Tells the number of a terminal's condition; None for any event."""


def expand(pattern: Pattern, number: ConditionNumber, marked: bool = True, kept: frozenset[str] = frozenset()) -> Core:
    """The core of `pattern`; below `hidden`, `not` and `absent` nothing is marked. Other registers than `kept` go."""

    def within(part: Pattern) -> Core:
        return expand(part, number, marked, kept)

    match pattern:
        case Named() | Inline() | Anything():
            return Event(number(pattern), marked, pattern.register if pattern.register in kept else None)
        case Sequence(parts):
            return Concatenation(tuple(map(within, parts)))
        case Choice(parts):
            return Union(tuple(map(within, parts)))
        case Both(parts):
            return Intersection(tuple(map(within, parts)))
        case Each(parts):
            return Union(tuple(Concatenation(order) for order in permutations(map(within, parts))))
        case Repeat(part, least, most):
            return Iteration(within(part), least, most)
        case SkipTillAny(parts):
            return _with_strategy(parts, within, lambda _part: SKIP)
        case SkipTillNext(parts):
            return _with_strategy(parts, within, absence)
        case Not(part):
            return Complement(expand(part, number, False, kept))
        case Absent(part):
            return absence(expand(part, number, False, kept))
        case Hidden(part):
            return expand(part, number, False, kept)
        case _:
            assert_never(pattern)


def absence(part: Core) -> Core:
    """The stretches in which `part` occurs nowhere."""
    return Complement(Concatenation((SKIP, part, SKIP)))


def _with_strategy(parts: tuple[Pattern, ...], within: Callable[[Pattern], Core], gap: Callable[[Core], Core]) -> Core:
    """The parts with `gap(next part)` between them; a lone iteration is iterated with that gap instead."""
    if len(parts) == 1 and isinstance(parts[0], Repeat):
        repeat = parts[0]
        return _iterated(within(repeat.part), repeat.least, repeat.most, gap)
    first, *later = map(within, parts)
    return Concatenation((first, *(step for part in later for step in (gap(part), part))))


def _iterated(part: Core, least: int, most: int | None, gap: Callable[[Core], Core]) -> Core:
    if most == 0:
        return Nothing()
    further = Iteration(Concatenation((gap(part), part)), max(least - 1, 0), None if most is None else most - 1)
    repeated = Concatenation((part, further))
    return Union((Nothing(), repeated)) if least == 0 else repeated
