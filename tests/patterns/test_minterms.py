"""Symbols are what can occur: every event has one, and every one has an event."""

import time
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from foresail.patterns.conditions import AttributeType, Condition, parse_condition
from foresail.patterns.conditions.syntax import And, Not, Or
from foresail.patterns.errors import AlphabetError, ConditionTypeError
from foresail.patterns.minterms import alphabet
from tests.condition_cases import TYPES, Row, conditions, rows, satisfied


def codes(*texts: str, **options: Any) -> list[str]:
    """Each symbol as letters: the conditions that hold in it, the first one being `a`."""
    found = alphabet([parse_condition(text) for text in texts], **options).codes
    return sorted("".join(chr(97 + i) for i in range(len(texts)) if int(code) >> i & 1) for code in found)


TIMES_ONLY = {key: kind for key, kind in TYPES.items() if kind is AttributeType.TIMESTAMP}


def code_of(some: list[Condition], row: Row) -> int:
    return sum(1 << i for i, condition in enumerate(some) if satisfied(condition, row))


PORT = {
    "outside": "port.distance_m >= 5000",
    "inside": "port.distance_m < 5000",
    "ring_5_6": "5000 <= port.distance_m < 6000",
    "ring_6_7": "6000 <= port.distance_m < 7000",
    "ring_7_8": "7000 <= port.distance_m < 8000",
    "ring_8_9": "8000 <= port.distance_m < 9000",
}


def test_the_port_pattern_has_seven_symbols() -> None:
    assert codes(*PORT.values()) == ["", "a", "ac", "ad", "ae", "af", "b"]
    assert len(codes(*PORT.values(), "heading_port")) == 14


def test_an_attribute_that_is_always_known_needs_no_symbol_for_null() -> None:
    assert codes(*PORT.values(), known=["port.distance_m"]) == ["a", "ac", "ad", "ae", "af", "b"]
    assert codes("a < b", "a >= b", known=["a", "b"]) == ["a", "b"]


def test_a_pair_is_always_known_only_where_both_of_its_sides_are() -> None:
    assert codes("a < b", "a >= b", known=["a"]) == ["", "a", "b"]
    assert codes("a < b", "a >= b", known=["b"]) == ["", "a", "b"]
    assert codes("a < b + 1", "a >= b + 1", known=["a", "b"]) == ["", "a", "b"]


def test_what_is_computed_may_be_unknown_though_all_it_reads_is_known() -> None:
    assert codes("a / b > 3", "a / b <= 3", known=["a", "b"]) == ["", "a", "b"]
    assert codes("sqrt(a) >= 0", known=["a"]) == ["", "a"]
    assert codes("a is unknown", "a + b > 3", known=["a"]) == ["", "b"]
    assert codes("a is unknown", "hour(a) > 3", known=["a"], types={"a": AttributeType.TIMESTAMP}) == ["", "b"]


