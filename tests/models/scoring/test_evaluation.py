"""An evaluation on simulated approaches to a port: the table, its curves, and what must not leak."""

from dataclasses import replace

import numpy as np
import pytest

from foresail.models.scoring.contenders import (
    BoostingContender,
    ChainContender,
    CountsMemo,
    LearnedContender,
    MeanWaitingContender,
    standard_contenders,
)
from foresail.models.scoring.evaluation import Choice, PatternScores, evaluate_contenders
from foresail.models.scoring.problem import Problem, problem_of
from foresail.models.scoring.sequences import plain_sequences
from foresail.models.scoring.thresholds import folds_by_time
from foresail.models.suffix_tree import LearnSettings
from foresail.patterns.compiler import compile_pattern
from foresail.patterns.conditions import AttributeType
from foresail.patterns.conditions.evaluate import ArrayColumn
from foresail.patterns.errors import Place
from foresail.patterns.spec import Text, spec_of

HORIZON, MAX_ORDER, WITHIN = 20, 4, 6
LEARN = LearnSettings(order=3, min_context_probability=1e-4, smoothing=1e-5)


def ferries(tracks: int = 12, events: int = 600, seed: int = 2) -> Problem:
    """Vessels that go to and fro between 1 and 12 km of a port, some fast and some slow."""
    random = np.random.default_rng(seed)
    distance = np.empty((tracks, events))
    speed = np.empty((tracks, events))
    for track in range(tracks):
        pace, place, way = random.uniform(0.3, 0.9), random.uniform(2, 12), -1.0
        for event in range(events):
            place += way * pace * random.uniform(0.8, 1.2)
            way = 1.0 if place < 1 else -1.0 if place > 12 else way
            distance[track, event], speed[track, event] = place, pace * 20 + random.normal(0, 0.3)
    columns = {
        "port_km": ArrayColumn(distance.ravel(), None, AttributeType.NUMBER),
        "speed_kn": ArrayColumn(speed.ravel(), None, AttributeType.NUMBER),
    }
    times = np.tile(np.arange(events) * 60_000_000, tracks)
    spec = spec_of("entry", "out ; out ; in_", {"out": "port_km >= 5", "in_": "port_km < 5"})
    rings = tuple(Text(f"ring_{n}", f"{n} <= port_km < {n + 2}", Place("rings")) for n in range(5, 11, 2))
    return problem_of(
        compile_pattern(replace(spec, features=rings)),
        compile_pattern(spec),
        plain_sequences(columns, times, np.arange(tracks + 1) * events),
        ["port_km", "speed_kn"],
        HORIZON,
        MAX_ORDER,
    )


@pytest.fixture(scope="module")
def problem() -> Problem:
    return ferries()


@pytest.fixture(scope="module")
def scores(problem: Problem) -> PatternScores:
    folds = folds_by_time(problem.sequences.index, problem.sequences.length, 2, HORIZON)
    contenders = standard_contenders((0, 1, 3), LEARN, leaves=24, boosting=10)
    return evaluate_contenders(problem, contenders, folds, HORIZON, Choice(WITHIN, (2, 12)))


@pytest.fixture(scope="module")
def certain() -> Problem:
    """Two low values and a high one, over and over: a low one comes so surely that 32-bit waiting times exceed 1."""
    values = np.array([1.0, 1.0, 9.0] * 200)
    columns = {"x": ArrayColumn(values, None, AttributeType.NUMBER)}
    sequences = plain_sequences(columns, np.arange(600) * 60_000_000, np.array([0, 600]))
    pattern = compile_pattern(spec_of("low", "a", {"a": "x < 5"}))
    return problem_of(pattern, pattern, sequences, ["x"], 60, MAX_ORDER)


def test_what_is_certain_is_scored_though_its_waiting_times_add_up_to_more_than_one(certain: Problem) -> None:
    fitted = ChainContender("order 0", replace(LEARN, order=0), CountsMemo()).fit(
        certain, np.ones(len(certain.sequences), dtype=np.bool_)
    )
    assert fitted.model is not None
    assert fitted.model.waiting.sum(axis=1, dtype=np.float64).max() > 1
    assert fitted.within(60).max() == 1.0
    folds = folds_by_time(certain.sequences.index, certain.sequences.length, 2, 60)
    contenders = standard_contenders((0,), LEARN, leaves=None, boosting=2)
    found = evaluate_contenders(certain, contenders, folds, 60, Choice(60, (5,)))
    assert next(row.scores.brier for row in found.rows if row.model == "order 0" and row.fold == "all") is not None


