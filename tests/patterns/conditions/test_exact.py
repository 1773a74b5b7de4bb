"""Constants restated for machine numbers decide the same comparisons as exact arithmetic does."""

from hypothesis import example, given
from hypothesis import strategies as st

from foresail.patterns.conditions.cells import compare
from foresail.patterns.conditions.exact import GREATEST_INTEGER, LEAST_INTEGER, for_doubles, for_integers
from foresail.patterns.conditions.syntax import Operator

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
