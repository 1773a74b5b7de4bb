"""Trees: what the kernel answers is what the library that grew them says, and what a file holds is what was fitted."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from foresail.models.inputs.columns import InputColumn
from foresail.models.inputs.plan import InputPlan
from foresail.models.trees.boosting import BoostSettings, boosted
from foresail.models.trees.calibration import recalibration
from foresail.models.trees.fitting import Examples, TreeSettings, chosen_on_newest, fitted_on_all
from foresail.models.trees.forest import ForestSettings, grown_forest
from foresail.models.trees.part import TreePart, part_from
from foresail.models.trees.spans import HIT, PASSED, UNKNOWN, Spans, hazards, spans_of
from foresail.models.trees.trees import Trees

SMALL = TreeSettings(BoostSettings(rounds=12, least_events=5), ForestSettings(trees=8, least_events=5))


def drawn(seed: int, events: int = 600) -> Examples:
    """Waiting times whose pace follows the first input, some of them censored, some inputs unknown."""
    rng = np.random.default_rng(seed)
    inputs = rng.normal(0, 1, (events, 14)).astype(np.float32)
    until = rng.geometric(1 / (1 + np.exp(2 - inputs[:, 0].astype(np.float64))))
    left = rng.integers(1, 40, events)
    inputs[rng.random(inputs.shape) < 0.1] = np.nan
    spans = spans_of(20, 5)
    seen = np.where(until <= left, until, 0)
    return Examples(inputs, spans.outcomes(seen, left), left >= 20, spans)


@pytest.fixture(scope="module")
def examples() -> Examples:
    return drawn(1)


EVERY = np.ones(600, dtype=np.bool_)


def test_the_kernel_says_what_lightgbm_says(examples: Examples, monkeypatch: pytest.MonkeyPatch) -> None:
    import lightgbm

    grown = []
    train = lightgbm.train
    monkeypatch.setattr(lightgbm, "train", lambda *args, **given: grown.append(train(*args, **given)) or grown[-1])
    trees = boosted(examples.inputs, examples.outcomes, examples.spans, EVERY, None, SMALL.boost, 12)
    found = trees.hazards(examples.inputs)
    for span in range(len(examples.spans)):
        table = np.column_stack([examples.inputs, np.full(len(examples.inputs), span)]).astype(np.float64)
        odds = grown[0].predict(table, raw_score=True) + trees.forest.base[span]
        np.testing.assert_allclose(found[:, span], 1 / (1 + np.exp(-odds)), rtol=1e-4, atol=1e-6)


def test_the_kernel_says_what_scikit_learn_says(examples: Examples, monkeypatch: pytest.MonkeyPatch) -> None:
    import sklearn.ensemble

    grown = []
    fit = sklearn.ensemble.ExtraTreesRegressor.fit
    monkeypatch.setattr(
        sklearn.ensemble.ExtraTreesRegressor, "fit", lambda self, *given: grown.append(self) or fit(self, *given)
    )
    trees = grown_forest(examples.inputs, examples.outcomes, examples.spans, examples.whole, SMALL.forest)
    filled = np.nan_to_num(examples.inputs, nan=-np.finfo(np.float32).max)
    by_end = grown[0].predict(filled)
    hazard = trees.hazards(examples.inputs)
    np.testing.assert_allclose(1 - np.cumprod(1 - hazard, axis=1), by_end, atol=1e-4)


@settings(max_examples=30, deadline=None)
@given(st.integers(1, 60), st.lists(st.integers(1, 60), max_size=3), st.integers(0, 10**6))
def test_what_is_known_of_a_span_is_what_a_reader_of_the_track_would_say(
    horizon: int, also: list[int], seed: int
) -> None:
    spans = spans_of(horizon, *also)
    assert list(spans.ends) == sorted(set(spans.ends))
    assert spans.horizon == horizon
    assert {w for w in also if w <= horizon} <= set(spans.ends)
    rng = np.random.default_rng(seed)
    left = rng.integers(0, 80, 50)
    until = np.array([rng.integers(1, end + 1) if end and rng.random() < 0.6 else 0 for end in left])
    found = spans.outcomes(until, left)
    for row in range(50):
        begin = 0
        for s, end in enumerate(spans.ends):
            match = until[row] if until[row] else None
            if match is not None and match <= begin:
                expected = UNKNOWN
            elif match is not None and match <= end:
                expected = HIT
            else:
                expected = PASSED if left[row] >= end or (match is not None and match > end) else UNKNOWN
            assert found[row, s] == expected
            begin = end


def within_by_hand(waiting: NDArray[np.float64], events: int) -> NDArray[np.float64]:
    return np.asarray(waiting[:, :events].sum(axis=1))


@pytest.mark.parametrize("kind", ["hazard", "forest"])
def test_the_chance_of_a_match_never_falls_with_more_events(kind: str, examples: Examples) -> None:
    older = np.arange(600) < 400
    trained = chosen_on_newest(kind, examples, older, ~older, SMALL)  # type: ignore[arg-type]
    trees = fitted_on_all(trained, examples, EVERY, SMALL).trees
    hazard = trees.hazards(examples.inputs)
    waiting = trees.waiting(hazard, 30)
    assert (waiting >= 0).all()
    assert (waiting.sum(axis=1) <= 1 + 1e-9).all()
    for events in (1, 3, 5, 12, 20, 30):
        np.testing.assert_allclose(trees.within(hazard, events), within_by_hand(waiting, events), atol=1e-9)
    near, far = examples.inputs[:, 0] > 1, examples.inputs[:, 0] < -1
    assert trees.within(hazard, 5)[near].mean() > trees.within(hazard, 5)[far].mean() + 0.05
    again = fitted_on_all(trained, examples, EVERY, SMALL).trees
    np.testing.assert_array_equal(again.forest.value, trees.forest.value)


def test_a_file_holds_all_and_broken_trees_are_refused(examples: Examples) -> None:
    trees = boosted(examples.inputs, examples.outcomes, examples.spans, EVERY, None, SMALL.boost, 5)
    plan = InputPlan((InputColumn("speed_kn", "number"), InputColumn("kind", "step", ("a", "b"))))
    assert len(plan.inputs) >= 14
    part = TreePart(plan, trees, 600)
    again = part_from(part.as_json(), part.arrays())
    np.testing.assert_array_equal(again.trees.hazards(examples.inputs), trees.hazards(examples.inputs))
    assert again.plan == plan
    assert again.fingerprint() == part.fingerprint()
    for name, fault in (("left", 10**6), ("feature", 99), ("roots", -1)):
        arrays = {key: value.copy() for key, value in part.arrays().items()}
        arrays[f"trees_{name}"][0] = fault
        with pytest.raises(ValueError, match="do not fit together"):
            part_from(part.as_json(), arrays)
    with pytest.raises(ValueError, match="do not ascend"):
        part_from(part.as_json() | {"ends": [3, 2]}, part.arrays())


def test_recalibration_mends_what_is_off_and_leaves_what_is_right() -> None:
    rng = np.random.default_rng(5)
    odds = rng.normal(-1, 1.5, 4000)
    chance = 1 / (1 + np.exp(-odds))
    outcomes = (rng.random(4000) < chance).astype(np.float32)[:, None]
    bend, shift = recalibration(chance[:, None], outcomes)
    assert (bend[0], shift[0]) == (1.0, 0.0)
    bent = 1 / (1 + np.exp(-(2 * odds + 1)))
    bend, shift = recalibration(bent[:, None], outcomes)
    assert abs(bend[0] - 0.5) < 0.05
    assert abs(shift[0] + 0.5) < 0.1


@pytest.mark.parametrize("outcome", [HIT, PASSED])
def test_one_kind_of_outcome_and_constant_inputs_are_no_fault(outcome: float) -> None:
    inputs = np.zeros((50, 3), dtype=np.float32)
    outcomes = np.full((50, 2), outcome, dtype=np.float32)
    spans = Spans((1, 4))
    trees = boosted(inputs, outcomes, spans, np.ones(50, dtype=np.bool_), None, SMALL.boost, 3)
    assert np.isfinite(trees.hazards(inputs)).all()
    assert (trees.hazards(inputs) > 0.5).all() == (outcome == HIT)
    assert isinstance(trees, Trees)
    assert hazards(outcomes).shape == (2,)
