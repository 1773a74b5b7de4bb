"""Counts by interval: days add up, a day that is counted again replaces itself, overlapping times are refused."""

from pathlib import Path

import pytest

from foresail.models.errors import IntervalError
from foresail.models.store import Interval, ModelStore
from tests.models.letters import counts_of_text

DAY_US = 86_400_000_000
LETTERS = "ab"


def day(number: int) -> Interval:
    return Interval(number * DAY_US, (number + 1) * DAY_US)


@pytest.fixture
def store(tmp_path: Path) -> ModelStore:
    return ModelStore(tmp_path)


def test_days_add_up_and_a_day_counted_again_counts_once(store: ModelStore) -> None:
    identity = counts_of_text("a", LETTERS, 2).identity
    for _ in range(2):
        store.keep_interval(counts_of_text("abab", LETTERS, 2), day(0))
        store.keep_interval(counts_of_text("aab", LETTERS, 2), day(1))
        merged = store.merge_intervals(identity)
        assert merged is not None
        assert merged.counts.events == 7
        assert merged.counts.as_dictionary()[0, 1] == 3  # "ab"
    assert store.counted("text") == (day(0), day(1))
    kept = store.counts("text")
    assert kept is not None
    assert kept.fingerprint() == merged.counts.fingerprint()


def test_a_day_learns_from_what_was_counted_up_to_its_end(store: ModelStore) -> None:
    identity = counts_of_text("a", LETTERS, 2).identity
    for number in range(3):
        store.keep_interval(counts_of_text("abab", LETTERS, 2), day(number))
    merged = store.merge_intervals(identity, until_us=2 * DAY_US)
    assert merged is not None
    assert merged.intervals == (day(0), day(1))


def test_older_days_weigh_less_with_a_half_life(store: ModelStore) -> None:
    identity = counts_of_text("a", LETTERS, 2).identity
    for number in range(3):
        store.keep_interval(counts_of_text("abab", LETTERS, 2), day(number))
    merged = store.merge_intervals(identity, half_life_days=1.0)
    assert merged is not None
    assert merged.counts.events == pytest.approx(4 + 2 + 1)


def test_times_that_overlap_are_refused(store: ModelStore) -> None:
    store.keep_interval(counts_of_text("abab", LETTERS, 2), day(1))
    with pytest.raises(IntervalError, match=r"overlap those for 19700102T000000Z-19700103T000000Z.*count twice"):
        store.keep_interval(counts_of_text("abab", LETTERS, 2), Interval(0, 2 * DAY_US))
    with pytest.raises(IntervalError, match="it is empty"):
        Interval(5, 5)


def test_counts_of_another_alphabet_are_left_out_and_named(store: ModelStore) -> None:
    store.keep_interval(counts_of_text("abab", "abc", 2), day(0))
    identity = counts_of_text("a", LETTERS, 2).identity
    assert store.merge_intervals(identity) is None
    store.keep_interval(counts_of_text("abab", LETTERS, 2), day(1))
    merged = store.merge_intervals(identity)
    assert merged is not None
    assert (merged.intervals, merged.left_out) == ((day(1),), (day(0),))
