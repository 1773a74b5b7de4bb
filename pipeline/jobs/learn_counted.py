"""Scheduled training after counting, without Spark: learn from the counts of all days, judge on held-out tracks."""

import time
from dataclasses import dataclass, field
from typing import Any

from foresail.models.counts import Counts
from foresail.models.features import with_features
from foresail.models.model import Model
from foresail.models.scoring.problem import Problem, problem_of
from foresail.models.scoring.report import LearnedFeature
from foresail.models.scoring.thresholds import Costs, Criterion
from foresail.models.search import Space, halves, score_model, scores_of, search
from foresail.models.store import CHALLENGER, CHAMPION, ModelStore
from foresail.patterns.catalog.entry import PatternEntry
from foresail.patterns.compiler import compile_pattern
from foresail.patterns.spec import without_features
from foresail.pipeline.errors import InputError
from foresail.pipeline.settings import ForecastSettings, TrainingSettings
from foresail.pipeline.training.forecast_patterns import ForecastPattern, settings_of
from foresail.pipeline.training.held_out import HeldOut, read_held_out


@dataclass(frozen=True, slots=True)
class Round:
    """One round of training of one pattern: what was counted until a time."""

    store: ModelStore
    entry: PatternEntry
    until_us: int | None = None
    forecasting: ForecastSettings = field(default_factory=ForecastSettings)
    training: TrainingSettings = field(default_factory=TrainingSettings)

    def held_out(self) -> HeldOut | None:
        """The newest held-out tracks."""
        return read_held_out(self.store.storage, self.until_us, self.training.judged_intervals)


def merge_counted(
    store: ModelStore, pattern: str, until_us: int | None, half_life_days: float | None
) -> dict[str, Any] | None:
    """The counts of all intervals of a pattern as one; None when it was never counted."""
    newest = [interval for interval in store.counted(pattern) if until_us is None or interval.end_us <= until_us]
    if not newest:
        return None
    last = store.interval_counts(pattern, newest[-1])
    merged = store.merge_intervals(last.identity, until_us, half_life_days)
    assert merged is not None, "the newest interval has the newest identity"
    return {
        "pattern": pattern,
        "intervals": len(merged.intervals),
        "until_us": newest[-1].end_us,
        "left_out": [str(interval) for interval in merged.left_out],
        "events": round(merged.counts.events),
        "matches": round(merged.counts.matches),
    }


def learn_counted(order: Round) -> dict[str, Any]:
    """Search the settings of a model on half of the held-out tracks, and keep the best one as challenger."""
    began = time.monotonic()
    store, entry = order.store, order.entry
    counts, held = store.counts(entry.name), order.held_out()
    if counts is None or held is None:
        what = "counts" if counts is None else "held-out tracks"
        msg = f"{store.storage.place}: no {what} of {entry.name} yet. Count an interval: `foresail train --count-only`."
        raise InputError(msg)
    pattern = _forecast_pattern(entry, held, counts)
    base = settings_of(pattern, order.forecasting)
    problem = _problem(pattern, held, base.horizon, counts.max_order)
    chosen_on, _ = halves(held.sample.tracks.to_pylist(), problem.sequences.track)
    space = _space(entry, order)
    found = search(pattern.pattern, counts, base, problem, chosen_on, space)
    version = store.add(found.model, promote=False, search=found.record(space))
    learn = found.model.settings.learn
    return {
        "pattern": entry.name,
        "model_version": version,
        "alias": _alias(store, entry.name, version),
        "order": learn.order,
        "smoothing": learn.smoothing,
        "threshold": found.model.settings.threshold,
        "trials": len(found.trials),
        "events": round(counts.events),
        "matches": round(counts.matches),
        "scores": dict(found.model.header.scores),
        "notes": [*found.model.header.notes, *([found.note] if found.note else [])],
        "seconds": round(time.monotonic() - began, 3),
    }