def test_twelve_rings_give_thirteen_symbols_in_no_time() -> None:
    rings = [parse_condition(f"{ring} <= d < {ring + 1}") for ring in range(12)]
    alphabet(rings)
    began = time.perf_counter()
    assert len(alphabet(rings)) == 13
    assert time.perf_counter() - began < 0.2


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        (["speed > 9", "speed > 1"], ["", "ab", "b"]),
        (["d < 5", "5 < d < 6"], ["", "a", "b"]),
        (['x == "a"', 'x == "b"', "x is known"], ["", "ac", "bc", "c"]),
        (['x != "a"', 'not x == "a"'], ["", "ab", "b"]),
        (["ice", "not ice", "ice == false", "ice is unknown"], ["a", "bc", "bd"]),
        (["x < 5", "not x < 5", "x >= 5"], ["a", "b", "bc"]),
        (["a < b", "b > a", "a >= b", "a == b"], ["", "ab", "c", "cd"]),
        (["a < 5", "b > 10", "a > b"], ["", "a", "ab", "ac", "b", "bc", "c"]),
        (['s == "x"', 't == "x"', "s == t"], ["", "a", "abc", "b", "c"]),
        (["p", "q", "p == q"], ["", "a", "abc", "b", "c"]),
        (["abs(x) < 3", "-3 < x < 3", "-x > 3"], ["", "ab", "c"]),
        (["abs(x) == -1", "abs(x) != -1"], ["", "b"]),
        (["angle(a, b) > 180", "angle(a, b) <= 180"], ["", "b"]),
        (["distance_m(a, b, c, d) < 0"], [""]),
        (["distance_m(a, b, c, d) > 6400000", "distance_m(a, b, c, d) > 20000000"], ["", "a", "ab"]),
        (["distance_m(a, b, c, d) > 26000000"], [""]),
        (["hour(t) >= 22", "hour(t) < 5", "hour(t) > 21.5"], ["", "ac", "b"]),
        (["hour(t) > 23", "weekday(t) < 1", "local_hour(t, x) == 24", "local_hour(t, x) == 2.5"], [""]),
        (["hour(t) == 0", "hour(t) == 23", "weekday(t) == 1", "t is unknown"], ["", "a", "ac", "b", "bc", "c", "d"]),
        (["floor(x) > 1e300", "floor(x) == 1.5"], ["", "a", "b"]),
        (["is_night(t, x, y)", "not is_night(t, x, y)", "x is unknown"], ["a", "b", "bc"]),
        (['starts_with(s, "a")', 'starts_with(s, "b") == false', "s is unknown"], ["", "a", "ab", "b", "c"]),
        (['lower(s) == "a"', 'lower(s) == "b"', "s is unknown"], ["", "a", "b", "c"]),
        (['starts_with("abc", "ab")', 'lower("A") == "a"'], ["ab"]),
        (["a is unknown", "a + b > 3"], ["", "a", "b"]),
        (["a is unknown", "a < b"], ["", "a", "b"]),
        (["x in (1, 2, 3)", "x == 2.0", "x > 2.5"], ["", "a", "ab", "ac", "c"]),
        (["x < 2 * 3 - 1", "x < 5.0"], ["", "ab"]),
        (["1 / 0 > x", "x == x"], ["", "b"]),
        (["a < b + 1", "b + 1 > a"], ["", "ab"]),
        (["b == c", "b", "c", "b is unknown"], ["", "a", "abc", "b", "c", "cd", "d"]),
        (["true", "false"], ["a"]),
        ([], [""]),
    ],
)
def test_impossible_combinations_are_no_symbols(texts: list[str], expected: list[str]) -> None:
    assert codes(*texts) == expected


def test_types_rule_out_what_they_cannot_hold() -> None:
    between = ["1 < n < 2", "n == 1.5", "n > 9223372036854775807"]
    assert codes(*between, types={"n": AttributeType.INTEGER}) == [""]
    assert codes(*between, types={"n": AttributeType.NUMBER}) == ["", "a", "ab", "c"]
    rounded = ["x == 9007199254740993", "9007199254740992 < x < 9007199254740993"]
    assert codes(*rounded, types={"x": AttributeType.NUMBER}) == [""]
    assert codes(*rounded, types={"x": AttributeType.INTEGER}) == ["", "a"]


def test_times_are_intervals_when_their_type_is_known() -> None:
    texts = ['time < "2024-01-01"', 'time >= "2024-01-01T01:00:00+01:00"']
    assert codes(*texts, types={"time": AttributeType.TIMESTAMP}) == ["", "a", "b"]
    with pytest.raises(ConditionTypeError, match="Say that time is a time"):
        codes(*texts)
    with pytest.raises(ConditionTypeError, match="same time"):
        codes('x == "2024-01-01"', 'x == "2024-01-01T00:00:00Z"')


def test_declared_exclusions_remove_combinations() -> None:
    assert codes("a", "b", "c", exclusive=[[0, 1, 2]]) == ["", "a", "b", "c"]
    assert codes("a > 1", "b > 1", "c > 1", exclusive=[{0, 1}]) == ["", "a", "ac", "b", "bc", "c"]
    with pytest.raises(AlphabetError, match="Correct `exclusive`"):
        codes("true", "1 < 2", exclusive=[[0, 1]])


def test_conditions_that_never_or_always_hold_are_seen() -> None:
    found = alphabet([parse_condition(text) for text in ("x < 1 and x > 2", "x < 1 or not x < 1", "x < 1")])
    assert [found.never(i) for i in range(3)] == [True, False, False]
    assert [found.always(i) for i in range(3)] == [False, True, False]


