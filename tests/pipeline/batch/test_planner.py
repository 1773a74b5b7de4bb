"""The planner chooses from facts alone, and says why."""

from hypothesis import given
from hypothesis import strategies as st

from foresail.pipeline.batch.planner import EVENTS_PER_BUCKET, Facts, Scheme, choose

LAID_OUT = Facts(cores=4, units=6, events=10_000_000, tracks=5_000, files=8, whole_tracks="laid out")


def test_files_of_whole_tracks_are_read_in_place() -> None:
    choice = choose(LAID_OUT)
    assert (choice.scheme, choice.in_place, choice.groups) == (Scheme.SOURCE, True, 1)
    assert choice.reason == "laid out: nothing is shuffled or sorted"


def test_events_in_any_order_are_shuffled_by_track() -> None:
    choice = choose(Facts(cores=4, units=6, events=10_000_000, files=8, not_whole="a heap"))
    assert (choice.scheme, choice.in_place, choice.buckets) == (Scheme.PARTITION, False, 4)
    assert choice.reason == "a heap: events are shuffled by track"


def test_one_track_spreads_patterns_instead() -> None:
    choice = choose(Facts(cores=4, units=6, events=10_000_000, tracks=1, files=1, whole_tracks="laid out"))
    assert (choice.scheme, choice.groups, choice.buckets) == (Scheme.PATTERN, 4, 1)
    assert "1 track for 4 cores" in choice.reason


def test_few_tracks_spread_both() -> None:
    choice = choose(Facts(cores=8, units=6, events=10_000_000, tracks=3, files=3, whole_tracks="laid out"))
    assert (choice.scheme, choice.groups) == (Scheme.COMBINED, 3)


def test_too_few_files_for_the_cores_are_shuffled_unless_they_are_small() -> None:
    few = Facts(cores=8, units=6, events=10_000_000, tracks=5_000, files=2, whole_tracks="laid out")
    assert choose(few).scheme is Scheme.PARTITION
    small = Facts(cores=8, units=6, events=10_000, tracks=500, files=1, whole_tracks="laid out")
    assert choose(small).scheme is Scheme.SOURCE


@given(st.integers(1, 64), st.integers(1, 100), st.integers(0, 10**10), st.integers(1, 10**6), st.sampled_from(Scheme))
def test_every_choice_can_be_carried_out(cores: int, units: int, events: int, tracks: int, wanted: Scheme) -> None:
    choice = choose(Facts(cores, units, events, tracks, files=3, whole_tracks="laid out"), wanted)
    assert choice.scheme is not Scheme.AUTO
    assert wanted in (Scheme.AUTO, choice.scheme)
    assert 1 <= choice.groups <= units
    assert choice.reason
    if choice.scheme is not Scheme.PATTERN:
        assert choice.buckets % cores == 0
        assert events <= choice.buckets * EVENTS_PER_BUCKET
