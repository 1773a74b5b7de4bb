"""Cells: the pieces of a domain that tests can tell apart."""

from foresail.patterns.conditions import AttributeType
from foresail.patterns.conditions.cells import (
    Against,
    Between,
    Exactly,
    Known,
    Says,
    Somehow,
    Unknown,
    Verdict,
    cells_for,
    holds,
)
from foresail.patterns.conditions.syntax import Operator

BELOW_FIVE = Against(Operator.LESS, 5)
IS_TUG = Against(Operator.EQUAL, "tug")


def test_constants_cut_numbers_into_points_and_intervals() -> None:
    cells = cells_for([BELOW_FIVE, Against(Operator.EQUAL, 7.5)], AttributeType.NUMBER)
    assert cells == (Between(None, 5), Exactly(5), Between(5, 7.5), Exactly(7.5), Between(7.5, None))
    assert [holds(BELOW_FIVE, cell) for cell in cells] == [True, False, False, False, False]


def test_integers_have_no_cells_between_neighbours() -> None:
    cells = cells_for([BELOW_FIVE, Against(Operator.LESS, 6), Against(Operator.LESS, 6.5)], AttributeType.INTEGER)
    assert cells == (Between(None, 5), Exactly(5), Exactly(6), Between(6.5, None))


def test_bounds_cut_off_what_a_function_never_returns() -> None:
    assert cells_for([BELOW_FIVE], AttributeType.NUMBER, (5.0, 9.0)) == (Exactly(5), Between(5, None))


def test_texts_are_the_named_ones_and_the_rest() -> None:
    assert cells_for([IS_TUG], None) == (Exactly("tug"), Somehow())
    assert holds(Against(Operator.UNEQUAL, "tug"), Somehow())
    assert not holds(IS_TUG, Somehow())


def test_the_unknown_satisfies_no_test() -> None:
    assert not any(holds(test, Unknown()) for test in (BELOW_FIVE, IS_TUG, Known(), Says(True), Says(False)))
    assert cells_for([Says(True)], None) == (Verdict(True), Verdict(False))
