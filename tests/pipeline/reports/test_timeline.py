"""The timeline counts every match once and names round moments."""

from datetime import UTC, datetime

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from foresail.pipeline.reports.plots import sign_of
from foresail.pipeline.reports.timeline import MOST_BINS, TICKS, TimeRow, TimeSpan, label, ticks, timeline

START = datetime(2026, 3, 2, tzinfo=UTC).timestamp()


def test_a_day_has_ticks_every_three_hours() -> None:
    assert ticks(TimeSpan(START, START + 86_399)) == [START + 3 * 3600 * n for n in range(8)]


@given(st.floats(0, 2e9), st.floats(0, 3e9))
@example(0.0, 283824000.0)
def test_ticks_lie_within_the_span_and_are_few(start: float, length: float) -> None:
    span = TimeSpan(start, start + length)
    assert all(span.start <= tick <= span.end for tick in ticks(span))
    assert len(ticks(span)) <= TICKS + 1


def test_each_row_has_a_bar_for_each_bin_and_its_total() -> None:
    made = timeline([TimeRow("Port <entry>", sign_of(0), {0: 1, 5: 4})], TimeSpan(START, START + 86_400))
    assert made.count("<rect") == 2
    assert "Port &lt;entry&gt;" in made
    assert '<div class="n">5</div>' in made
    assert "4 matches from 2026-03-02 00:50" in made


def test_a_bar_has_a_round_length_and_says_it() -> None:
    row = TimeRow("Entry", sign_of(0), {0: 1})
    for hours, said in (
        (5.544, "5 minutes"),
        (24, "10 minutes"),
        (48, "20 minutes"),
        (24 * 365, "5 days"),
        (0, "1 second"),
    ):
        assert f"Each bar is {said}." in timeline([row], TimeSpan(START, START + hours * 3600))


@given(st.floats(0, 2e9), st.floats(0, 3e9))
def test_bars_cover_the_span(start: float, length: float) -> None:
    span = TimeSpan(start, start + length)
    assert span.whole.start <= span.start <= span.end < span.whole.end
    assert 1 <= span.bins <= MOST_BINS + 1


@pytest.mark.parametrize(
    ("days", "expected"),
    [
        (2, ["2 Mar", "06:00", "12:00", "18:00", "3 Mar", "06:00", "12:00", "18:00", "4 Mar"]),
        (40, ["5 Mar 2026", "12 Mar", "19 Mar", "26 Mar", "2 Apr", "9 Apr"]),
        (500, ["May 2026", "Jul", "Sep", "Nov", "2027", "Mar", "May", "Jul"]),
        (3650, ["2028", "2030", "2032", "2034", "2036"]),
    ],
)
def test_long_spans_have_years_on_their_axis(days: int, expected: list[str]) -> None:
    span = TimeSpan(START, START + days * 86_400)
    found = ticks(span)
    assert [label(tick, before, span) for before, tick in zip([None, *found], found, strict=False)] == expected
