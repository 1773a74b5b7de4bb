"""The paired bootstrap: what it says of models that are equal, better, and of a few days only."""

import numpy as np
from sklearn.metrics import f1_score

from foresail.models.scoring.differences import days_of_tracks, f1_difference, pairs_compared

RANDOM = np.random.default_rng(3)
TRUTH = RANDOM.random(4000) < 0.2
DAYS = np.repeat(np.arange(80), 50)
NAMES = ("one", "other")


def wrong(share: float) -> np.ndarray:
    return np.asarray(TRUTH ^ (RANDOM.random(len(TRUTH)) < share))


def test_the_difference_is_that_of_the_scores_and_its_interval_holds_it() -> None:
    one, other = wrong(0.05), wrong(0.15)
    found = f1_difference(NAMES, 5, (one, other), TRUTH, DAYS)
    assert np.isclose(found.f1, f1_score(TRUTH, one) - f1_score(TRUTH, other))
    assert 0 < found.low < found.f1 < found.high
    back = f1_difference(NAMES, 5, (other, one), TRUTH, DAYS)
    assert np.isclose(back.low, -found.high)
    assert f1_difference(NAMES, 5, (one, other), TRUTH, DAYS) == found


def test_equal_models_differ_by_nothing_and_like_ones_by_no_more_than_chance() -> None:
    one = wrong(0.1)
    same = f1_difference(NAMES, 5, (one, one), TRUTH, DAYS)
    assert (same.f1, same.low, same.high) == (0, 0, 0)
    alike = f1_difference(NAMES, 5, (one, wrong(0.1)), TRUTH, DAYS)
    assert alike.low < 0 < alike.high


def test_one_day_tells_nothing_of_other_days() -> None:
    found = f1_difference(NAMES, 5, (wrong(0.1), wrong(0.3)), TRUTH, np.zeros(len(TRUTH), dtype=np.int64))
    assert found.low == found.high
    assert np.isclose(found.low, found.f1)


def test_clusters_are_days_of_tracks() -> None:
    day = 86_400_000_000
    found = days_of_tracks(np.array([0, 0, 0, 1, 1]), np.array([0, day - 1, day, 0, day]))
    assert found.tolist() == [0, 0, 1, 2, 3]
    assert pairs_compared(["order 0", "hazard", "gradient boosting"]) == [("hazard", "gradient boosting")]
