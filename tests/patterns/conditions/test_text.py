"""Writing conditions: the text reads back into the same tree, and is the one an analyst would write.

What a condition reads.
"""

import pytest
from hypothesis import given, settings

from foresail.patterns.conditions import Attribute, Condition, attributes_of, owners_of, parse_condition, text_of
from tests.condition_cases import conditions


@settings(max_examples=300, deadline=None)
@given(conditions)
def test_parsing_the_text_gives_the_condition_back(condition: Condition) -> None:
    assert parse_condition(text_of(condition)) == condition


@pytest.mark.parametrize(
    ("written", "canonical"),
    [
        ("1<x and x<9", "1 < x < 9"),
        ("((a)) and (b or c)", "a and (b or c)"),
        ("a and (b and c)", "a and (b and c)"),
        ("not(x is known)", "x is unknown"),
        ("not(x in('a'))", 'x not in ("a")'),
        ("not(a and b)", "not (a and b)"),
        ("not(not a)", "not not a"),
        ("(a-(b-c))*-d=1.50", "(a - (b - c)) * -d == 1.5"),
        ("`in` == `über` and `a b`.x", "`in` == über and `a b`.x"),
        ("min( a,1e3 )>seconds_since(r)", "min(a, 1000.0) > seconds_since(r)"),
    ],
)
def test_the_text_is_canonical(written: str, canonical: str) -> None:
    assert text_of(parse_condition(written)) == canonical


def test_attributes_are_listed_once_in_the_order_of_the_text() -> None:
    condition = parse_condition("b > 1 and (a < port.b or not b in (1, 2)) and abs(-c) / d is known")
    assert attributes_of(condition) == (
        Attribute("b"),
        Attribute("a"),
        Attribute("b", "port"),
        Attribute("c"),
        Attribute("d"),
    )
    assert owners_of(condition) == {"port"}


def test_seconds_since_reads_the_time_of_the_event_and_of_the_register() -> None:
    condition = parse_condition("seconds_since(last) > 60")
    assert attributes_of(condition) == (Attribute("time"), Attribute("time", "last"))
    assert owners_of(condition) == {"last"}
