"""What training chooses on its sample of tracks: the learned features, the threshold, and how good it is there."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from foresail.models.counts import Counts, TrackGroups
from foresail.models.errors import ModelError
from foresail.models.features import with_features
from foresail.models.identity import identity_of
from foresail.models.model import ModelSettings
from foresail.models.scoring.contenders import Fitted, Rows, fitted_chain, fitted_groups, learned_on
from foresail.models.scoring.evaluation import scorable, score_at
from foresail.models.scoring.problem import Problem, count_rows, problem_of
from foresail.models.scoring.report import LearnedFeature
from foresail.models.scoring.thresholds import Costs, Criterion, choose_threshold, validation_split
from foresail.patterns.compiler import CompiledPattern
from foresail.pipeline.settings import ForecastSettings
from foresail.pipeline.training.forecast_patterns import ForecastPattern
from foresail.pipeline.training.sample import Sample

FALLBACK_THRESHOLD = 0.2
"""Where there is nothing to choose one on; rare events need a low one."""
THRESHOLD_OF_KIND = {"interval": 0.5, "most_likely": 0.1}
"""What `auto` means where a threshold is a mass that a forecast must hold, not a line between yes and no."""


@dataclass(frozen=True, slots=True)
class Choices:
    """What was chosen for one pattern."""

    pattern: CompiledPattern
    """With the features that are counted."""
    settings: ModelSettings
    features: tuple[LearnedFeature, ...] = ()
    """Those that were learned now."""
    scores: Mapping[str, float] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()


def kept_features(p: ForecastPattern, former: Counts) -> tuple[LearnedFeature, ...] | None:
    """The learned features of earlier counts, which new ones must share; None where they are those of the catalog."""
    pattern = identity_of(p.pattern)
    if (former.identity.pattern, former.identity.version) != (pattern.pattern, pattern.version):
        pattern.check_same(former.identity, "the counts of the store")
    if former.identity.features == pattern.features:
        return None
    return tuple(LearnedFeature(name, text, 0, 0.0) for name, text in former.identity.features)


def choose(
    p: ForecastPattern,
    sample: Sample,
    layer: int | None,
    settings: ForecastSettings,
    model: ModelSettings,
    known: Sequence[LearnedFeature] | None = None,
    groups: TrackGroups | None = None,
) -> Choices:
    """The features and the threshold of one pattern; `layer` is the place of a family's layer in the sample."""
    problem = replace(sample_problem(p, sample, layer, model.horizon, settings.max_order), groups=groups)
    features, warnings = _features(p, problem, known)
    pattern = p.compiled(with_features(p.plain.spec, features)) if features else p.pattern
    chosen = Choices(pattern, model, tuple(features) if known is None else (), warnings=warnings)
    return _with_threshold(chosen, p, problem, settings)


def sample_problem(p: ForecastPattern, sample: Sample, layer: int | None, horizon: int, max_order: int) -> Problem:
    """The sampled tracks as one pattern sees them."""
    if layer is None or p.entry.for_each is None:
        sequences = sample.plain
    else:
        sequences = sample.of_family(layer, p.entry.for_each.as_, max(max_order, (horizon + 1) // 2))
    return problem_of(p.pattern, p.plain, sequences, p.attributes, horizon, max_order)


def _features(
    p: ForecastPattern, problem: Problem, known: Sequence[LearnedFeature] | None
) -> tuple[Sequence[LearnedFeature], tuple[str, ...]]:
    if known is not None:
        return known, ()
    if p.entry.learn is None:
        return (), ()
    if not problem.matched.any():
        return (), ("no match in the sample to learn features from: the named features are used",)
    try:
        return learned_on(problem, np.ones(len(problem.sequences), dtype=np.bool_), p.entry.learn.leaves), ()
    except ModelError as error:
        return (), (f"{error} The named features are used.",)


def _with_threshold(chosen: Choices, p: ForecastPattern, problem: Problem, settings: ForecastSettings) -> Choices:
    """Fitted on the begin of each track, chosen on its end; with a threshold of the catalog's, only scored there."""
    sequences, ahead = problem.sequences, chosen.settings.events_ahead
    auto = p.forecast.threshold == "auto"
    if auto and chosen.settings.kind in THRESHOLD_OF_KIND:
        auto = False
        chosen = replace(chosen, settings=replace(chosen.settings, threshold=THRESHOLD_OF_KIND[chosen.settings.kind]))
    everything = np.ones(len(sequences), dtype=np.bool_)
    fit, rest = validation_split(sequences.track, sequences.index, everything, max(ahead, problem.max_order))
    usable = rest & scorable(problem, ahead)
    truth = problem.truth.within(ahead)[usable]
    if not fit.any() or not truth.any():
        threshold = FALLBACK_THRESHOLD if auto else chosen.settings.threshold
        warning = f"no match to choose a threshold on: {threshold} is used"
        return replace(
            chosen, settings=replace(chosen.settings, threshold=threshold), warnings=(*chosen.warnings, warning)
        )
    fitted = _fitted(chosen, problem, fit, settings.min_group_matches)
    threshold = chosen.settings.threshold
    if auto:
        costs = Costs(settings.false_alarm_cost, settings.missed_cost)
        threshold = choose_threshold(fitted.within(ahead)[usable], truth, Criterion(settings.criterion), costs)
    scores = score_at(problem, fitted, rest, ahead, threshold)
    return replace(chosen, settings=replace(chosen.settings, threshold=threshold), scores=scores)


def _fitted(chosen: Choices, problem: Problem, rows: Rows, group_matches: int) -> Fitted:
    """The model on some rows of the sample, by group where there are groups."""
    learn = chosen.settings.learn
    if problem.groups is not None:
        return fitted_groups(chosen.pattern, rows, learn, problem, group_matches)
    counts = count_rows(chosen.pattern, problem.sequences, rows, problem.max_order)
    return fitted_chain(chosen.pattern, counts, learn, problem)
