"""The one Spark job of scheduled training: the events of an interval become counts, and a sample of held-out tracks."""

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

from pyspark.sql import DataFrame, SparkSession

from foresail.geo import Layer
from foresail.models.counts import Counts
from foresail.models.features import with_features
from foresail.models.store import Interval, ModelStore
from foresail.models.store.intervals import interval_between
from foresail.patterns.compiler import CompiledPattern
from foresail.pipeline.batch.families import layers_at
from foresail.pipeline.conditions.spark import attribute_types
from foresail.pipeline.errors import InputError
from foresail.pipeline.jobs.train import TrainRequest, events_between
from foresail.pipeline.progress import Progress
from foresail.pipeline.settings import TrainingSettings
from foresail.pipeline.sources.table import RowCounts
from foresail.pipeline.training.apart import apart, some_of
from foresail.pipeline.training.choices import choose, kept_features
from foresail.pipeline.training.count import Counted
from foresail.pipeline.training.forecast_patterns import (
    ForecastPattern,
    forecast_patterns,
    reach_by_layer,
    settings_of,
)
from foresail.pipeline.training.held_out import HeldOut, is_held_out, write_held_out
from foresail.pipeline.training.learning import sample_for
from foresail.pipeline.training.model_store import open_store
from foresail.pipeline.training.readable_events import readable_events
from foresail.pipeline.training.sample import Sample
from foresail.pipeline.training.spark_events import SparkEvents


def count_interval(
    spark: SparkSession, request: TrainRequest, training: TrainingSettings, progress: Progress
) -> dict[str, Any]:
    """Count the events from `since` until before `until` into the store; an interval without events is no fault."""
    _times(request)
    events, rows_read = _read(spark, request, progress)
    return _counted_interval(spark, request, events, training, progress) | rows_read.summary


def _read(spark: SparkSession, request: TrainRequest, progress: Progress) -> tuple[DataFrame, RowCounts]:
    """All events, and how many rows of the whole input became none: a rejected row may have no time to belong to."""
    with progress.step("reading events"):
        return readable_events(spark, request)


def _counted_interval(
    spark: SparkSession, request: TrainRequest, every: DataFrame, training: TrainingSettings, progress: Progress
) -> dict[str, Any]:
    began = time.monotonic()
    interval = interval_between(*_times(request))
    store = open_store(str(request.models), lambda: spark)
    events = events_between(every, request.since, request.until)
    if events.isEmpty():
        progress.say(f"there are no events from {request.since} to {request.until}: nothing is counted")
        return _summary(interval, {}, {}, 0, began)
    layers = layers_at(request.layers, request.layer_cache, progress)
    patterns, skipped = forecast_patterns(
        request.catalog, events.columns, attribute_types(events.schema), layers, request.skip_unfit
    )
    held = is_held_out(training.held_out_share)
    with progress.step("choosing features"):
        compiled = _compiled(request, store, patterns, events.where(~held), layers, skipped, progress)
    patterns = [p for p in patterns if p.name in compiled]
    some_of(patterns, "counted", skipped)
    with progress.step(f"counting {interval}"):
        counted = _counted(events.where(~held), request, patterns, compiled, layers)
    skipped |= counted.faults
    counts = counted.together
    for found in counts.values():
        store.keep_interval(found, interval)
    kept = _hold_out(events.where(held), patterns, layers, training, store, interval, progress)
    return _summary(interval, counts, skipped, kept, began)


def count_each_day(
    spark: SparkSession, request: TrainRequest, training: TrainingSettings, progress: Progress
) -> dict[str, Any]:
    """Count every day (UTC) from `since` until before `until` as an interval of its own."""
    began = time.monotonic()
    days = list(days_between(*_times(request)))
    events, rows_read = _read(spark, request, progress)
    counted = [
        _counted_interval(spark, replace(request, since=since, until=until), events, training, progress)
        for since, until in days
    ]
    return {"intervals": counted, **rows_read.summary, "seconds": round(time.monotonic() - began, 3)}


def days_between(since: datetime, until: datetime) -> Iterator[tuple[datetime, datetime]]:
    """The days between two moments; the first and the last one as far as they are between them."""
    while since < until:
        midnight = datetime(since.year, since.month, since.day, tzinfo=UTC) + timedelta(days=1)
        yield since, min(midnight, until)
        since = midnight


def _times(request: TrainRequest) -> tuple[datetime, datetime]:
    if request.since is None or request.until is None:
        msg = "--count-only: counts are kept by interval. Give --from and --to."
        raise InputError(msg)
    return request.since, request.until


def _compiled(
    request: TrainRequest,
    store: ModelStore,
    patterns: Sequence[ForecastPattern],
    events: DataFrame,
    layers: Mapping[str, Layer],
    skipped: dict[str, str],
    progress: Progress,
) -> dict[str, CompiledPattern]:
    """The patterns with the features that earlier intervals count; learned on the first one."""
    found: dict[str, CompiledPattern] = {}
    sample: Sample | None = None
    most, how = request.settings.train_sample_events, request.settings
    names = list(dict.fromkeys(p.layer for p in patterns if p.layer is not None))
    for p in patterns:
        with apart(p.name, skipped, progress):
            former = store.last_counts(p.name)
            if former is not None and former.identity.version == p.pattern.version:
                known = kept_features(p, former)
                found[p.name] = p.compiled(with_features(p.plain.spec, known)) if known else p.pattern
            elif p.entry.learn is None:
                found[p.name] = p.pattern
            else:
                sample = sample or sample_for(SparkEvents(events, layers), patterns, most)
                place = names.index(p.layer) if p.layer is not None else None
                found[p.name] = choose(
                    p, sample, place, how, settings_of(p, how, request.order, request.horizon)
                ).pattern
    return found


def _counted(
    events: DataFrame,
    request: TrainRequest,
    patterns: Sequence[ForecastPattern],
    compiled: Mapping[str, CompiledPattern],
    layers: Mapping[str, Layer],
) -> Counted:
    plain = tuple(compiled[p.name] for p in patterns if p.layer is None)
    reach = reach_by_layer(patterns)
    families = {layer: tuple(compiled[p.name] for p in patterns if p.layer == layer) for layer in reach}
    return SparkEvents(events, layers).counted(plain, families, reach, request.settings.max_order, {})


def _hold_out(
    events: DataFrame,
    patterns: Sequence[ForecastPattern],
    layers: Mapping[str, Layer],
    training: TrainingSettings,
    store: ModelStore,
    interval: Interval,
    progress: Progress,
) -> int:
    if events.isEmpty():
        progress.say("no track of the interval is held out: models are judged on earlier ones")
        return 0
    with progress.step("keeping the held-out tracks"):
        sample = sample_for(SparkEvents(events, layers), patterns, training.held_out_events)
        names = tuple(dict.fromkeys(p.layer for p in patterns if p.layer is not None))
        write_held_out(store.storage, interval, HeldOut(sample, names, attribute_types(events.schema)))
    return sample.events


def _summary(
    interval: Interval, counts: Mapping[str, Counts], skipped: Mapping[str, str], held_out: int, began: float
) -> dict[str, Any]:
    rows = [
        {"pattern": name, "events": round(found.events), "matches": round(found.matches)}
        for name, found in counts.items()
    ]
    return {
        "interval": str(interval),
        "patterns": rows,
        "held_out_events": held_out,
        "skipped": dict(skipped),
        "seconds": round(time.monotonic() - began, 3),
    }
