"""The search tries what the space says, remembers all of it, is the same every time, and finds what helps."""

from random import Random

import numpy as np
import pytest
from numpy.typing import NDArray

from foresail.models.counts import Counts, count
from foresail.models.model import ModelSettings
from foresail.models.scoring.problem import Problem, problem_of
from foresail.models.scoring.sequences import plain_sequences
from foresail.models.search import Space, halves, score_model, search
from foresail.models.suffix_tree import LearnSettings
from foresail.patterns.conditions.evaluate import ArrayColumn
from foresail.patterns.conditions.typing import AttributeType
from tests.models.letters import MINUTE, joined, lettered, symbols_of

PATTERN = lettered("a ; b", features="cd")
BASE = ModelSettings(learn=LearnSettings(order=1, min_context_probability=0.001), horizon=3)


def text_with_a_tell(random: Random, length: int) -> str:
    """After `cd` comes `ab`, after `dd` comes `xx`: two symbols of history tell, one does not."""
    return "".join(random.choice(["cdab", "ddxx", "x"]) for _ in range(length))


def texts(seed: int, number: int = 8) -> list[str]:
    return [text_with_a_tell(Random(seed + n), 80) for n in range(number)]


def counts_of(written: list[str]) -> Counts:
    symbols, first_of = joined([symbols_of(PATTERN, text) for text in written])
    times = np.concatenate([np.arange(len(text), dtype=np.int64) * MINUTE for text in written])
    return count(symbols, times, first_of, PATTERN, 4)


def problem(written: list[str]) -> Problem:
    letters = np.array(list("".join(written)), dtype=object)
    first_of = np.cumsum([0, *map(len, written)]).astype(np.int64)
    times = np.arange(len(letters), dtype=np.int64) * MINUTE
    columns = {"letter": ArrayColumn(letters, None, AttributeType.STRING)}
    plain = lettered("a ; b")
    return problem_of(PATTERN, plain, plain_sequences(columns, times, first_of), (), BASE.horizon, 4)


def everything(posed: Problem) -> NDArray[np.bool_]:
    return np.ones(len(posed.sequences), dtype=np.bool_)


def test_the_order_that_tells_is_found_and_every_trial_is_recorded() -> None:
    posed, space = problem(texts(100)), Space(orders=(0, 1, 2, 3), smoothings=(0.0001,), ratios=(1.05,), budget=8)
    found = search(PATTERN, counts_of(texts(1)), BASE, posed, everything(posed), space)
    assert found.model.settings.learn.order == 2
    assert {trial.order for trial in found.trials} == {0, 1, 2, 3}
    best = max(trial.value for trial in found.trials)
    assert best > 1.1 * next(trial.value for trial in found.trials if trial.order == 0)
    record = found.record(space)
    assert [trial["order"] for trial in record["trials"]] == [trial.order for trial in found.trials]
    assert (record["seed"], record["criterion"]) == (1, "f1")
    assert found.model.header.scores["f1"] == pytest.approx(best, abs=1e-6)


def test_the_budget_is_kept_and_the_same_seed_tries_the_same() -> None:
    space = Space(budget=5, seed=3)
    tried = space.settings(BASE, max_order=4)
    assert len(tried) == 5
    assert tried[0] == BASE
    assert tried == Space(budget=5, seed=3).settings(BASE, 4)
    assert tried != Space(budget=5, seed=4).settings(BASE, 4)
    assert max(settings.learn.order for settings in Space(budget=100).settings(BASE, 4)) == 4


def test_a_model_is_scored_as_it_would_serve() -> None:
    posed, space = problem(texts(100)), Space(budget=4)
    found = search(PATTERN, counts_of(texts(1)), BASE, posed, everything(posed), space)
    judged = problem(texts(500))
    score = score_model(found.model, judged, everything(judged))
    assert score is not None
    assert score.threshold == found.model.settings.threshold
    assert score.f1 > 0.8
    assert score_model(found.model, judged, ~everything(judged)) is None


def test_without_a_match_to_choose_on_nothing_is_searched_and_that_is_said() -> None:
    posed = problem(["xxxxcxxxx"])
    found = search(PATTERN, counts_of(texts(1)), BASE, posed, everything(posed), Space())
    assert found.trials == ()
    assert found.model.settings.threshold == 0.2
    assert "nothing was searched" in (found.note or "")


def test_what_is_certain_is_searched_and_scored_though_its_waiting_times_add_up_to_more_than_one() -> None:
    low = lettered("a", letters="a")
    symbols = symbols_of(low, "aax" * 200)
    times = np.arange(len(symbols), dtype=np.int64) * MINUTE
    counts = count(symbols, times, np.array([0, len(symbols)]), low, 2)
    columns = {"letter": ArrayColumn(np.array(list("aax" * 200), dtype=object), None, AttributeType.STRING)}
    posed = problem_of(low, low, plain_sequences(columns, times, np.array([0, len(symbols)])), (), 60, 2)
    base = ModelSettings(learn=LearnSettings(order=0, smoothing=1e-5), horizon=60)
    found = search(low, counts, base, posed, everything(posed), Space(orders=(0,), ratios=(1.05,), budget=3))
    assert found.model.waiting.sum(axis=1, dtype=np.float64).max() > 1
    assert all(0 <= trial.scores["brier"] <= 1 for trial in found.trials)


def test_tracks_are_halved_by_name_so_that_no_track_changes_sides() -> None:
    names = [f"track {n}" for n in range(200)]
    one, other = halves(names, np.arange(200))
    assert (one ^ other).all()
    assert 60 < one.sum() < 140
    again, _ = halves(names[::-1], np.arange(200))
    assert (again[::-1] == one).all()
