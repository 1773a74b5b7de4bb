"""Numbers and times as a reader says them."""

from datetime import UTC, datetime, timedelta, timezone

import pytest

from foresail.pipeline.reports.words import count_of, counted, listed, moment, number, share, span, times, titled


@pytest.mark.parametrize(
    ("seconds", "said"),
    [
        (40, "40 s"),
        (60, "1 min"),
        (125, "2 min 05 s"),
        (840, "14 min"),
        (7500, "2 h 05 min"),
        (90_000, "1 d 01 h"),
        (531, "9 min"),
        (86_397, "24 h 00 min"),
    ],
)
def test_a_length_of_time_is_said_in_its_largest_units(seconds: float, said: str) -> None:
    assert span(seconds) == said


def test_moments_are_said_in_utc() -> None:
    east = datetime(2026, 3, 2, 1, 30, tzinfo=timezone(timedelta(hours=2)))
    assert moment(east) == "2026-03-01 23:30"
    assert moment(datetime(2026, 3, 2, 1, 30, 5, tzinfo=UTC), seconds=True) == "2026-03-02 01:30:05"


def test_counts_shares_and_lists_read_like_sentences() -> None:
    assert [count_of(1, "match", "matches"), count_of(1200, "match", "matches")] == ["1 match", "1,200 matches"]
    assert [times(1), times(2), times(3)] == ["once", "twice", "3 times"]
    assert [share(0.5), share(0.0), share(0.004), share(None)] == ["50%", "0%", "0.4%", "–"]
    assert [listed(["a"]), listed(["a", "b"]), listed(["a", "b", "c"])] == ["a", "a and b", "a, b and c"]
    assert titled("port_entry") == "Port entry"
    assert [number(12345.6), number(0.12345), number(12.0), number(float("nan"))] == [
        "12,346",
        "0.123",
        "12",
        "unknown",
    ]


def test_one_thing_is_not_counted_as_many() -> None:
    assert counted(1, "track") == ("1", "track")
    assert counted(2345, "match to foretell", "matches to foretell") == ("2,345", "matches to foretell")
