"""Times in conditions."""

import pytest

from foresail.patterns.conditions.sun import microseconds_of


@pytest.mark.parametrize(
    ("text", "microseconds"),
    [
        ("1970-01-01T00:00:01Z", 1_000_000),
        ("1970-01-01T02:00:00.000001+02:00", 1),
        ("1970-01-02", 86_400_000_000),
        ("1969-12-31 23:59:59.999999", -1),
        ("noon", None),
        ("", None),
    ],
)
def test_a_time_is_utc_unless_it_says_otherwise(text: str, microseconds: int | None) -> None:
    assert microseconds_of(text) == microseconds
