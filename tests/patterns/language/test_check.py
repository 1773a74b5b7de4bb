"""What is refused before a pattern runs, at the border of what is not."""

from dataclasses import replace

import pytest

from foresail.patterns.compiler import compile_pattern
from foresail.patterns.conditions.typing import AttributeType
from foresail.patterns.errors import CannotMatchError, RegistersError, UnknownConditionError
from foresail.patterns.spec import PatternSpec, spec_of

WHERE = {"a": "x < 1", "b": "x > 2"}
SPANS = {
    "a": 1,
    "a ; b": 2,
    "any(a, b)": 2,
    "a ; hidden b ; a": 3,
    "hidden a ; hidden a ; b": 1,
    "hidden a+ ; b ; a{2,4}": 3,
    "a ; b | b ; a ; a": 2,
    "a{5,}": 5,
    "next(a, b) ; a": 3,
    "a ; _ ; _ ; b": 4,
    "a | b ; b": 1,
}
"""The fewest events from the first marked to the last marked one."""


def windowed(pattern: str, events: int) -> PatternSpec:
    return spec_of("spanning", pattern, WHERE, window_events=events)


@pytest.mark.parametrize("pattern", SPANS)
def test_a_window_holds_the_shortest_match_and_one_event_less_does_not(pattern: str) -> None:
    compile_pattern(windowed(pattern, SPANS[pattern]))
    if SPANS[pattern] > 1:
        with pytest.raises(CannotMatchError, match=f"spans at least {SPANS[pattern]} events, its window only"):
            compile_pattern(windowed(pattern, SPANS[pattern] - 1))


@pytest.mark.parametrize("pattern", ["hidden a", "a ; hidden b", "a & b", "absent(a)", "a ; not(_*)"])
def test_a_pattern_whose_last_event_is_never_marked_is_refused(pattern: str) -> None:
    with pytest.raises(CannotMatchError, match=r"can never match. A match must mark its last event"):
        compile_pattern(spec_of("never", pattern, WHERE))


def test_a_condition_that_cannot_hold_is_refused_where_the_pattern_reads_it() -> None:
    where = {**WHERE, "never": "x > 2 and x < 1"}
    with pytest.raises(CannotMatchError, match=r"condition 'never' can never hold. Mend its thresholds"):
        compile_pattern(spec_of("dead", "a ; never", where))
    compile_pattern(spec_of("fine", "a ; b", where))


def test_a_register_needs_a_window_and_a_family_s_feature_is_none() -> None:
    near = spec_of("near", "close", {"close": "port.distance_m < 5"})
    with pytest.raises(RegistersError, match=r"'port' keeps an event, and without a window it would be kept for ever"):
        compile_pattern(near)
    compile_pattern(replace(near, family="port"), {"x": AttributeType.NUMBER})


def test_names_of_exclusive_conditions_must_be_known() -> None:
    with pytest.raises(UnknownConditionError, match=r"odd.exclusive.*bb"):
        compile_pattern(spec_of("odd", "a ; b", WHERE, exclusive=(("a", "bb"),)))
