"""The models of a store that serve the patterns of a catalog, and what a job says of their forecasts."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from foresail.models.features import with_features
from foresail.models.groups import GroupModels
from foresail.models.inputs.columns import InputColumn
from foresail.models.model import Emission, Model
from foresail.models.reader import input_columns_of
from foresail.models.sampling import step_warning
from foresail.models.scoring.report import LearnedFeature
from foresail.models.store import CHAMPION, ModelStore
from foresail.patterns.compiler import CompiledPattern
from foresail.patterns.recognition.tables import shared_conditions
from foresail.patterns.spec import PatternSpec
from foresail.pipeline.batch.forecast_worker import (
    FORECASTS,
    POSITIVE,
    STEP,
    BeginForecasting,
    GroupsServed,
    ServingModels,
)
from foresail.pipeline.batch.tally import EVENTS, Counts, Tally
from foresail.pipeline.errors import InputError
from foresail.pipeline.training.forecast_patterns import ForecastPattern
from foresail.pipeline.training.symbols import Membership


@dataclass(frozen=True, slots=True)
class Served:
    """A pattern with the model that forecasts it, compiled as the model was trained."""

    pattern: ForecastPattern
    compiled: CompiledPattern
    model: Model
    groups: GroupModels | None = None
    """Models of groups of tracks, which serve in its place where they know a track."""


@dataclass(frozen=True, slots=True)
class Choosing:
    """Which models are asked, and how sure they must be."""

    version: str = CHAMPION
    threshold: float | None = None
    """In place of the one that training chose."""
    skip_unfit: bool = False
    """Leave out, and tell, the patterns without a model; otherwise that is an error."""


def models_for(
    store: ModelStore, patterns: Sequence[ForecastPattern], choosing: Choosing, columns: Sequence[str]
) -> tuple[list[Served], dict[str, str]]:
    """The patterns with their models, and those that have none, with the reason; `columns` are those of the events."""
    served, without = [], {}
    for p in patterns:
        if choosing.skip_unfit and not store.versions(p.name):
            without[p.name] = "there is no model of it: run `foresail train`"
            continue
        model, groups = store.load(p.name, choosing.version), store.load_groups(p.name, choosing.version)
        if choosing.threshold is not None:
            model = model.with_settings(threshold=choosing.threshold)
            groups = groups and groups.with_threshold(choosing.threshold)
        missing = missing_inputs(model, columns)
        if missing and choosing.skip_unfit:
            without[p.name] = missing
            continue
        if missing:
            raise InputError(missing)
        served.append(served_by(p, model, groups))
    if not served:
        msg = f"{store.storage.place}: has no model of any of these patterns. Train them with `foresail train`."
        raise InputError(msg)
    return served, without


def missing_inputs(model: Model, columns: Sequence[str]) -> str:
    """What to say of a model that reads attributes which the events do not have; nothing where they have all."""
    lacking = [column.name for column in input_columns_of([model]) if column.name.partition(".")[0] not in columns]
    if not lacking:
        return ""
    return (
        f"{model.pattern}: {model.version} reads {', '.join(lacking)}, which these events lack. "
        "Add what it was trained with, or train it on events like these."
    )


def inputs_of(served: Sequence[Served]) -> tuple[InputColumn, ...]:
    """The columns that the trees of these models read, each once."""
    return input_columns_of([s.model for s in served])


def served_by(pattern: ForecastPattern, model: Model, groups: GroupModels | None = None) -> Served:
    """The pattern compiled with the features of the model; refused where the model is for another version of it."""
    compiled = pattern.compiled(_spec_of(pattern, model))
    model.check(compiled)
    return Served(pattern, compiled, model, groups)


def _spec_of(pattern: ForecastPattern, model: Model) -> PatternSpec:
    """The catalog's spec with the features the model knows: its own, or those that were learned."""
    named = tuple((text.name, text.text.strip()) for text in pattern.pattern.spec.features)
    features = model.header.identity.features
    if features == named:
        return pattern.pattern.spec
    return with_features(pattern.plain.spec, [LearnedFeature(name, text, 0, 0.0) for name, text in features])