def judge_rivals(order: Round) -> dict[str, Any]:
    """Score champion and challenger on the other half of the held-out tracks; the store remembers both."""
    store, name, held = order.store, order.entry.name, order.held_out()
    record = store.record(name)
    rivals = {alias: v for alias, v in ((CHAMPION, record.champion), (CHALLENGER, record.challenger)) if v is not None}
    if held is None or not rivals:
        return {"pattern": name, "data": None, "scores": {}, "why": "there is nothing to judge yet"}
    scores: dict[str, Any] = {}
    for alias, version in rivals.items():
        found = score_on(store.load(name, version), order.entry, held)
        scores[alias] = {"version": version, **found}
        store.keep_scores(name, version, held.data, found)
    return {"pattern": name, "data": held.data, "scores": scores, "why": None}


def judge_live(order: Round, tolerance: float, metric: str) -> dict[str, Any]:
    """How the champion did in the newest interval, next to how it did when it was promoted."""
    store, name = order.store, order.entry.name
    champion = store.record(name).champion
    held = read_held_out(store.storage, order.until_us, 1)
    if champion is None or held is None:
        return {"pattern": name, "degraded": False, "why": "there is nothing to judge yet"}
    first = next((s for s in store.record(name).scores if s.version == champion and metric in s.values), None)
    found = score_on(store.load(name, champion), order.entry, held)
    if not found.get("positives"):
        return {"pattern": name, "champion": champion, "degraded": False, "why": f"no match came on {held.data}"}
    then = first.values[metric] if first else found[metric]
    comparison = f"{metric} {found[metric]:.4f} on {held.data}, {then:.4f} when it was judged first"
    degraded = found[metric] < then - tolerance
    return {"pattern": name, "champion": champion, "degraded": degraded, "why": comparison, "scores": found}


def score_on(model: Model, entry: PatternEntry, held: HeldOut) -> dict[str, float]:
    """The scores of a model on the half of the held-out tracks that no setting was chosen on."""
    spec = model.header.spec
    pattern = compile_pattern(spec, held.types)
    plain = compile_pattern(without_features(spec), held.types)
    bare = ForecastPattern(entry, pattern, plain, (), held.types)
    problem = _problem(bare, held, model.settings.horizon, model.header.max_order)
    _, judged_on = halves(held.sample.tracks.to_pylist(), problem.sequences.track)
    found = score_model(model, problem, judged_on)
    return {"mcc": 0.0, "f1": 0.0, "events": 0, "positives": 0} if found is None else scores_of(found)


def _forecast_pattern(entry: PatternEntry, held: HeldOut, counts: Counts) -> ForecastPattern:
    """The pattern over the alphabet that was counted."""
    spec = entry.spec()
    plain = compile_pattern(without_features(spec), held.types)
    if tuple((text.name, text.text.strip()) for text in spec.features) != counts.identity.features:
        features = [LearnedFeature(name, text, 0, 0.0) for name, text in counts.identity.features]
        spec = with_features(plain.spec, features)
    return ForecastPattern(entry, compile_pattern(spec, held.types), plain, (), held.types)


def _problem(pattern: ForecastPattern, held: HeldOut, horizon: int, max_order: int) -> Problem:
    sequences = held.sample.plain
    if pattern.entry.for_each is not None:
        around = max(max_order, (horizon + 1) // 2)
        layer = held.layers.index(pattern.entry.for_each.layer)
        sequences = held.sample.of_family(layer, pattern.entry.for_each.as_, around)
    return problem_of(pattern.pattern, pattern.plain, sequences, (), horizon, max_order)


def _space(entry: PatternEntry, order: Round) -> Space:
    training, forecasting = order.training, order.forecasting
    threshold = entry.forecast.threshold if entry.forecast else "auto"
    return Space(
        orders=training.search_orders,
        smoothings=training.search_smoothings,
        ratios=training.search_ratios,
        budget=training.search_budget,
        seed=training.search_seed,
        threshold=threshold if isinstance(threshold, float) else None,
        criterion=Criterion(forecasting.criterion),
        costs=Costs(forecasting.false_alarm_cost, forecasting.missed_cost),
    )


def _alias(store: ModelStore, pattern: str, version: str) -> str | None:
    record = store.record(pattern)
    return {record.challenger: CHALLENGER, record.champion: CHAMPION}.get(version)
