"""How well each pattern can be forecast on a sample of tracks, by every order and by what else one would try."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import numpy as np
from numpy.typing import NDArray

from foresail.models.counts import TrackGroups
from foresail.models.sampling import usual_step_s
from foresail.models.scoring.contenders import standard_contenders
from foresail.models.scoring.evaluation import Choice, PatternScores, differences, evaluate_contenders, scorable
from foresail.models.scoring.problem import Problem, problem_of
from foresail.models.scoring.report import Evaluation, ForecastPlace, PatternEvaluation, ScoreRow
from foresail.models.scoring.thresholds import By, Costs, Criterion, Fold, folds_by_time, folds_by_track
from foresail.models.scoring.tree_contenders import with_trees
from foresail.models.suffix_tree import LearnSettings
from foresail.models.trees.fitting import TreeSettings
from foresail.patterns.catalog.entry import MOST_LEAVES
from foresail.pipeline.errors import InputError
from foresail.pipeline.progress import Progress
from foresail.pipeline.settings import ForecastSettings
from foresail.pipeline.training.apart import apart, some_of
from foresail.pipeline.training.forecast_patterns import ForecastPattern, reach_by_layer
from foresail.pipeline.training.model_events import ModelEvents
from foresail.pipeline.training.sample import Sample
from foresail.pipeline.training.symbols import Membership

RAW = (
    *("lon", "lat", "speed_kn", "course_deg", "heading_deg", "turn_deg", "acceleration", "drift_deg", "vessel_type"),
    *("length_m", "nav_status", "coast_distance_m", "port_distance_m", "engine", "speed_kmh", "fuel_level"),
    *("satellites", "status_duration_min"),
)
"""What gradient boosting reads of an event, as far as the events have it, besides what the pattern reads."""
MOST_PLACES = 2000


@dataclass(frozen=True, slots=True)
class Judging:
    """On which folds, and by what, forecasts are judged."""

    folds: int = 4
    by: By = By.TIME
    orders: tuple[int, ...] | None = None
    """None: every order up to that of the catalog."""
    within: tuple[int, ...] = ()
    """Further w beside that of the catalog; none: a third of it and twice it."""
    settings: ForecastSettings = field(default_factory=ForecastSettings)


def evaluate_patterns(
    events: ModelEvents,
    patterns: Sequence[ForecastPattern],
    asked: Judging,
    progress: Progress,
    skipped: Mapping[str, str],
) -> Evaluation:
    """Every pattern on a sample of these events."""
    raw = [name for name in RAW if name in events.columns]
    with progress.step("collecting a sample of tracks"):
        inputs = (name for p in patterns for name in p.inputs)
        attributes = list(dict.fromkeys([*(name for p in patterns for name in p.read), *raw, *inputs]))
        sample = events.sample(attributes, reach_by_layer(patterns), asked.settings.evaluate_sample_events)
        per = events.memberships(p.forecast.per for p in patterns if p.forecast.per is not None)
    progress.say(
        f"evaluating on {sample.events:,} of {sample.share.events:,} events, all of {len(sample.tracks):,} tracks"
    )
    return evaluate_sample(sample, patterns, raw, asked, progress, skipped, per)


def evaluate_sample(
    sample: Sample,
    patterns: Sequence[ForecastPattern],
    raw: Sequence[str],
    asked: Judging,
    progress: Progress,
    skipped: Mapping[str, str],
    per: Mapping[str, Membership] | None = None,
) -> Evaluation:
    """Every pattern on the sample, which is on the driver; Spark has no part in it."""
    names = list(dict.fromkeys(p.layer for p in patterns if p.layer is not None))
    gap = max(asked.settings.max_order, *(p.forecast.horizon for p in patterns))
    left_out, found = dict(skipped), []
    rows: list[ScoreRow] = []
    for p in patterns:
        with apart(p.name, left_out, progress), progress.step(f"evaluating {p.name}"):
            place = None if p.layer is None else names.index(p.layer)
            groups = per[p.forecast.per].track_groups(sample.tracks) if per and p.forecast.per else None
            evaluated, scores = _evaluated(p, sample, place, raw, asked, groups)
            found.append(evaluated)
            rows += scores.rows
    some_of(found, "evaluated", left_out)
    return Evaluation(
        by=asked.by.value,
        folds=asked.folds,
        gap=gap,
        criterion=asked.settings.criterion,
        events=sample.share.events,
        sampled_events=sample.events,
        tracks=sample.share.tracks,
        sampled_tracks=len(sample.tracks),
        seconds=0.0,
        rows=tuple(rows),
        patterns=tuple(found),
        skipped=left_out,
    )


def _evaluated(
    p: ForecastPattern,
    sample: Sample,
    place: int | None,
    raw: Sequence[str],
    asked: Judging,
    groups: TrackGroups | None,
) -> tuple[PatternEvaluation, PatternScores]:
    horizon, max_order = p.forecast.horizon, asked.settings.max_order
    around = max(max_order, (horizon + 1) // 2)
    family = p.entry.for_each.as_ if p.entry.for_each else ""
    sequences = sample.plain if place is None else sample.of_family(place, family, around)
    problem = problem_of(p.pattern, p.plain, sequences, p.attributes, horizon, max_order, raw, groups)
    choice = _choice(p, asked)
    folds, gap = _folds(problem, asked)
    _check(p, problem, folds, choice.within)
    orders = asked.orders if asked.orders is not None else tuple(range(p.forecast.order + 1))
    highest = max(*orders, p.forecast.order)
    if highest > max_order:
        msg = f"{p.name}: order {highest} is beyond what is counted ({max_order}). Raise forecasting.max_order."
        raise InputError(msg)
    leaves = p.entry.learn.leaves if p.entry.learn else MOST_LEAVES
    learn = _learn_settings(asked.settings, p.forecast.order)
    per = p.forecast.per if groups is not None else None
    s = asked.settings
    contenders = standard_contenders(orders, learn, leaves, s.boosting_iterations, per, s.min_group_matches)
    contenders = with_trees(contenders, choice.all_within, TreeSettings.of(s.tree_events), s.boosting_iterations)
    scores = evaluate_contenders(problem, contenders, folds, gap, choice)
    return _report(p, problem, scores, choice, sample), scores


def _choice(p: ForecastPattern, asked: Judging) -> Choice:
    w, horizon, s = p.within, p.forecast.horizon, asked.settings
    further = asked.within or (max(1, w // 3), min(horizon, 2 * w))
    beyond = [events for events in further if not 1 <= events <= horizon]
    if beyond:
        msg = f"{p.name}: within {beyond[0]} events lies outside its horizon of {horizon}. Give 1 to {horizon}."
        raise InputError(msg)
    return Choice(w, tuple(further), Criterion(s.criterion), Costs(s.false_alarm_cost, s.missed_cost))


def _folds(problem: Problem, asked: Judging) -> tuple[list[Fold], int]:
    sequences, gap = problem.sequences, max(problem.max_order, problem.horizon)
    if asked.by is By.TIME:
        return folds_by_time(sequences.index, sequences.length, asked.folds, gap), gap
    if len(np.unique(sequences.track)) < 2:
        msg = f"{problem.plain.name}: there is one track only, which cannot be tested by others. Use --by time."
        raise InputError(msg)
    return folds_by_track(sequences.track, asked.folds), gap


def _check(p: ForecastPattern, problem: Problem, folds: Sequence[Fold], within: int) -> None:
    """Some fold must have something to learn from and something to be right about."""
    if not problem.matched.any():
        msg = f"{p.name}: no match in the events, so no forecast can be judged. Give events that hold one."
        raise InputError(msg)
    usable, truth = scorable(problem, within), problem.truth.within(within)
    if not any((fold.train & problem.matched).any() and (truth & usable & fold.test).any() for fold in folds):
        msg = f"{p.name}: too few matches ({int(problem.matched.sum())}) for {len(folds)} folds. Give more events."
        raise InputError(msg)


def _learn_settings(settings: ForecastSettings, order: int) -> LearnSettings:
    return LearnSettings(
        order=order,
        min_context_probability=settings.min_context_probability,
        min_symbol_probability=settings.min_symbol_probability,
        ratio=settings.ratio,
        smoothing=settings.smoothing,
    )


def _report(
    p: ForecastPattern, problem: Problem, scores: PatternScores, choice: Choice, sample: Sample
) -> PatternEvaluation:
    accepting = problem.plain.automaton.accepting[problem.state] & problem.sequences.scored
    shown = "learned" if "learned" in scores.tested else scores.models[-1].model
    return PatternEvaluation(
        pattern=p.name,
        version=p.entry.version,
        says=p.entry.says,
        instance=p.layer,
        within=choice.within,
        horizon=problem.horizon,
        events=int(problem.sequences.scored.sum()),
        scored=int(scores.usable.sum()),
        censored=int((problem.sequences.scored & ~problem.truth.known(choice.within)).sum()),
        accepting=int(accepting.sum()),
        matches=int(problem.matched.sum()),
        step_s=usual_step_s(sample.times, sample.first_of),
        models=scores.models,
        features=scores.features,
        places_of=shown,
        places=_places(problem, scores, shown, choice.within, sample),
        differences=differences(problem, scores, choice),
    )


def _places(
    problem: Problem, scores: PatternScores, model: str, within: int, sample: Sample
) -> tuple[ForecastPlace, ...]:
    """Where forecasts of one model were right and wrong, at most MOST_PLACES, evenly over what was tested."""
    columns = sample.columns
    if "lon" not in columns or "lat" not in columns:
        return ()
    positive, truth = scores.tested[model].positive[within], problem.truth.within(within)
    rows = np.flatnonzero(scores.usable & (positive | truth))
    if len(rows) > MOST_PLACES:
        rows = rows[np.linspace(0, len(rows) - 1, MOST_PLACES).round().astype(np.int64)]
    lon, lat = (_numbers(columns[axis].values, columns[axis].valid) for axis in ("lon", "lat"))
    found = []
    for row in map(int, rows):
        event = int(problem.sequences.event[row])
        if np.isnan(lon[event]) or np.isnan(lat[event]):
            continue
        outcome = ("tp" if truth[row] else "fp") if positive[row] else "fn"
        found.append(
            ForecastPlace(
                float(lon[event]),
                float(lat[event]),
                outcome,
                float(scores.tested[model].probability[within][row]),
                sample.tracks[int(problem.sequences.track[row])].as_py(),
                datetime.fromtimestamp(int(problem.sequences.times[row]) / 1e6, UTC).isoformat(),
            )
        )
    return tuple(found)


def _numbers(values: NDArray[Any], valid: NDArray[np.bool_] | None) -> NDArray[np.float64]:
    numbers = values.astype(np.float64)
    return numbers if valid is None else np.where(valid, numbers, np.nan)
