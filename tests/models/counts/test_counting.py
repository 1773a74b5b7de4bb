"""Counts of symbols equal those of a plain dictionary, however tracks are cut into partitions and batches."""

from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from foresail.models.counts import Counts, count, merge
from foresail.models.counts.counting import stretches_of
from foresail.models.errors import ModelSettingError
from foresail.models.identity import Identity
from tests.models.letters import MINUTE, counted_alone, counts_of_text, joined, lettered, plain_counts, symbols_of

PATTERN = lettered("a ; b", features="c")
GAPPED = lettered("a ; b", features="c", max_gap_us=30 * MINUTE)


def minutes(track: NDArray[np.int32]) -> NDArray[np.int64]:
    return np.arange(len(track), dtype=np.int64) * MINUTE


def tracks_of(random: Random, most: int = 6) -> list[NDArray[np.int32]]:
    return [
        np.array([random.randrange(4) for _ in range(random.randrange(12))], dtype=np.int32)
        for _ in range(random.randrange(1, most))
    ]


def counts_of(tracks: list[NDArray[np.int32]], max_order: int) -> Counts:
    symbols, first_of = joined(tracks)
    times = np.concatenate([np.empty(0, dtype=np.int64), *(minutes(track) for track in tracks)])
    return count(symbols, times, first_of, PATTERN, max_order)


def test_the_example_of_the_counter_suffix_tree() -> None:
    held = counts_of_text("aaabaabaaa", "ab", max_order=1).as_dictionary()
    assert held == {(0,): 8, (1,): 2, (0, 0): 5, (0, 1): 2, (1, 0): 2}


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**6), st.integers(0, 5))
def test_counts_of_any_partitioning_equal_a_plain_dictionary(seed: int, max_order: int) -> None:
    random = Random(seed)
    tracks = tracks_of(random)
    parts = [[t for n, t in enumerate(tracks) if n % 3 == part] for part in range(3)]
    random.shuffle(parts)
    merged = merge([counts_of(part, max_order) for part in parts])
    assert merged.as_dictionary() == plain_counts(tracks, max_order + 1)
    assert merged.events == sum(len(t) for t in tracks)
    assert merged.tracks == sum(len(t) > 0 for t in tracks)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**6), st.integers(0, 5))
def test_a_track_that_goes_on_later_counts_as_if_it_were_whole(seed: int, max_order: int) -> None:
    random = Random(seed)
    track = np.array([random.randrange(4) for _ in range(random.randrange(1, 30))], dtype=np.int32)
    times = np.cumsum([random.choice([1, 2, 40]) * MINUTE for _ in track]).astype(np.int64)
    cut = random.randrange(len(track) + 1)
    behind = max(0, cut - max(max_order, 1))
    first = count(track[:cut], times[:cut], np.array([0, cut]), GAPPED, max_order)
    rest = np.array([0, len(track) - behind])
    second = count(track[behind:], times[behind:], rest, GAPPED, max_order, known=np.array([cut - behind]))
    whole, found = count(track, times, np.array([0, len(track)]), GAPPED, max_order), merge([first, second])
    assert _without_zeros(found) == whole.as_dictionary()
    assert (found.tracks, found.events) == (whole.tracks, whole.events)
    assert found.intervals.seconds.tolist() == pytest.approx(whole.intervals.seconds.tolist())
    assert (found.first_us, found.last_us) == (whole.first_us, whole.last_us)


def _without_zeros(counts: Counts) -> dict[tuple[int, ...], float]:
    """History that was counted before is known with a count of none."""
    return {stretch: times for stretch, times in counts.as_dictionary().items() if times}


def test_history_restarts_after_a_gap() -> None:
    symbols = symbols_of(GAPPED, "abab")
    times = np.array([0, 1, 100, 101], dtype=np.int64) * MINUTE
    held = count(symbols, times, np.array([0, 4]), GAPPED, 2)
    apart = plain_counts([symbols[:2], symbols[2:]], 3)
    assert held.as_dictionary() == apart
    assert held.intervals.number.sum() == 2


def test_matches_are_counted_and_end_at_a_gap() -> None:
    symbols = symbols_of(GAPPED, "abxab")
    near = np.arange(5, dtype=np.int64) * MINUTE
    far = np.array([0, 1, 2, 3, 100], dtype=np.int64) * MINUTE
    assert count(symbols, near, np.array([0, 5]), GAPPED).matches == 2
    assert count(symbols, far, np.array([0, 5]), GAPPED).matches == 1


@pytest.mark.parametrize("symbols", [3, 1000, 60_000])
def test_an_alphabet_of_any_size_fits_one_integer_per_stretch(symbols: int) -> None:
    random = np.random.default_rng(symbols)
    track = random.integers(symbols - 3, symbols, 200).astype(np.int32)
    stretches = stretches_of(track, np.arange(200), np.array([0, 200]), None)
    held = counted_alone(Identity("wide", 1, (), symbols, ""), stretches, 8)
    assert held.as_dictionary() == plain_counts([track], 9)
    assert all((np.diff(level.codes) > 0).all() for level in held.levels)


def test_the_time_before_each_symbol_is_kept() -> None:
    symbols = symbols_of(PATTERN, "abab")
    held = count(symbols, np.array([0, 10, 40, 50]) * 1_000_000, np.array([0, 4]), PATTERN, 1)
    a, b = symbols[0], symbols[1]
    means = held.mean_seconds()
    assert (means[a], means[b]) == (30.0, 10.0)
    assert means[symbols_of(PATTERN, "c")[0]] == pytest.approx(50 / 3)
    assert held.constant_step_s() is None
    assert held.sampling_step_s() == pytest.approx(10, rel=0.2)


def test_a_constant_step_is_known_as_one() -> None:
    held = counts_of([symbols_of(PATTERN, "abcab")], 2)
    assert held.constant_step_s() == held.sampling_step_s() == 60.0


def test_no_events_are_counted_as_none() -> None:
    held = counts_of([], 3)
    assert (held.events, held.tracks, held.first_us, held.sampling_step_s()) == (0, 0, None, None)


def test_an_impossible_order_is_refused() -> None:
    with pytest.raises(ModelSettingError, match="max_order is -1"):
        counts_of([], -1)
