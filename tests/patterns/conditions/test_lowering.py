"""Conditions restated for typed columns."""

import pytest

from foresail.patterns.conditions import Attribute, AttributeType, parse_condition
from foresail.patterns.conditions.lowering import (
    IntegerAgainstDouble,
    Lowered,
    OneOf,
    Present,
    Related,
    Settled,
    VersusConstant,
    lower,
)
from foresail.patterns.conditions.syntax import Operator
from foresail.patterns.errors import ConditionTypeError
from tests.condition_cases import TYPES

MMSI, SPEED = Attribute("mmsi"), Attribute("speed_kn")


def lowered(text: str) -> Lowered:
    return lower(parse_condition(text), TYPES)


def test_a_constant_takes_the_type_of_the_attribute() -> None:
    assert lowered("2.5 < mmsi") == VersusConstant(Operator.GREATER, MMSI, AttributeType.INTEGER, 2)
    assert lowered("speed_kn < 9007199254740993") == VersusConstant(
        Operator.AT_MOST, SPEED, AttributeType.NUMBER, 2.0**53
    )
    assert lowered('time == "1970-01-01T00:00:01Z"') == VersusConstant(
        Operator.EQUAL, Attribute("time"), AttributeType.TIMESTAMP, 1_000_000
    )


def test_what_no_value_can_change_is_settled() -> None:
    assert lowered("mmsi == 2.5") == Settled(False)
    assert lowered("mmsi < 1e19") == Present(MMSI)
    assert lowered("1 / 0 < mmsi") == Settled(False)
    assert lowered("2 < 1 + 2") == Settled(True)


def test_options_that_cannot_equal_are_left_out() -> None:
    assert lowered("mmsi in (1, 2.5, 3.0)") == OneOf(MMSI, AttributeType.INTEGER, (1, 3))


def test_two_attributes_are_compared_in_their_own_types() -> None:
    assert lowered("speed_kn < mmsi") == IntegerAgainstDouble(Operator.GREATER, MMSI, SPEED)
    assert lowered("mmsi < status") == Related(Operator.LESS, MMSI, Attribute("status"), AttributeType.INTEGER)


@pytest.mark.parametrize("text", ["mmsi == vessel_type", "vessel_type == speed_kn", "speed_kn != flag", "time < mmsi"])
def test_values_of_unlike_types_are_refused(text: str) -> None:
    left, _, right = text.split()
    with pytest.raises(ConditionTypeError, match=f"{left} is a.* and {right} is a.*: they cannot be compared"):
        lowered(text)


@pytest.mark.parametrize("text", ["hour(speed_kn) > 1", "lower(mmsi) == 'a'", "floor(flag) > 1", "sqrt(time) > 1"])
def test_a_function_of_the_wrong_type_has_no_result(text: str) -> None:
    with pytest.raises(ConditionTypeError, match="has no result"):
        lowered(text)