def with_known_groups(served: Sequence[Served], columns: Sequence[str]) -> tuple[list[Served], list[str]]:
    """Without the models of groups that these events do not tell, and a word on each pattern they are left out of."""
    found, warnings = [], []
    for s in served:
        known = s.groups is None or s.groups.per in columns
        found.append(s if known else replace(s, groups=None))
        if not known:
            assert s.groups is not None, "there are groups that are not known"
            warnings.append(
                f"{s.model.pattern}: has models per {s.groups.per}, which these events lack: "
                f"the one of all tracks, {s.model.version}, is used"
            )
    return found, warnings


def families_of(served: Sequence[Served]) -> dict[str, tuple[CompiledPattern, ...]]:
    """The families that are forecast, by layer, compiled as their models were trained."""
    layers = dict.fromkeys(s.pattern.layer for s in served if s.pattern.layer is not None)
    return {layer: tuple(s.compiled for s in served if s.pattern.layer == layer) for layer in layers}


def plain_of(served: Sequence[Served]) -> tuple[CompiledPattern, ...]:
    """The patterns that are forecast and no families, compiled as their models were trained."""
    return tuple(s.compiled for s in served if s.pattern.layer is None)


def begin_forecasting(
    served: Sequence[Served], per: Mapping[str, Membership], emission: Emission, tally: Tally | None = None
) -> BeginForecasting:
    """The walk that asks these models; `per` says for each attribute which track is in which group."""
    by_name = {s.model.pattern: s for s in served}

    def serving(patterns: Sequence[CompiledPattern]) -> ServingModels:
        mine = [by_name[pattern.name] for pattern in patterns]
        groups = tuple(GroupsServed(s.groups, per[s.groups.per]) if s.groups else None for s in mine)
        models = tuple(s.model for s in mine)
        return ServingModels(models, shared_conditions(patterns), groups if any(groups) else ())

    families = {layer: serving(patterns) for layer, patterns in families_of(served).items()}
    return BeginForecasting(serving(plain_of(served)), families, emission, tally)


def forecast_summary(
    served: Sequence[Served], counts: Counts, place: Path, seconds: float, warnings: Sequence[str]
) -> dict[str, Any]:
    """What a job says of its forecasts, as workers have counted them."""
    steps = {name: number for (kind, name), number in counts.items() if kind == STEP}
    step_s = float(max(steps, key=lambda name: steps[name])) if steps else None
    steps_differ = [warning for s in served if (warning := step_warning(s.model, step_s))]
    events = counts[EVENTS, ""]
    return {
        "events": events,
        "forecasts": sum(counts[FORECASTS, s.model.pattern] for s in served),
        "positive": sum(counts[POSITIVE, s.model.pattern] for s in served),
        "patterns": [
            {
                "pattern": s.model.pattern,
                "model_version": s.model.version,
                "kind": s.model.settings.kind,
                "within": s.model.settings.events_ahead,
                "threshold": s.model.settings.threshold,
                **_group_facts(s.groups),
                "forecasts": counts[FORECASTS, s.model.pattern],
                "positive": counts[POSITIVE, s.model.pattern],
            }
            for s in served
        ],
        "step_s": step_s,
        "warnings": [*warnings, *silent_models(served), *steps_differ],
        "seconds": round(seconds, 3),
        "events_per_second": round(events / max(seconds, 1e-9)),
        "output": str(place),
    }


def silent_models(served: Sequence[Served]) -> list[str]:
    """A word on each model that cannot forecast anything."""
    return [
        f"{s.model.pattern}: {s.model.version} met no match in training: every forecast of it is 0"
        for s in served
        if s.model.header.training.matches <= 0
    ]


def _group_facts(groups: GroupModels | None) -> dict[str, Any]:
    if groups is None:
        return {}
    return {"per": groups.per, "group_models": {name: model.version for name, model in groups.models.items()}}
