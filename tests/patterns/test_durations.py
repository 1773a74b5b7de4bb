import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from foresail.patterns.durations import UNITS_US, DurationError, Window, parse_duration, parse_window, say_duration


@pytest.mark.parametrize(
    ("text", "microseconds"),
    [
        ("2h", 7_200_000_000),
        ("30min", 1_800_000_000),
        ("45s", 45_000_000),
        ("1.5 h", 5_400_000_000),
        ("3d", 259_200_000_000),
    ],
)
def test_a_duration_is_a_number_and_a_unit(text: str, microseconds: int) -> None:
    assert parse_duration(text) == microseconds


def test_a_window_is_in_time_or_in_events() -> None:
    assert parse_window("2h") == Window("time", 7_200_000_000)
    assert parse_window("100 events") == Window("count", 100)
    assert str(parse_window("120min")) == "2h"
    assert str(parse_window("1 event")) == "1 events"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("0s", "no time at all"),
        ("-5min", "negative. Write a duration above zero, such as 5min."),
        ("2hours", "Did you mean '2h'?"),
        ("30 mn", "Did you mean '30min'?"),
        ("30m", "Did you mean '30min'?"),
        ("30", "has no unit"),
        ("soon", "not a duration"),
        ("", "not a duration"),
    ],
)
def test_a_fault_in_a_duration_says_what_to_write(text: str, said: str) -> None:
    with pytest.raises(DurationError) as fault:
        parse_duration(text)
    assert said in str(fault.value)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("0 events", "above zero"),
        ("1.5 events", "whole number"),
        ("10 evnts", "Did you mean '10 events'?"),
        ("0h", "no time"),
    ],
)
def test_a_fault_in_a_window_says_what_to_write(text: str, said: str) -> None:
    with pytest.raises(DurationError) as fault:
        parse_window(text)
    assert said in str(fault.value)


@settings(max_examples=60)
@given(st.integers(1, 10**6), st.sampled_from(sorted(UNITS_US)))
def test_a_duration_said_and_read_again_is_the_same(amount: int, unit: str) -> None:
    microseconds = amount * UNITS_US[unit]
    assert parse_duration(say_duration(microseconds)) == microseconds


@pytest.mark.parametrize("text", ["9" * 500 + "h", "99999999999999999d"])
def test_a_duration_beyond_all_tracks_is_refused_with_the_limit(text: str) -> None:
    with pytest.raises(DurationError, match="longer than 10000000d, which is the limit"):
        parse_duration(text)


def test_a_window_of_endlessly_many_events_is_refused_with_the_limit() -> None:
    with pytest.raises(DurationError, match="more than 999,999,999 events, which is the limit"):
        parse_window("9" * 5_000 + " events")
