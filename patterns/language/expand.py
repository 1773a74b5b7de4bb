"""Sugar and selection strategies, rewritten into the core.

The rewrites follow `any` and `next` as defined for symbolic register transducers by Alevizos, Artikis and Paliouras
(VLDB 2024), with skip-till-next corrected: between two parts lies a stretch in which the later part does not occur.
"""

from collections.abc import Callable
from itertools import permutations
from typing import assert_never

from foresail.patterns.language.core import (
    SKIP,
    Complement,
    Concatenation,
    Core,
    Event,
    Intersection,
    Iteration,
    Nothing,
    Union,
)
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

ConditionNumber = Callable[[Terminal], int | None]
"""Tells the number of a terminal's condition; None for any event."""


def expand(pattern: Pattern, number: ConditionNumber, marked: bool = True) -> Core:
    """The core of `pattern`; below `hidden`, `not` and `absent` nothing is marked."""

    def within(part: Pattern) -> Core:
        return expand(part, number, marked)

    match pattern:
        case Named() | Inline() | Anything():
            return Event(number(pattern), marked)
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
            return Complement(expand(part, number, marked=False))
        case Absent(part):
            return absence(expand(part, number, marked=False))
        case Hidden(part):
            return expand(part, number, marked=False)
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
