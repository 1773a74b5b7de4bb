"""Constants restated for machine numbers decide the same comparisons as exact arithmetic does.

Values without attributes are computed once, as the back ends would compute them.
"""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from foresail.patterns.conditions import parse_condition
from foresail.patterns.conditions.cells import compare
from foresail.patterns.conditions.exact import (
    GREATEST_INTEGER,
    LEAST_INTEGER,
    Constant,
    NoConstant,
    constant_of,
    for_doubles,
    for_integers,
)
from foresail.patterns.conditions.syntax import Comparison, Operator

operators = st.sampled_from(list(Operator))
edges = [2**53, 2**53 + 1, 2**63, 2**63 - 1, -(2**63), -(2**63) - 1, 10**400, -(10**400), 2.0**63, 0.5, -0.0, 1e308]
constants = st.sampled_from(edges) | st.integers() | st.floats(allow_nan=False)


def restated(found: tuple[Operator, float] | bool, value: float) -> bool:
    return found if isinstance(found, bool) else compare(found[0], value, found[1])


@given(operators, constants, st.floats(allow_nan=False) | st.sampled_from([2.0**53, 2.0**53 + 2, 2.0**63]))
@example(Operator.AT_MOST, 2**53 + 1, 2.0**53)
def test_doubles_are_compared_as_if_with_unlimited_digits(operator: Operator, constant: float, value: float) -> None:
    found = for_doubles(operator, constant)
    assert restated(found, value) == compare(operator, value, constant)
    assert isinstance(found, bool) or isinstance(found[1], float)


@given(operators, constants, st.integers(LEAST_INTEGER, GREATEST_INTEGER))
def test_integers_are_compared_as_if_with_unlimited_digits(operator: Operator, constant: float, value: int) -> None:
    found = for_integers(operator, constant)
    assert restated(found, value) == compare(operator, value, constant)
    assert isinstance(found, bool) or LEAST_INTEGER <= found[1] <= GREATEST_INTEGER


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("9007199254740993", 9007199254740993),
        ("9007199254740993 + 0", 9007199254740992.0),
        ("0.1 + 0.2", 0.1 + 0.2),
        ("-(2 * 3)", -6.0),
        ("min(angle(350, 20), abs(-40))", 30.0),
        ("1 / 0", NoConstant.UNKNOWN),
        ("1e308 * 10 - 1e308 * 10", NoConstant.UNKNOWN),
        ("speed_kn * 0", NoConstant.VARIES),
        ("seconds_since(last)", NoConstant.VARIES),
        ('"tug"', "tug"),
    ],
)
def test_a_value_is_what_it_always_is(text: str, expected: Constant) -> None:
    comparison = parse_condition(f"{text} == x")
    assert isinstance(comparison, Comparison)
    found = constant_of(comparison.left)
    assert found == expected
    assert type(found) is type(expected)
