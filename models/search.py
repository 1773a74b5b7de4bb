"""Which order and smoothing a model should have: a seeded search on validation rows, every trial of it remembered.

A trial learns from the same counts, so it costs no pass over events; its threshold is the best one on the rows.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from foresail.models.counts import Counts
from foresail.models.decisions import within
from foresail.models.model import Model, ModelSettings, build
from foresail.models.scoring.evaluation import scorable
from foresail.models.scoring.measures import Classification, score_within
from foresail.models.scoring.problem import Problem, chain_states
from foresail.models.scoring.thresholds import Costs, Criterion, choose_threshold
from foresail.patterns.compiler import CompiledPattern

FALLBACK_THRESHOLD = 0.2
SCORES = ("precision", "recall", "f1", "mcc", "roc_auc", "brier")


@dataclass(frozen=True, slots=True)
class Space:
    """What is tried: all combinations, or `budget` of them drawn by `seed` where there are more."""

    orders: tuple[int, ...] = (1, 2, 3, 4, 6)
    smoothings: tuple[float, ...] = (0.00001, 0.0001, 0.001)
    ratios: tuple[float, ...] = (1.05, 1.2)
    budget: int = 12
    seed: int = 1
    threshold: float | None = None
    """A threshold that is not searched for."""
    criterion: Criterion = Criterion.F1
    costs: Costs = field(default_factory=Costs)

    def settings(self, base: ModelSettings, max_order: int) -> list[ModelSettings]:
        """The settings to try, the given ones first."""
        from sklearn.model_selection import ParameterGrid, ParameterSampler  # noqa: PLC0415 - takes seconds to import

        orders = sorted({order for order in (*self.orders, base.learn.order) if order <= max_order})
        grid = {"order": orders, "smoothing": list(self.smoothings), "ratio": list(self.ratios)}
        every = ParameterGrid(grid)
        drawn = every if len(every) <= self.budget else ParameterSampler(grid, self.budget, random_state=self.seed)
        tried = [replace(base, learn=replace(base.learn, **values)) for values in drawn]
        return list(dict.fromkeys([base, *tried]))[: max(self.budget, 1)]


@dataclass(frozen=True, slots=True)
class Trial:
    """One setting and how it did on the validation rows."""

    order: int
    smoothing: float
    ratio: float
    threshold: float
    contexts: int
    value: float
    """What the criterion makes best; minus the cost for the criterion `cost`."""
    scores: Mapping[str, float]


@dataclass(frozen=True, slots=True, eq=False)
class Found:
    """The best model, with every trial that led to it."""

    model: Model
    trials: tuple[Trial, ...]
    note: str | None = None

    def record(self, space: Space) -> dict[str, Any]:
        """The whole search as plain values, to be kept with the model."""
        held = asdict(space)
        return {
            **{name: list(value) if isinstance(value, tuple) else value for name, value in held.items()},
            "criterion": space.criterion.value,
            "trials": [asdict(trial) for trial in self.trials],
            "note": self.note,
        }


def search(
    pattern: CompiledPattern,
    counts: Counts,
    base: ModelSettings,
    problem: Problem,
    rows: NDArray[np.bool_],
    space: Space,
) -> Found:
    """The model of `counts` whose settings do best on these rows, which were not counted."""
    usable = rows & scorable(problem, base.events_ahead)
    if not problem.truth.within(base.events_ahead)[usable].any():
        threshold = FALLBACK_THRESHOLD if space.threshold is None else space.threshold
        note = f"no match on the validation rows: nothing was searched, threshold {threshold}"
        return Found(build(pattern, counts, replace(base, threshold=threshold)), (), note)
    tried = [
        _tried(pattern, counts, settings, problem, usable, space) for settings in space.settings(base, counts.max_order)
    ]
    # of equally good ones the one with the shorter contexts
    best, trial = max(tried, key=lambda found: (round(found[1].value, 6), -found[1].order, -found[1].contexts))
    return Found(best.with_scores(trial.scores), tuple(trial for _, trial in tried))


def score_model(model: Model, problem: Problem, rows: NDArray[np.bool_]) -> Classification | None:
    """How the model does on these rows as it would serve; None where no row can be judged."""
    ahead = model.settings.events_ahead
    usable = rows & scorable(problem, ahead)
    if not usable.any():
        return None
    given = probabilities(model, problem)[usable]
    return score_within(given, problem.truth.within(ahead)[usable], model.settings.threshold)


def probabilities(model: Model, problem: Problem) -> NDArray[np.float64]:
    """Per row the probability of a match within the events ahead."""
    speaking = model.with_settings(forecast_in_accepting=True)
    chain = chain_states(speaking, problem.sequences)
    given: NDArray[np.float64] = within(speaking.waiting, model.settings.events_ahead)[chain]
    return given


def scores_of(found: Classification) -> dict[str, float]:
    """The scores that rows define, as plain numbers."""
    held = {name: getattr(found, name) for name in SCORES}
    return {name: round(float(value), 6) for name, value in held.items() if value is not None} | {
        "events": found.events,
        "positives": found.tp + found.fn,
    }


def _tried(
    pattern: CompiledPattern,
    counts: Counts,
    settings: ModelSettings,
    problem: Problem,
    usable: NDArray[np.bool_],
    space: Space,
) -> tuple[Model, Trial]:
    model = build(pattern, counts, settings)
    given, truth = probabilities(model, problem)[usable], problem.truth.within(settings.events_ahead)[usable]
    threshold = space.threshold
    if threshold is None:
        threshold = choose_threshold(given, truth, space.criterion, space.costs)
    found = score_within(given, truth, threshold)
    trial = Trial(
        order=settings.learn.order,
        smoothing=settings.learn.smoothing,
        ratio=settings.learn.ratio,
        threshold=threshold,
        contexts=len(model.contexts),
        value=_value(found, space),
        scores=scores_of(found),
    )
    return model.with_settings(threshold=threshold), trial


def _value(found: Classification, space: Space) -> float:
    match space.criterion:
        case Criterion.F1:
            return found.f1
        case Criterion.MCC:
            return found.mcc
        case Criterion.COST:
            return -(found.fp * space.costs.false_alarm + found.fn * space.costs.missed)


def halves(names: Sequence[str], track: NDArray[np.int64]) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Rows of tracks to choose settings on and of tracks to judge on, by a hash of their names: the same every day."""
    judged = np.array([crc32(name.encode()) % 2 == 1 for name in names], dtype=np.bool_)[track]
    return ~judged, judged