def test_in_a_state_that_was_never_seen_a_match_is_expected_beyond_the_horizon(problem: Problem) -> None:
    nothing = np.zeros(len(problem.sequences), dtype=np.bool_)
    said = MeanWaitingContender().fit(problem, nothing).within(1)
    assert said == pytest.approx(np.full(len(nothing), 1 / (HORIZON + 1)))


def f1_of(scores: PatternScores, model: str) -> float:
    return next(row.scores.f1 for row in scores.rows if row.model == model and row.fold == "all")


def test_there_is_a_row_for_each_model_and_fold_and_one_for_all(scores: PatternScores) -> None:
    models = ["order 0", "order 1", "order 3", "full order 2", "learned", "mean waiting time", "gradient boosting"]
    assert [(row.model, row.fold) for row in scores.rows] == [(m, f) for m in models for f in ("0", "1", "all")]


def test_the_rows_of_the_folds_add_up_to_that_of_all(scores: PatternScores) -> None:
    rows = [row for row in scores.rows if row.model == "order 3"]
    for count in ("tp", "fp", "tn", "fn"):
        first, second, every = (getattr(row.scores, count) for row in rows)
        assert first + second == every


def test_longer_contexts_and_learned_features_help(scores: PatternScores) -> None:
    assert f1_of(scores, "order 3") > f1_of(scores, "order 1") > f1_of(scores, "order 0")
    assert f1_of(scores, "learned") > f1_of(scores, "mean waiting time")
    assert f1_of(scores, "learned") > f1_of(scores, "order 3")


def test_the_chain_is_calibrated_and_its_intervals_cover_what_they_say(scores: PatternScores) -> None:
    learned = next(model for model in scores.models if model.model == "learned")
    assert next(r.calibration_error for r in scores.rows if r.model == "learned" and r.fold == "all") < 0.05
    assert learned.intervals is not None
    assert 0.45 <= (learned.intervals.coverage or 0) <= 0.75
    assert [scores.nominal for scores in learned.wider] == [0.8, 0.9]
    assert all((scores.coverage or 0) > 0.75 for scores in learned.wider)
    by_model = {model.model: model.crps for model in scores.models}
    assert by_model["gradient boosting"] is None, "it tells no distribution"
    assert (by_model["learned"] or 0) < (by_model["order 0"] or 0)


def test_every_match_is_told_of_early_or_counted_as_missed(scores: PatternScores) -> None:
    for model in scores.models:
        assert sum(model.earliness.histogram) + model.earliness.missed == model.earliness.matches


def test_features_are_conditions_over_what_the_tree_may_read(scores: PatternScores) -> None:
    assert 2 <= len(scores.features) <= 24
    assert all("port_km" in f.text or "speed_kn" in f.text for f in scores.features)


@pytest.mark.parametrize(("orders", "full"), [((0, 1), False), ((0, 2), True)])
def test_a_full_order_stands_beside_orders_that_reach_it(orders: tuple[int, ...], full: bool) -> None:
    names = [contender.name for contender in standard_contenders(orders, LEARN, leaves=None)]
    assert names[: len(orders)] == [f"order {order}" for order in orders]
    assert ("full order 2" in names) == full


@pytest.mark.parametrize(
    "contender", [*standard_contenders((2,), LEARN, None)[:1], LearnedContender("learned", LEARN, 8),
                  MeanWaitingContender(), BoostingContender(iterations=5)],
    ids=lambda c: c.name,
)  # fmt: skip
def test_what_is_said_of_an_event_does_not_depend_on_events_that_were_not_trained_on(contender) -> None:  # type: ignore[no-untyped-def]
    whole, changed = ferries(tracks=4, events=300), ferries(tracks=4, events=300)
    train = whole.sequences.index < 150
    late = whole.sequences.index >= 150 + HORIZON
    for column in changed.sequences.columns.values():
        column.values[late] = column.values[late][::-1]
    rebuilt = problem_of(changed.pattern, changed.plain, changed.sequences, ["port_km", "speed_kn"], HORIZON, MAX_ORDER)
    one, other = contender.fit(whole, train).within(WITHIN), contender.fit(rebuilt, train).within(WITHIN)
    assert np.array_equal(one[train], other[train])
