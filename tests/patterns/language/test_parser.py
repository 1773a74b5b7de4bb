"""Pattern text becomes the tree that the language says; a fault points at its place."""

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foresail.patterns.errors import PatternError, PatternSyntaxError, Place
from foresail.patterns.language.parser import parse_pattern
from foresail.patterns.language.syntax import (
    Anything,
    Both,
    Choice,
    Hidden,
    Inline,
    Named,
    Pattern,
    Repeat,
    Sequence,
    SkipTillAny,
    pattern_text,
)
from tests.patterns.random_patterns import HERE, random_pattern

A, B, C, D = (Named(name, HERE) for name in "abcd")
EXAMPLES: dict[str, Pattern] = {
    "a ; b": Sequence((A, B)),
    "a | b ; c & d": Choice((A, Both((Sequence((B, C)), D)))),
    "a ; b+ ; c": Sequence((A, Repeat(B, 1, None), C)),
    "(a ; b)+": Repeat(Sequence((A, B)), 1, None),
    "a{3}": Repeat(A, 3, 3),
    "a{3,}": Repeat(A, 3, None),
    "a{2,5}": Repeat(A, 2, 5),
    "a?*": Repeat(Repeat(A, 0, 1), 0, None),
    "hidden _* ; a": Sequence((Hidden(Repeat(Anything(HERE), 0, None)), A)),
    "a as r ; b": Sequence((Named("a", HERE, "r"), B)),
    "any(a, b+)": SkipTillAny((A, Repeat(B, 1, None))),
    "any_port ; _x": Sequence((Named("any_port", HERE), Named("_x", HERE))),
    '[kind == "]" and x > 1]': Inline('kind == "]" and x > 1', HERE),
    "a # a comment ; not read\n; b": Sequence((A, B)),
}


@pytest.mark.parametrize("text", EXAMPLES)
def test_text_becomes_its_tree(text: str) -> None:
    assert parse_pattern(text, HERE) == EXAMPLES[text]


@given(st.integers(0, 2**32))
def test_a_tree_written_and_parsed_is_the_same_tree(seed: int) -> None:
    tree = random_pattern(Random(seed), depth=4)
    assert parse_pattern(pattern_text(tree), HERE) == tree


FAULTS = {
    "a ; ; b": ("p:1:5: ';' cannot stand here", "        ^"),
    "a{": ("p:1:3: the pattern ends too early. Expected a number.", "      ^"),
    "a $ b": ("p:1:3: '$' cannot stand here", "      ^"),
    "": ("p:1:1: the pattern ends too early", "    ^"),
    "a ;\nb |": ("p:2:4: the pattern ends too early", "       ^"),
}


@pytest.mark.parametrize("text", FAULTS)
def test_a_fault_shows_line_column_caret_and_what_was_expected(text: str) -> None:
    with pytest.raises(PatternSyntaxError) as caught:
        parse_pattern(text, Place("p"))
    message, caret = FAULTS[text]
    assert str(caught.value).startswith(message)
    assert "Expected" in str(caught.value)
    assert str(caught.value).splitlines()[-1] == caret


def test_a_fault_inside_a_file_is_told_at_its_line_there() -> None:
    with pytest.raises(PatternSyntaxError, match=r"^ports\.yaml:12:17:"):
        parse_pattern("a ; ; b", Place("ports.yaml", 12, 13))


def test_a_register_must_follow_a_condition() -> None:
    with pytest.raises(PatternError, match=r"p:1:10: 'as r' keeps one event.*Write it right behind"):
        parse_pattern("(a;b) as r", Place("p"))


def test_bounds_the_wrong_way_round_are_refused() -> None:
    with pytest.raises(PatternError, match=r"\{5,2\}.*Swap"):
        parse_pattern("a{5,2}", Place("p"))
