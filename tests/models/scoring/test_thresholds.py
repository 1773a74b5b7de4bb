"""Folds: train and test share no event, nor look at one of the other side; what each threshold would have cost."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from foresail.models.scoring.thresholds import Costs, folds_by_time, folds_by_track, segments, sweep, validation_split


def events_of(lengths: list[int]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    track = np.repeat(np.arange(len(lengths)), lengths)
    index = np.concatenate([np.arange(n) for n in lengths])
    return track, index, np.repeat(np.array(lengths), lengths)


@settings(deadline=None)
@given(st.lists(st.integers(1, 60), min_size=1, max_size=5), st.integers(1, 5), st.integers(0, 7))
def test_by_time_training_ends_a_gap_before_the_test_begins(lengths: list[int], folds: int, gap: int) -> None:
    track, index, length = events_of(lengths)
    tested = np.zeros(len(track), dtype=int)
    for fold in folds_by_time(index, length, folds, gap):
        tested += fold.test
        for name in range(len(lengths)):
            train, test = index[fold.train & (track == name)], index[fold.test & (track == name)]
            if len(train) and len(test):
                assert train.max() + gap < test.min()
    assert tested.max(initial=0) <= 1


def test_by_time_every_event_after_the_first_stretch_is_tested_once() -> None:
    _, index, length = events_of([10, 20])
    tested = sum(fold.test.astype(int) for fold in folds_by_time(index, length, 4, 0))
    assert tested.tolist() == [0] * 2 + [1] * 8 + [0] * 4 + [1] * 16


@settings(deadline=None)
@given(st.lists(st.integers(1, 9), min_size=2, max_size=8), st.integers(2, 4))
def test_by_track_no_track_is_on_both_sides(lengths: list[int], folds: int) -> None:
    track, _, _ = events_of(lengths)
    tested = np.zeros(len(track), dtype=int)
    for fold in folds_by_track(track, folds):
        assert not set(track[fold.train]) & set(track[fold.test])
        tested += fold.test
    assert (tested == 1).all()


def test_validation_is_the_end_of_each_track_and_training_stops_a_gap_before_it() -> None:
    track, index, _ = events_of([8, 12])
    fit, chosen_on = validation_split(track, index, index < 8, gap=1, share=0.25)
    assert index[fit].tolist() == [0, 1, 2, 3, 4] * 2
    assert index[chosen_on].tolist() == [6, 7] * 2


def test_kept_events_come_in_stretches_that_never_join_two_tracks() -> None:
    kept = np.array([1, 1, 0, 1, 1, 1, 0], dtype=bool)
    rows, first_of = segments(kept, np.array([0, 5, 7]))
    assert rows.tolist() == [0, 1, 3, 4, 5]
    assert first_of.tolist() == [0, 2, 4, 5]


def test_wrong_forecasts_cost_what_their_kind_costs() -> None:
    probability = np.array([0.1, 0.4, 0.6, 0.9])
    swept = sweep(probability, np.array([False, True, False, True]))
    cost = dict(zip(swept.threshold.tolist(), swept.cost(Costs(false_alarm=3.0, missed=10.0)).tolist(), strict=True))
    assert cost[0.4] == pytest.approx(3.0)
    assert cost[0.9] == pytest.approx(10.0)
    assert cost[0.6] == pytest.approx(13.0)


def test_the_correlation_is_that_of_the_four_counts() -> None:
    truth = np.array([True] * 6 + [False] * 7)
    probability = np.array([0.9] * 4 + [0.2] * 2 + [0.9] * 3 + [0.2] * 4)
    swept = sweep(probability, truth)
    mcc = dict(zip(swept.threshold.tolist(), swept.mcc.tolist(), strict=True))
    assert mcc[0.9] == pytest.approx((4 * 4 - 3 * 2) / np.sqrt(7 * 6 * 7 * 6))
