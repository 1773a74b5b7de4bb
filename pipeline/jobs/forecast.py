"""Batch forecasting: events in, forecasts out, by the models of a store."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, SparkSession

from foresail.geo import Layer
from foresail.models.features import with_features
from foresail.models.groups import GroupModels
from foresail.models.model import Emission, Model
from foresail.models.sampling import step_warning
from foresail.models.scoring.report import LearnedFeature
from foresail.models.store import CHAMPION, ModelStore
from foresail.patterns.catalog.loader import Catalog
from foresail.patterns.compiler import CompiledPattern
from foresail.patterns.spec import PatternSpec
from foresail.pipeline.batch.forecast_worker import FORECASTS, POSITIVE, STEP, GroupsServed
from foresail.pipeline.batch.kernel_columns import FamilyGroup
from foresail.pipeline.batch.tally import EVENTS, Tally, open_tally
from foresail.pipeline.batch.track_walk import Walked
from foresail.pipeline.errors import InputError
from foresail.pipeline.jobs.enrich import events_folder
from foresail.pipeline.progress import Progress
from foresail.pipeline.sinks.forecasts import write_forecasts
from foresail.pipeline.sinks.output_folder import claim_output
from foresail.pipeline.sources.table import read_events
from foresail.pipeline.stages.forecast import Forecast
from foresail.pipeline.stages.since_start import with_start
from foresail.pipeline.training.forecast_pattern import ForecastPattern
from foresail.pipeline.training.forecast_patterns import forecast_patterns, layers_at, near_rows
from foresail.pipeline.training.model_store import open_store
from foresail.pipeline.training.track_groups import memberships


@dataclass(frozen=True, slots=True)
class ForecastRequest:
    """What to forecast, with which models, and where to write."""

    events: Sequence[str]
    catalog: Catalog
    models: Path | str
    """A folder, or a URI of a file system that Hadoop knows."""
    out: Path
    form: str = "parquet"
    emission: Emission = "all"
    types: Mapping[str, str] | None = None
    time_unit: str | None = None
    layers: Path | None = None
    layer_cache: Path = Path("layers")
    skip_unfit: bool = False
    """Leave out, and tell, the patterns without a model or that the events do not fit; otherwise that is an error."""
    version: str = CHAMPION
    threshold: float | None = None
    """In place of the one that training chose."""


@dataclass(frozen=True, slots=True)
class Served:
    """A pattern with the model that forecasts it, compiled as the model was trained."""

    pattern: ForecastPattern
    compiled: CompiledPattern
    model: Model
    groups: GroupModels | None = None
    """Models of groups of tracks, which serve in its place where they know a track."""


def run_forecast(spark: SparkSession, request: ForecastRequest, progress: Progress) -> dict[str, Any]:
    """Forecast the patterns of the catalog; the summary."""
    began = time.monotonic()
    claim_output(request.out, "forecast")
    with progress.step("reading events"):
        paths = [events_folder(path) for path in request.events]
        events = with_start(read_events(spark, paths, request.types, request.time_unit).good, request.catalog)
    layers = layers_at(request.layers, request.layer_cache, progress)
    patterns, skipped = forecast_patterns(request.catalog, events, layers, request.skip_unfit)
    with progress.step("loading models"):
        served, without = _served(open_store(str(request.models), lambda: spark), request, patterns)
    served, warnings = _with_known_groups(served, events.columns)
    tally = open_tally(spark.sparkContext)
    walked = walked_for(events, served, layers, () if request.types else tuple(paths))
    with progress.step("forecasting"):
        place = write_forecasts(
            forecast_stage(walked, served, request.emission, tally).told(), request.out, request.form
        )
    summary = _summary(served, tally, place, time.monotonic() - began, warnings)
    for warning in summary["warnings"]:
        progress.say(warning)
    return summary | {"skipped": {**skipped, **without}}


def walked_for(
    events: DataFrame, served: Sequence[Served], layers: Mapping[str, Layer], paths: tuple[str, ...] = ()
) -> Walked:
    """The events with the patterns as their models know them."""
    groups = []
    for layer, near in near_rows([s.pattern for s in served], layers).items():
        patterns = tuple(s.compiled for s in served if s.pattern.layer == layer)
        groups.append(FamilyGroup(patterns, near, near.in_workers(patterns)))
    return Walked(events, tuple(s.compiled for s in served if s.pattern.layer is None), tuple(groups), paths)


def forecast_stage(
    walked: Walked, served: Sequence[Served], emission: Emission, tally: Tally | None = None
) -> Forecast:
    """The stage that asks these models."""
    per = memberships(walked.events, (s.groups.per for s in served if s.groups))
    groups = {s.model.pattern: GroupsServed(s.groups, per[s.groups.per]) for s in served if s.groups}
    by_name = {s.model.pattern: s.model for s in served}
    plain = tuple(by_name[pattern.name] for pattern in walked.plain)
    families = tuple(tuple(by_name[pattern.name] for pattern in group.patterns) for group in walked.families)
    return Forecast(walked, plain, families, emission, tally, groups)


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


def _served(
    store: ModelStore, request: ForecastRequest, patterns: Sequence[ForecastPattern]
) -> tuple[list[Served], dict[str, str]]:
    served, without = [], {}
    for p in patterns:
        if request.skip_unfit and not store.versions(p.name):
            without[p.name] = "there is no model of it: run `foresail train`"
            continue
        model, groups = store.load(p.name, request.version), store.load_groups(p.name, request.version)
        if request.threshold is not None:
            model = model.with_settings(threshold=request.threshold)
            groups = groups and groups.with_threshold(request.threshold)
        served.append(served_by(p, model, groups))
    if not served:
        msg = f"{request.models}: has no model of any of these patterns. Train them with `foresail train`."
        raise InputError(msg)
    return served, without


def _with_known_groups(served: Sequence[Served], columns: Sequence[str]) -> tuple[list[Served], list[str]]:
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


def _summary(
    served: Sequence[Served], tally: Tally, place: Path, seconds: float, warnings: Sequence[str]
) -> dict[str, Any]:
    counts = tally.value
    steps = {name: number for (kind, name), number in counts.items() if kind == STEP}
    step_s = float(max(steps, key=lambda name: steps[name])) if steps else None
    silent = [
        f"{s.model.pattern}: {s.model.version} met no match in training: every forecast of it is 0"
        for s in served
        if s.model.header.training.matches <= 0
    ]
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
                **_groups_told(s.groups),
                "forecasts": counts[FORECASTS, s.model.pattern],
                "positive": counts[POSITIVE, s.model.pattern],
            }
            for s in served
        ],
        "step_s": step_s,
        "warnings": [*warnings, *silent, *steps_differ],
        "seconds": round(seconds, 3),
        "events_per_second": round(events / seconds),
        "output": str(place),
    }


def _groups_told(groups: GroupModels | None) -> dict[str, Any]:
    if groups is None:
        return {}
    return {"per": groups.per, "group_models": {name: model.version for name, model in groups.models.items()}}
