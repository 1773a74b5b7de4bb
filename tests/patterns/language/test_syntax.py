"""A tree is written with the parentheses it needs and no others."""

import pytest

from foresail.patterns.language.parser import parse_pattern
from foresail.patterns.language.syntax import children_of, pattern_text
from tests.patterns.random_patterns import HERE

WRITTEN = {
    "((a))": "a",
    "_ as r": "_ as r",
    "[x > 1] as r": "[x > 1] as r",
    "(a ; b) | c": "a ; b | c",
    "a ; (b | c)": "a ; (b | c)",
    "(a | b) & c": "(a | b) & c",
    "a & (b ; c)": "a & b ; c",
    "(a & b) ; c": "(a & b) ; c",
    "(a ; b)+": "(a ; b)+",
    "(hidden a)*": "(hidden a)*",
    "hidden (a ; b)": "hidden (a ; b)",
    "hidden (a+)": "hidden a+",
    "a{0,1}": "a?",
    "a{1,}": "a+",
    "a{0,}": "a*",
    "a{3,3}": "a{3}",
    "a{3,}": "a{3,}",
    "a{2,5}": "a{2,5}",
    "any( a ,b|c )": "any(a, b | c)",
    "next(a,b)": "next(a, b)",
    "each(a;b,c)": "each(a ; b, c)",
    "not( a|b )": "not(a | b)",
    "absent(a)": "absent(a)",
}


@pytest.mark.parametrize("text", WRITTEN)
def test_text_is_written_without_what_it_does_not_need(text: str) -> None:
    tree = parse_pattern(text, HERE)
    assert pattern_text(tree) == WRITTEN[text]
    assert parse_pattern(pattern_text(tree), HERE) == tree


PARTS = {
    "a": [],
    "[x > 1]": [],
    "_": [],
    "a ; b": ["a", "b"],
    "a | b": ["a", "b"],
    "a & b": ["a", "b"],
    "each(a, b)": ["a", "b"],
    "any(a, b)": ["a", "b"],
    "next(a, b)": ["a", "b"],
    "a+": ["a"],
    "not(a)": ["a"],
    "absent(a)": ["a"],
    "hidden a": ["a"],
}


@pytest.mark.parametrize("text", PARTS)
def test_the_parts_of_a_node_are_those_right_below_it(text: str) -> None:
    assert [pattern_text(part) for part in children_of(parse_pattern(text, HERE))] == PARTS[text]
