"""Values without attributes are computed once, as the back ends would compute them."""

import pytest

from foresail.patterns.conditions import parse_condition
from foresail.patterns.conditions.constants import Constant, NoConstant, constant_of
from foresail.patterns.conditions.syntax import Comparison


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