def test_a_symbol_is_found_by_its_combination() -> None:
    found = alphabet([parse_condition(text) for text in PORT.values()])
    assert [found.symbol_of(int(code)) for code in found.codes] == list(range(len(found)))
    assert found.symbol_of(0b11) == -1
    assert found.symbols_of(np.array([0b1, 0b11, 0b10], dtype=np.uint64)).tolist() == [1, -1, 2]


def test_sixty_four_conditions_fill_the_word() -> None:
    found = alphabet([parse_condition(f"n == {i}") for i in range(64)])
    assert len(found) == 65
    assert int(found.codes[-1]) == 1 << 63
    with pytest.raises(AlphabetError, match="Split the pattern"):
        alphabet([parse_condition("a")] * 65)


def test_forty_conditions_on_a_dozen_attributes_take_well_below_a_second() -> None:
    rings = [f"{i} <= d < {i + 1}" for i in range(8)] + [f"speed > {i}" for i in range(8)]
    kinds = [f'kind == "{letter}"' for letter in "abcdefgh"]
    joint = [f"d < {i} and speed > {i} or kind == 'c'" for i in range(8)] + ["speed is unknown"]
    apart = ["angle(course, heading) > 30", "x < y", *(f"flag_{i}" for i in range(4)), "flag_0 and flag_1"]
    some = [parse_condition(text) for text in rings + kinds + joint + apart]
    alphabet(some[:2])
    began = time.perf_counter()
    found = alphabet(some)
    assert time.perf_counter() - began < 1.0
    assert len(some) == 40
    numbers = [None, *(i + 0.5 for i in range(-1, 9))]
    together = [{"d": d, "speed": v, "kind": k} for d, v, k in product(numbers, numbers, [None, *"abcdefghz"])]
    assert len(found) == len({code_of(some[:33], row) for row in together}) * 2 * 2 * 2**4


def test_too_many_combinations_are_refused_with_the_attributes_that_multiply() -> None:
    with pytest.raises(AlphabetError, match=r"more than 65536 .*a0 \(2\) x a1 \(2\)"):
        alphabet([parse_condition(f"a{i} > 0") for i in range(17)])
    assert len(alphabet([parse_condition(f"a{i} > 0") for i in range(16)])) == 65536


@settings(max_examples=150, deadline=None)
@given(st.lists(conditions, min_size=1, max_size=5), st.lists(rows, min_size=1, max_size=30), st.booleans())
def test_every_event_has_a_symbol(some: list[Condition], events: list[Row], typed: bool) -> None:
    try:
        found = alphabet(some, types=TYPES if typed else TIMES_ONLY)
    except AlphabetError:
        return
    for event in events:
        assert found.symbol_of(code_of(some, event)) >= 0


WITNESSES = [
    {"speed_kn": speed, "vessel_type": kind, "ice": ice, "status": status}
    for speed, kind, ice, status in product(
        [None, -2.0, -1.0, -0.5, 0.0, 0.5, 1.0, 1.5, 2.0, 9.0],
        [None, "a", "b", "c"],
        [None, True, False],
        [None, 0, 1, 2],
    )
]
SIMPLE = """
speed_kn < 0; speed_kn <= 1; speed_kn == 1; speed_kn > 2; speed_kn != 0; abs(speed_kn) < 1; speed_kn in (0, 2);
0 < speed_kn < 1; vessel_type == "a"; vessel_type != "b"; vessel_type in ("a", "b"); ice; ice != true; ice is unknown;
speed_kn is known; status < 1; status == 1.5; status > 0.5; status >= 2
"""
simple = st.recursive(
    st.sampled_from([parse_condition(text) for text in SIMPLE.split(";")]),
    lambda inner: st.one_of(
        st.builds(Not, inner),
        st.builds(And, st.tuples(inner, inner)),
        st.builds(Or, st.tuples(inner, inner)),
    ),
    max_leaves=4,
)


@settings(max_examples=100, deadline=None)
@given(st.lists(simple, min_size=1, max_size=5))
def test_every_symbol_has_an_event(some: list[Condition]) -> None:
    assert set(alphabet(some, types=TYPES).codes.tolist()) == {code_of(some, row) for row in WITNESSES}
