"""Which matches are shown one by one."""

from datetime import UTC, datetime, timedelta

from foresail.pipeline.reports.found import Match, listed

START = datetime(2026, 3, 2, tzinfo=UTC)


def match(n: int, track: str, pattern: str = "entry") -> Match:
    time = START + timedelta(minutes=n)
    return Match(f"m{n}", pattern, None, track, time, time, time)


def test_every_track_has_its_turn_before_one_has_a_second() -> None:
    marks = [match(n, "busy") for n in range(10)] + [match(20, "calm"), match(21, "quiet")]
    assert [chosen.track for chosen in listed(marks, each=4)] == ["busy", "busy", "calm", "quiet"]


def test_the_chosen_ones_stand_in_the_order_of_time_pattern_by_pattern() -> None:
    marks = [match(5, "a"), match(2, "b"), match(9, "a", "gap"), match(1, "c", "gap")]
    chosen = listed(marks, each=5)
    assert [(m.pattern, m.match_id) for m in chosen] == [("entry", "m2"), ("entry", "m5"), ("gap", "m1"), ("gap", "m9")]
