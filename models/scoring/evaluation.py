"""All contenders for one pattern on all folds: fit, choose the threshold on validation rows, fit again, test."""

import time
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from foresail.models.limits import reaches
from foresail.models.scoring.contenders import Contender, Fitted
from foresail.models.scoring.differences import Difference, days_of_tracks, f1_difference, pairs_compared
from foresail.models.scoring.measures import (
    calibration_error,
    crps_of,
    distances_to_acceptance,
    log_loss_of,
    reliability,
    score_by_distance,
    score_decided,
    score_earliness,
    score_within,
)
from foresail.models.scoring.problem import Problem
from foresail.models.scoring.report import (
    ALL,
    LearnedFeature,
    ModelScores,
    ScoreRow,
    ThresholdPoint,
    WithinPoint,
    score_intervals,
)
from foresail.models.scoring.thresholds import Costs, Criterion, Fold, choose_threshold, sweep, validation_split

SWEEP_POINTS = 60
NOMINAL = 0.5
"""The mass of the intervals that are scored."""
WIDER = (0.8, 0.9)
"""Further masses, of which the coverage is told too."""


@dataclass(frozen=True, slots=True)
class Choice:
    """What a match must come within, which further w are told, and what thresholds make best."""

    within: int
    further: tuple[int, ...]
    criterion: Criterion = Criterion.F1
    costs: Costs = field(default_factory=Costs)

    @property
    def all_within(self) -> tuple[int, ...]:
        """Every w, ascending."""
        return tuple(sorted({self.within, *self.further}))


@dataclass(slots=True, eq=False)
class Tested:
    """What one contender said of the test rows of all folds, gathered fold by fold."""

    probability: dict[int, NDArray[np.float64]]
    positive: dict[int, NDArray[np.bool_]]
    thresholds: dict[int, list[float]]
    earliest: NDArray[np.int64]
    latest: NDArray[np.int64]
    next_symbol: NDArray[np.float64]
    crps: NDArray[np.float64]
    wider: dict[float, tuple[NDArray[np.int64], NDArray[np.int64]]]
    has_intervals: bool = False
    seconds: float = 0.0
    last: Fitted | None = None

    @classmethod
    def empty(cls, rows: int, choice: Choice) -> "Tested":
        """Of nothing so far."""
        return cls(
            {w: np.zeros(rows) for w in choice.all_within},
            {w: np.zeros(rows, dtype=np.bool_) for w in choice.all_within},
            {w: [] for w in choice.all_within},
            np.zeros(rows, dtype=np.int64),
            np.zeros(rows, dtype=np.int64),
            np.full(rows, np.nan),
            np.full(rows, np.nan),
            {mass: (np.zeros(rows, dtype=np.int64), np.zeros(rows, dtype=np.int64)) for mass in WIDER},
        )


@dataclass(frozen=True, slots=True, eq=False)
class PatternScores:
    """The table rows and the curves of all contenders, and what the learned features were."""

    rows: tuple[ScoreRow, ...]
    models: tuple[ModelScores, ...]
    features: tuple[LearnedFeature, ...]
    tested: dict[str, Tested]
    usable: NDArray[np.bool_]
    """The rows that were tested in some fold."""


def evaluate_contenders(
    problem: Problem, contenders: Sequence[Contender], folds: Sequence[Fold], gap: int, choice: Choice
) -> PatternScores:
    """Every contender on every fold; rows that accept, or whose coming events are not known, are left out."""
    scored = scorable(problem, choice.within)
    tested_rows = np.zeros(len(scored), dtype=np.bool_)
    for fold in folds:
        tested_rows |= fold.test & scored
    rows: list[ScoreRow] = []
    found: dict[str, Tested] = {}
    for contender in contenders:
        tested = Tested.empty(len(scored), choice)
        for fold in folds:
            rows += _on_fold(problem, contender, fold, gap, choice, tested)
        rows.append(_over_all(problem, contender.name, tested_rows, choice, tested))
        found[contender.name] = tested
    models = tuple(_curves(problem, name, tested_rows, choice, tested) for name, tested in found.items())
    features = next((t.last.features for t in found.values() if t.last and t.last.features), ())
    return PatternScores(tuple(rows), models, features, found, tested_rows)


