"""The NumPy back end against the definition, on values that rounding and nulls like to break."""

from datetime import datetime, timedelta

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from foresail.patterns.conditions import AttributeType, Condition, parse_condition
from foresail.patterns.conditions.evaluate import ArrayColumn, evaluate
from foresail.patterns.errors import ConditionTypeError, UnknownAttributeError
from foresail.pipeline.conditions.arrow import array_columns
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


def test_an_integer_and_a_double_beyond_two_to_62_are_compared_without_rounding() -> None:
    middle = 3 * 2**61
    columns = integers(middle - 1, middle, middle + 1, -middle) | doubles(*[float(middle)] * 3, -float(middle))
    assert evaluate(parse_condition("n == x"), columns).tolist() == [False, True, False, True]
    assert evaluate(parse_condition("n < x"), columns).tolist() == [True, False, False, False]
    assert evaluate(parse_condition("x < n"), columns).tolist() == [False, False, True, False]


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


def test_distance_reaches_half_around_the_earth() -> None:
    half_m = 20_015_115
    condition = parse_condition(f"{half_m - 1} < distance_m(x, 0, 0, 0) < {half_m + 1}")
    assert evaluate(condition, doubles(0.0, 90.0, 180.0, -180.0)).tolist() == [False, False, True, True]


def clock(*moments: str) -> dict[str, ArrayColumn]:
    micros = [int(datetime.fromisoformat(text).timestamp() * 1e6) for text in moments]
    return {"time": ArrayColumn(np.array(micros), None, AttributeType.TIMESTAMP)}


def test_hour_and_weekday_are_those_of_utc() -> None:
    columns = clock("2024-05-05T23:59:59.999999+00:00", "2024-05-06T00:00:00+00:00", "1969-12-31T22:30:00+00:00")
    for text, expected in {"hour(time)": [23, 0, 22], "weekday(time)": [7, 1, 3]}.items():
        for value in range(24):
            holds = evaluate(parse_condition(f"{text} == {value}"), columns).tolist()
            assert holds == [value == right for right in expected]


def test_local_hour_follows_the_sun_round_the_earth() -> None:
    columns = clock(*["2024-05-06T12:00:00+00:00"] * 4) | {
        "lon": ArrayColumn(np.array([0.0, 14.99, 180.0, -75.5]), None, AttributeType.NUMBER)
    }
    holds = [evaluate(parse_condition(f"local_hour(time, lon) == {hour}"), columns).tolist() for hour in range(24)]
    assert [[row[n] for row in holds].index(True) for n in range(4)] == [12, 12, 0, 6]


@pytest.mark.parametrize(
    ("lon", "lat", "sunrise", "sunset"),
    [  # in UTC, to the minute
        (-4.49, 48.39, "2024-06-21T04:16", "2024-06-21T20:26"),
        (139.69, 35.69, "2023-12-31T21:51", "2024-01-01T07:38"),
        (151.21, -33.87, "2024-03-19T19:59", "2024-03-20T08:06"),
    ],
)
def test_it_is_night_from_sunset_to_sunrise(lon: float, lat: float, sunrise: str, sunset: str) -> None:
    night = parse_condition(f"is_night(time, {lon}, {lat})")
    for edge, before in ((sunrise, True), (sunset, False)):
        moment = datetime.fromisoformat(f"{edge}:00+00:00")
        around = [(moment + timedelta(minutes=minutes)).isoformat() for minutes in (-3, 3)]
        assert evaluate(night, clock(*around)).tolist() == [before, not before]


def test_there_is_neither_day_nor_night_nowhere() -> None:
    places = ArrayColumn(np.array([0.0, 91.0, np.nan, -90.0]), None, AttributeType.NUMBER)
    columns = clock(*["2024-06-21T12:00:00+00:00"] * 4) | {"lat": places}
    assert evaluate(parse_condition("is_night(time, 0, lat)"), columns).tolist() == [False, False, False, True]
    assert evaluate(parse_condition("is_night(time, 0, lat) is known"), columns).tolist() == [True, False, False, True]
    assert evaluate(parse_condition("is_night(time, lat, 0) == false"), columns).tolist() == [True, True, False, True]


def test_small_letters_and_beginnings() -> None:
    words = ("MÆRSK A", "Mærsk b", "ΜΑΣ", "İ", "x")
    coded = ArrayColumn(np.arange(5), np.array([True] * 4 + [False]), AttributeType.STRING, words)
    plain = ArrayColumn(np.array([*words[:4], None], dtype=object), coded.valid, AttributeType.STRING)
    for name in (coded, plain):
        columns = {"name": name}
        for text, expected in {
            'starts_with(lower(name), "mærsk")': [True, True, False, False, False],
            'lower(name) == "μασ"': [False, False, True, False, False],
            'lower(name) == "İ"': [False, False, False, True, False],
            "lower(name) == name": [False, False, False, True, False],
            'not starts_with(name, "")': [False, False, False, False, True],
        }.items():
            assert evaluate(parse_condition(text), columns).tolist() == expected, text


def test_floor_and_sqrt() -> None:
    columns = doubles(-0.5, 6.25, 1e300, np.inf, np.nan)
    for text, expected in {
        "floor(x) == -1": [True, False, False, False, False],
        "floor(x) == x": [False, False, True, True, False],
        "sqrt(x) == 2.5": [False, True, False, False, False],
        "sqrt(x) is unknown": [True, False, False, False, True],
    }.items():
        assert evaluate(parse_condition(text), columns).tolist() == expected, text


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
