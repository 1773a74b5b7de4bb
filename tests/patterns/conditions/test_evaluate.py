"""The NumPy back end against the definition, on values that rounding and nulls like to break."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from patterns.conditions import AttributeType, Condition, parse_condition
from patterns.conditions.evaluate import ArrayColumn, evaluate
from patterns.errors import ConditionTypeError, UnknownAttributeError
from pipeline.arrow_columns import array_columns
from tests.condition_cases import Row, arrow_table, conditions, rows, satisfied


@settings(max_examples=150, deadline=None)
@given(st.lists(conditions, min_size=1, max_size=5), st.lists(rows, min_size=1, max_size=12))
def test_a_condition_holds_exactly_where_its_definition_says(some: list[Condition], events: list[Row]) -> None:
    columns = array_columns(arrow_table(events))
    for condition in some:
        assert evaluate(condition, columns).tolist() == [satisfied(condition, event) for event in events]


def integers(*values: int) -> dict[str, ArrayColumn]:
    return {"n": ArrayColumn(np.array(values, dtype=np.int64), None, AttributeType.INTEGER)}


def doubles(*values: float) -> dict[str, ArrayColumn]:
    return {"x": ArrayColumn(np.array(values, dtype=np.float64), None, AttributeType.NUMBER)}


def test_integers_beyond_two_to_53_are_compared_without_rounding() -> None:
    columns = integers(2**53, 2**53 + 1, 2**63 - 1) | doubles(2.0**53, 2.0**53, 2.0**63)
    assert evaluate(parse_condition("n > 9007199254740992"), columns).tolist() == [False, True, True]
    assert evaluate(parse_condition("n == x"), columns).tolist() == [True, False, False]
    assert evaluate(parse_condition("x > n"), columns).tolist() == [False, False, True]
    assert evaluate(parse_condition("n < 1e19"), columns).all()
    assert evaluate(parse_condition("x != 9007199254740993"), columns).all()


def test_not_of_a_comparison_with_null_or_nan_holds() -> None:
    columns = {"x": ArrayColumn(np.array([1.0, np.nan, 7.0]), np.array([True, True, False]), AttributeType.NUMBER)}
    for text in ("x < 5", "x >= 5", "x != 5", "x == x", "x in (5, 6)", "x + 1 > 0"):
        assert evaluate(parse_condition(f"not ({text})"), columns)[1:].all()
        assert not evaluate(parse_condition(text), columns)[1:].any()
    assert evaluate(parse_condition("x is known"), columns).tolist() == [True, False, False]


def test_what_is_divided_by_zero_is_unknown() -> None:
    columns = doubles(0.0, -0.0, 2.0)
    assert evaluate(parse_condition("1 / x > 0"), columns).tolist() == [False, False, True]
    assert evaluate(parse_condition("1 / x is unknown"), columns).tolist() == [True, True, False]


def test_angle_is_the_smaller_one_between_two_directions() -> None:
    columns = doubles(10.0, 350.0, 190.0, -170.0)
    assert evaluate(parse_condition("angle(x, 0) <= 10"), columns).tolist() == [True, True, False, False]
    assert evaluate(parse_condition("angle(0, x) == 170"), columns).tolist() == [False, False, True, True]


def test_distance_follows_the_great_circle() -> None:
    columns = doubles(0.0, 1.0, 180.0)
    one_degree_m = 111195.08
    near = parse_condition(f"distance_m(x, 0, 0, 0) < {one_degree_m + 1}")
    exact = parse_condition(f"{one_degree_m - 0.01} < distance_m(x, 0, 0, 0) < {one_degree_m + 0.01}")
    assert evaluate(near, columns).tolist() == [True, True, False]
    assert evaluate(exact, columns).tolist() == [False, True, False]


def test_seconds_since_a_register_counts_microseconds() -> None:
    now = ArrayColumn(np.array([5_000_000, 5_000_001]), None, AttributeType.TIMESTAMP)
    then = ArrayColumn(np.array([2_000_000, 2_000_000]), None, AttributeType.TIMESTAMP)
    assert evaluate(parse_condition("seconds_since(last) > 3"), {"time": now, "last.time": then}).tolist() == [
        False,
        True,
    ]


def test_texts_in_plain_object_arrays_compare_like_dictionaries() -> None:
    words = np.array(["a", None, "a\x00", "b"], dtype=object)
    plain = ArrayColumn(words, np.array([True, False, True, True]), AttributeType.STRING)
    coded = ArrayColumn(np.array([1, 0, 2, 0]), plain.valid, AttributeType.STRING, ("b", "a", "a\x00"))
    for text in ('s == "a"', 's != "a"', 's in ("b", "c")', "s == t"):
        condition = parse_condition(text)
        assert (
            evaluate(condition, {"s": plain, "t": coded}).tolist()
            == evaluate(condition, {"s": coded, "t": plain}).tolist()
        )
    assert evaluate(parse_condition("s == t"), {"s": plain, "t": coded}).tolist() == [True, False, True, True]


def test_a_constant_condition_needs_the_number_of_rows_only() -> None:
    assert evaluate(parse_condition("1 + 1 == 2 and not 1 / 0 > 0"), {}, rows=3).tolist() == [True] * 3


def test_columns_that_do_not_fit_are_refused_with_a_reason() -> None:
    with pytest.raises(UnknownAttributeError, match="Did you mean 'x'"):
        evaluate(parse_condition("xx > 1"), doubles(1.0))
    with pytest.raises(ConditionTypeError, match='x is a number and "a" is a text'):
        evaluate(parse_condition('x == "a"'), doubles(1.0))
    with pytest.raises(ConditionTypeError, match="has no result"):
        evaluate(
            parse_condition("x + s > 1"),
            doubles(1.0) | {"s": ArrayColumn(np.array([0]), None, AttributeType.STRING, ("a",))},
        )