def differences(problem: Problem, scores: PatternScores, choice: Choice) -> tuple[Difference, ...]:
    """For each w how much better models are than boosting, on the rows that were tested."""
    found = []
    days = days_of_tracks(problem.sequences.track, problem.sequences.times)
    for one, other in pairs_compared(list(scores.tested)):
        for events in choice.all_within:
            rows = scores.usable & scorable(problem, events)
            if not rows.any():
                continue
            positive = tuple(scores.tested[name].positive[events][rows] for name in (one, other))
            _, cluster = np.unique(days[rows], return_inverse=True)
            truth = problem.truth.within(events)[rows]
            found.append(f1_difference((one, other), events, (positive[0], positive[1]), truth, cluster))
    return tuple(found)


def scorable(problem: Problem, events: int) -> NDArray[np.bool_]:
    """The rows on which a forecast is due and whose coming events are known."""
    accepting = problem.plain.automaton.accepting[problem.state]
    return problem.sequences.scored & ~accepting & problem.truth.known(events)


def _on_fold(
    problem: Problem, contender: Contender, fold: Fold, gap: int, choice: Choice, tested: Tested
) -> list[ScoreRow]:
    began = time.perf_counter()
    sequences = problem.sequences
    fit, chosen_on = validation_split(sequences.track, sequences.index, fold.train, gap)
    thresholds = _thresholds(problem, contender.fit(problem, fit), chosen_on, choice)
    fitted = contender.fit(problem, fold.train)
    for events in choice.all_within:
        test = fold.test & scorable(problem, events)
        given = fitted.within(events)
        tested.probability[events][test] = given[test]
        tested.positive[events][test] = reaches(given[test], thresholds[events])
        tested.thresholds[events].append(thresholds[events])
    if fitted.interval is not None:
        earliest, latest = fitted.interval(NOMINAL)
        tested.earliest[fold.test], tested.latest[fold.test] = earliest[fold.test], latest[fold.test]
        tested.has_intervals = True
        for mass, (first, last) in tested.wider.items():
            earliest, latest = fitted.interval(mass)
            first[fold.test], last[fold.test] = earliest[fold.test], latest[fold.test]
        tested.crps[fold.test] = crps_of(fitted.within, _until(problem), problem.horizon)[fold.test]
    if fitted.next_symbol is not None:
        tested.next_symbol[fold.test] = fitted.next_symbol[fold.test]
    tested.last = fitted
    seconds = time.perf_counter() - began
    tested.seconds += seconds
    test = fold.test & scorable(problem, choice.within)
    if not test.any():
        return []
    return [_row(problem, contender.name, str(fold.number), test, choice, tested, thresholds[choice.within], seconds)]


def _thresholds(problem: Problem, fitted: Fitted, chosen_on: NDArray[np.bool_], choice: Choice) -> dict[int, float]:
    found = {}
    for events in choice.all_within:
        rows = chosen_on & scorable(problem, events)
        given, truth = fitted.within(events)[rows], problem.truth.within(events)[rows]
        found[events] = choose_threshold(given, truth, choice.criterion, choice.costs)
    return found


def _over_all(problem: Problem, name: str, rows: NDArray[np.bool_], choice: Choice, tested: Tested) -> ScoreRow:
    threshold = float(np.mean(tested.thresholds[choice.within])) if tested.thresholds[choice.within] else 0.5
    return _row(problem, name, ALL, rows, choice, tested, threshold, tested.seconds)


def _row(
    problem: Problem,
    name: str,
    fold: str,
    rows: NDArray[np.bool_],
    choice: Choice,
    tested: Tested,
    threshold: float,
    seconds: float,
) -> ScoreRow:
    given, positive = tested.probability[choice.within][rows], tested.positive[choice.within][rows]
    truth = problem.truth.within(choice.within)[rows]
    followed = rows & ~np.isnan(tested.next_symbol)
    return ScoreRow(
        problem.plain.name,
        name,
        fold,
        choice.within,
        score_decided(given, positive, truth, threshold),
        calibration_error(reliability(given, truth)),
        log_loss_of(tested.next_symbol[followed]),
        round(seconds, 3),
    )


