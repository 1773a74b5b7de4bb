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
from foresail.models.scoring.tree_contenders import fitted_trees, train_on, tree_problem
from foresail.models.trees.fitting import Trained, TreeKind, TreeSettings, fitted_on_all
from foresail.models.trees.part import TreePart
from foresail.patterns.compiler import CompiledPattern
from foresail.pipeline.settings import ForecastSettings
from foresail.pipeline.training.forecast_patterns import ForecastPattern
from foresail.pipeline.training.sample import Sample

FALLBACK_THRESHOLD = 0.2
"""Where there is nothing to choose one on; rare events need a low one."""
KINDS_OF: dict[str, tuple[TreeKind, ...]] = {"hazard": ("hazard",), "forest": ("forest",), "auto": ("hazard",)}
"""Which trees are fitted for what the catalog asks; a forest is slow to ask, so it is chosen by name alone."""
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
    trees: TreePart | None = None
    """What forecasts in place of the chain."""
    notes: tuple[str, ...] = ()
    """Why these were chosen."""


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
    if not p.has_trees:
        return _with_threshold(chosen, p, problem, settings)
    return _with_trees(chosen, p, problem, settings)


def _with_trees(chosen: Choices, p: ForecastPattern, problem: Problem, settings: ForecastSettings) -> Choices:
    """The trees, fitted on all of the sample, with a threshold that was chosen on its newest events by older ones."""
    if not problem.matched.any():
        alone = _with_threshold(chosen, p, problem, settings)
        return replace(alone, warnings=(*alone.warnings, "no match in the sample to fit trees on: a chain is trained"))
    asked = tree_problem(problem, p.inputs, (chosen.settings.events_ahead,), chosen.pattern)
    kinds, grown = KINDS_OF[p.forecast.model], TreeSettings.of(settings.tree_events)
    everything = np.ones(len(problem.sequences), dtype=np.bool_)
    found: dict[str, Trained] = {kind: train_on(kind, problem, asked.examples, everything, grown) for kind in kinds}
    judged: dict[str, Choices] = {
        kind: _with_threshold(
            chosen, p, problem, settings, fitted_trees(one.trees, asked.examples.inputs, problem.horizon)
        )
        for kind, one in found.items()
    }
    if p.forecast.model == "auto":
        judged["chain"] = _with_threshold(chosen, p, problem, settings)
    best, why = _best(judged, p.forecast.model == "auto")
    if best == "chain":
        return replace(judged[best], notes=why)
    whole = fitted_on_all(found[best], asked.examples, everything & problem.sequences.scored, grown)
    part = TreePart(asked.plan, whole.trees, int(everything.sum()))
    groups = (
        (f"the trees read {p.forecast.per} as they read other attributes: there are no models per {p.forecast.per}",)
        if p.forecast.per
        else ()
    )
    return replace(judged[best], trees=part, notes=why, warnings=(*judged[best].warnings, *groups))


def _best(judged: Mapping[str, Choices], say: bool) -> tuple[str, tuple[str, ...]]:
    """The kind with the least Brier score on the newest events, which none had seen; of equal ones the first."""
    score = {kind: found.scores.get("brier", float("inf")) for kind, found in judged.items()}
    best = min(score, key=lambda kind: score[kind])
    if not say:
        return best, ()
    if score[best] == float("inf"):
        return "chain", ("auto chose chain: the newest quarter of the sample has no match to judge others on",)
    told = ", ".join(f"{kind} {score[kind]:.4f}" for kind in score)
    return best, (f"auto chose {best}: Brier score on the newest quarter of the sample {told}",)


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


def _with_threshold(
    chosen: Choices,
    p: ForecastPattern,
    problem: Problem,
    settings: ForecastSettings,
    judged: Fitted | None = None,
) -> Choices:
    """Fitted on the begin of each track, chosen on its end; with a threshold of the catalog's, only scored there.

    `judged` has been fitted on the begin; without it the chain is.
    """
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
    fitted = judged or _fitted(chosen, problem, fit, settings.min_group_matches)
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
