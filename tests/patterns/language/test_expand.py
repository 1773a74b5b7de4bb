"""Every operator of the language in terms of the core, and what is marked below it."""

import pytest

from foresail.patterns.language.expand import (
    SKIP,
    Complement,
    Concatenation,
    Core,
    Event,
    Intersection,
    Iteration,
    Nothing,
    Union,
    expand,
)
from foresail.patterns.language.parser import parse_pattern
from foresail.patterns.language.syntax import Named, Terminal
from tests.patterns.random_patterns import HERE

A, B, C = (Event(n, marked=True) for n in range(3))
HIDDEN_A, HIDDEN_B = (Event(n, marked=False) for n in range(2))


def no(part: Core) -> Core:
    return Complement(Concatenation((SKIP, part, SKIP)))


def number(terminal: Terminal) -> int | None:
    return "abc".index(terminal.name) if isinstance(terminal, Named) else None


CORES: dict[str, Core] = {
    "a": A,
    "_": Event(None, marked=True),
    "a ; b": Concatenation((A, B)),
    "a | b": Union((A, B)),
    "a & b": Intersection((A, B)),
    "a{2,5}": Iteration(A, 2, 5),
    "a+": Iteration(A, 1, None),
    "each(a, b)": Union((Concatenation((A, B)), Concatenation((B, A)))),
    "any(a, b, c)": Concatenation((A, SKIP, B, SKIP, C)),
    "next(a, b, c)": Concatenation((A, no(B), B, no(C), C)),
    "any(a{2,4})": Concatenation((A, Iteration(Concatenation((SKIP, A)), 1, 3))),
    "next(a+)": Concatenation((A, Iteration(Concatenation((no(A), A)), 0, None))),
    "any(a*)": Union((Nothing(), Concatenation((A, Iteration(Concatenation((SKIP, A)), 0, None))))),
    "any(a{0})": Nothing(),
    "any(a+, b)": Concatenation((Iteration(A, 1, None), SKIP, B)),
    "hidden a ; b": Concatenation((HIDDEN_A, B)),
    "not(a ; b)": Complement(Concatenation((HIDDEN_A, HIDDEN_B))),
    "absent(a | b)": no(Union((HIDDEN_A, HIDDEN_B))),
    "hidden (a ; hidden b)": Concatenation((HIDDEN_A, HIDDEN_B)),
}


@pytest.mark.parametrize("text", CORES)
def test_an_operator_means_its_core(text: str) -> None:
    assert expand(parse_pattern(text, HERE), number) == CORES[text]
