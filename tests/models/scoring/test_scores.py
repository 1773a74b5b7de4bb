"""Scores of forecasts: confusion, calibration, thresholds, distance, intervals, earliness."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from foresail.models.scoring.measures import (
    UNREACHABLE,
    calibration_error,
    crps_of,
    distances_to_acceptance,
    log_loss_of,
    reliability,
    score_by_distance,
    score_earliness,
    score_within,
)
from foresail.models.scoring.report import score_intervals
from foresail.models.scoring.thresholds import Costs, Criterion, choose_threshold, sweep

TRUTH = np.array([True, True, False, False, False])
GIVEN = np.array([0.9, 0.2, 0.4, 0.1, 0.0])


def test_each_event_is_one_of_four() -> None:
    scores = score_within(GIVEN, TRUTH, 0.4)
    assert (scores.tp, scores.fp, scores.tn, scores.fn) == (1, 1, 2, 1)
    assert scores.events == 5
    assert (scores.precision, scores.recall, scores.specificity) == (0.5, 0.5, pytest.approx(2 / 3))
    assert scores.roc_auc == pytest.approx(5 / 6)
    assert scores.brier == pytest.approx((0.01 + 0.64 + 0.16 + 0.01) / 5)


def test_scores_without_a_match_are_absent_not_wrong() -> None:
    scores = score_within(GIVEN, np.zeros(5, dtype=bool), 0.5)
    assert scores.roc_auc is None
    assert scores.pr_auc is None
    assert (scores.f1, scores.mcc) == (0.0, 0.0)


def test_a_calibrated_forecast_has_no_calibration_error_and_an_overconfident_one_has() -> None:
    truth = np.arange(1000) % 10 < 3
    assert calibration_error(reliability(np.full(1000, 0.3), truth)) == pytest.approx(0, abs=1e-12)
    assert calibration_error(reliability(np.full(1000, 0.8), truth)) == pytest.approx(0.5)
    assert calibration_error(()) is None


def test_certainty_falls_into_the_last_bin() -> None:
    (only,) = reliability(np.ones(3), np.array([True, True, False]))
    assert (only.low, only.events) == (pytest.approx(0.9), 3)


@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(st.sampled_from([0.0, 0.1, 0.25, 0.5, 1.0]), st.booleans()), min_size=1, max_size=40))
def test_a_sweep_tells_the_same_as_scoring_at_each_threshold(events: list[tuple[float, bool]]) -> None:
    given_, truth = np.array([p for p, _ in events]), np.array([t for _, t in events])
    swept = sweep(given_, truth)
    for n, threshold in enumerate(swept.threshold):
        scores = score_within(given_, truth, threshold)
        assert (scores.tp, scores.fp, scores.tn, scores.fn) == (swept.tp[n], swept.fp[n], swept.tn[n], swept.fn[n])
        assert swept.f1[n] == pytest.approx(scores.f1)
        assert swept.mcc[n] == pytest.approx(scores.mcc)


def test_the_criterion_decides_the_threshold() -> None:
    truth = np.array([True] * 2 + [False] * 8 + [True])
    given_ = np.array([0.9, 0.9, 0.2, 0.2, 0.2, 0.2, 0.1, 0.1, 0.1, 0.1, 0.2])
    assert choose_threshold(given_, truth, Criterion.F1) == pytest.approx(0.9)
    assert choose_threshold(given_, truth, Criterion.COST, Costs(false_alarm=1, missed=100)) == pytest.approx(0.2)


def test_without_a_match_to_learn_from_the_threshold_is_the_neutral_one() -> None:
    assert choose_threshold(GIVEN, np.zeros(5, dtype=bool)) == 0.5


def test_distance_is_the_shortest_way_to_acceptance() -> None:
    delta = np.array([[0, 1], [0, 2], [3, 3], [3, 3]], dtype=np.int32)
    accepting = np.array([False, False, True, False])
    assert distances_to_acceptance(delta, accepting).tolist() == [2, 1, UNREACHABLE, UNREACHABLE]


def test_scores_by_distance_hold_every_reachable_event_once() -> None:
    parts = score_by_distance(np.array([1, 1, 2, 2, UNREACHABLE]), GIVEN, TRUTH, 0.4)
    assert [(part.distance, part.relative, part.scores.events) for part in parts] == [(1, 0.5, 2), (2, 1.0, 2)]


def test_an_interval_that_misses_pays_for_the_miss() -> None:
    earliest, latest = np.array([2, 2, 0, 3]), np.array([4, 4, 0, 5])
    scores = score_intervals(earliest, latest, np.array([3, 6, 2, 0]), nominal=0.5)
    assert (scores.forecasts, scores.none, scores.unresolved) == (3, 1, 1)
    assert scores.coverage == pytest.approx(1 / 3)
    assert scores.mean_spread == 2
    assert scores.mae == pytest.approx(1.5)
    assert scores.interval_score == pytest.approx((2 + 2 + 4 * 2) / 2)


def test_earliness_is_that_of_the_first_correct_forecast_of_each_match() -> None:
    until = np.array([3, 2, 1, 0, 2, 1, 0])
    ahead = np.array([3, 3, 3, -1, 6, 6, -1])
    positive = np.array([False, True, True, True, False, False, True])
    found = score_earliness(positive, until, ahead, within=3)
    assert (found.matches, found.missed, found.mean) == (2, 1, 2.0)
    assert found.histogram == (0, 1, 0)
    assert found.missed_share == 0.5


def test_a_symbol_held_impossible_costs_much_but_not_everything() -> None:
    assert log_loss_of(np.array([1.0, 1.0])) == 0
    assert 10 < (log_loss_of(np.array([0.0])) or 0) < 30
    assert log_loss_of(np.empty(0)) is None


def test_the_crps_is_the_squared_distance_to_what_came_summed_over_the_horizon() -> None:
    until, horizon = np.array([0, 1, 3, 5]), 5
    chances = np.linspace(0.1, 0.9, horizon)
    found = crps_of(lambda k: np.full(len(until), chances[k - 1]), until, horizon)
    for row, came in enumerate(until):
        steps = [float(0 < came <= k) for k in range(1, horizon + 1)]
        assert found[row] == pytest.approx(sum((c - s) ** 2 for c, s in zip(chances, steps, strict=True)))
    sure = crps_of(lambda k: ((until > 0) & (until <= k)).astype(np.float64), until, 200)
    assert (sure == 0).all()
    assert crps_of(lambda _: np.zeros(len(until)), until, 200)[1] == pytest.approx(200)
