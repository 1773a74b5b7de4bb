"""The timeline counts every match once and names round moments."""

from datetime import UTC, datetime

from hypothesis import example, given
from hypothesis import strategies as st

from pipeline.reports.palette import sign_of
from pipeline.reports.timeline import TICKS, TimeRow, TimeSpan, ticks, timeline

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