def _curves(problem: Problem, name: str, rows: NDArray[np.bool_], choice: Choice, tested: Tested) -> ModelScores:
    given, truth = tested.probability[choice.within][rows], problem.truth.within(choice.within)[rows]
    threshold = float(np.mean(tested.thresholds[choice.within])) if tested.thresholds[choice.within] else 0.5
    distance = distances_to_acceptance(problem.plain.automaton.delta, problem.plain.automaton.accepting)
    model = tested.last.model if tested.last else None
    until = _until(problem)
    known = rows & problem.truth.known(problem.horizon)
    return ModelScores(
        model=name,
        symbols=model.header.identity.symbols if model else None,
        contexts=len(model.contexts) if model else None,
        chain_states=model.chain.states if model else None,
        reliability=reliability(given, truth),
        thresholds=_swept(given, truth),
        by_distance=score_by_distance(distance[problem.state[rows]], given, truth, threshold),
        by_within=tuple(_within_point(problem, rows, events, tested) for events in choice.all_within),
        earliness=score_earliness(
            tested.positive[choice.within][rows], until[rows], _match_ahead(problem)[rows], choice.within
        ),
        intervals=score_intervals(tested.earliest[known], tested.latest[known], until[known], NOMINAL)
        if tested.has_intervals
        else None,
        wider=tuple(
            score_intervals(first[known], last[known], until[known], mass)
            for mass, (first, last) in tested.wider.items()
            if tested.has_intervals
        ),
        crps=float(tested.crps[known].mean()) if tested.has_intervals and known.any() else None,
    )


def _until(problem: Problem) -> NDArray[np.int64]:
    """Events until the match, 0 where none comes as far as forecasts look."""
    return np.where(problem.truth.within(problem.horizon), problem.truth.until, 0)


def _swept(given: NDArray[np.float64], truth: NDArray[np.bool_]) -> tuple[ThresholdPoint, ...]:
    found = sweep(given, truth, SWEEP_POINTS)
    columns = (found.threshold, found.precision, found.recall, found.f1, found.mcc)
    return tuple(ThresholdPoint(*map(float, point)) for point in zip(*columns, strict=True))


def _within_point(problem: Problem, rows: NDArray[np.bool_], events: int, tested: Tested) -> WithinPoint:
    mine = rows & scorable(problem, events)
    given, truth = tested.probability[events][mine], problem.truth.within(events)[mine]
    threshold = float(np.mean(tested.thresholds[events])) if tested.thresholds[events] else 0.5
    return WithinPoint(
        events,
        float(truth.mean()) if len(truth) else 0.0,
        score_decided(given, tested.positive[events][mine], truth, threshold),
        calibration_error(reliability(given, truth)),
    )


def _match_ahead(problem: Problem) -> NDArray[np.int64]:
    """For each row the row of the match that its truth counts to; -1 where there is none."""
    position = np.arange(len(problem.sequences))
    return np.where(problem.truth.until > 0, position + problem.truth.until, -1)


def score_at(
    problem: Problem, fitted: Fitted, rows: NDArray[np.bool_], events: int, threshold: float
) -> dict[str, float]:
    """The scores that a model file keeps: of its threshold, on the rows the threshold was chosen on."""
    used = rows & scorable(problem, events)
    given, truth = fitted.within(events)[used], problem.truth.within(events)[used]
    scores = score_within(given, truth, threshold)
    error = calibration_error(reliability(given, truth))
    kept = {
        "precision": scores.precision,
        "recall": scores.recall,
        "f1": scores.f1,
        "mcc": scores.mcc,
        "roc_auc": scores.roc_auc,
        "brier": scores.brier,
        "calibration_error": error,
    }
    return {name: float(value) for name, value in kept.items() if value is not None}
