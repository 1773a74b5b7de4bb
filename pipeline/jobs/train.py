"""Training: events to counts on Spark, counts to one model per pattern, with its threshold, in the model store."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812

from foresail.geo import Layer
from foresail.models.counts import Counts, GroupedCounts, decay, decay_grouped, half_life_factor, merge, merge_grouped
from foresail.models.groups import GroupModels, build_groups
from foresail.models.model import Model, ModelSettings, build
from foresail.models.scoring.report import LearnedFeature
from foresail.models.store import ModelStore
from foresail.patterns.catalog.loader import Catalog
from foresail.pipeline.batch.kernel_columns import FamilyGroup
from foresail.pipeline.batch.track_walk import Walked
from foresail.pipeline.errors import InputError
from foresail.pipeline.jobs.enrich import events_folder
from foresail.pipeline.jobs.pattern_faults import apart, some_of
from foresail.pipeline.progress import Progress
from foresail.pipeline.runtime.interruption import interruption_delayed
from foresail.pipeline.settings import ForecastSettings
from foresail.pipeline.sources.table import read_events
from foresail.pipeline.stages.since_start import with_start
from foresail.pipeline.training.choices import Choices, choose, kept_features
from foresail.pipeline.training.count import Counted, count_patterns
from foresail.pipeline.training.forecast_pattern import ForecastPattern, settings_of
from foresail.pipeline.training.forecast_patterns import catalog_per, forecast_patterns, layers_at, near_rows
from foresail.pipeline.training.model_store import open_store
from foresail.pipeline.training.sample import collect_sample, share_of
from foresail.pipeline.training.track_groups import Membership, memberships, of_tracks
from foresail.pipeline.training.track_sample import Sample

MICROSECONDS_PER_DAY = 86_400_000_000


@dataclass(frozen=True, slots=True)
class TrainRequest:
    """What to learn from, what to forecast, and where models are kept."""

    events: Sequence[str]
    catalog: Catalog
    models: Path | str
    """A folder, or a URI of a file system that Hadoop knows."""
    types: Mapping[str, str] | None = None
    time_unit: str | None = None
    layers: Path | None = None
    layer_cache: Path = Path("layers")
    skip_unfit: bool = False
    """Leave out, and tell, the patterns that need what the events do not have; otherwise that is an error."""
    add: bool = False
    """Add to the counts that the store keeps; otherwise they are counted anew."""
    half_life_days: float | None = None
    """With `add`: earlier counts weigh half after so many days."""
    since: datetime | None = None
    until: datetime | None = None
    order: int | None = None
    """In place of the order that the catalog names."""
    horizon: int | None = None
    per: str | None = None
    """Also a model for each value of this attribute of tracks, or for each `track`; the catalog says otherwise."""
    settings: ForecastSettings = field(default_factory=ForecastSettings)

    def settings_of(self, p: ForecastPattern) -> ModelSettings:
        """What the model of a pattern is to be."""
        return settings_of(p, self.settings, self.order, self.horizon)


def run_train(spark: SparkSession, request: TrainRequest, progress: Progress) -> dict[str, Any]:
    """Train a model of every pattern of the catalog; the summary. A pattern that fails is told and left out."""
    began = time.monotonic()
    store = open_store(str(request.models), lambda: spark)
    with progress.step("reading events"):
        events = events_between(read_training_events(spark, request), request.since, request.until)
    layers = layers_at(request.layers, request.layer_cache, progress)
    catalog = catalog_per(request.catalog, request.per)
    patterns, skipped = forecast_patterns(catalog, events, layers, request.skip_unfit)
    with progress.step("looking at a sample of tracks"):
        sample = sample_for(events, patterns, layers, request.settings.train_sample_events)
    progress.say(
        f"{sample.events:,} of {sample.share.events:,} events are the sample that features and thresholds are chosen on"
    )
    groups = _groups(events, patterns, progress)
    chosen = _chosen(request, store, patterns, sample, groups, skipped, progress)
    patterns = [p for p in patterns if p.name in chosen]
    some_of(patterns, "trained", skipped)
    with progress.step(f"counting {sample.share.events:,} events"):
        counted = _counted(events, request, patterns, chosen, layers, groups)
    skipped |= counted.faults
    rows: list[dict[str, Any]] = []
    for p in (p for p in patterns if p.name not in counted.faults):
        with apart(p.name, skipped, progress), progress.step(f"learning {p.name}"):
            rows.append(_learned(request, store, p, chosen[p.name], counted.groups.get(p.name), progress))
    some_of(rows, "trained", skipped)
    return {
        "patterns": rows,
        "events": sample.share.events,
        "tracks": sample.share.tracks,
        "sample_events": sample.events,
        "skipped": skipped,
        "models": str(request.models),
        "seconds": round(time.monotonic() - began, 3),
    }


def read_training_events(spark: SparkSession, request: TrainRequest) -> DataFrame:
    """The events that can be read; what cannot is told by `foresail recognise` and `ingest`."""
    paths = [events_folder(path) for path in request.events]
    return with_start(read_events(spark, paths, request.types, request.time_unit).good, request.catalog)


def events_between(events: DataFrame, since: datetime | None, until: datetime | None) -> DataFrame:
    """The events from `since` on and before `until`."""
    if since is not None:
        events = events.where(F.col("time") >= F.lit(since))
    if until is not None:
        events = events.where(F.col("time") < F.lit(until))
    return events


def sample_for(
    events: DataFrame, patterns: Sequence[ForecastPattern], layers: Mapping[str, Layer], most_events: int
) -> Sample:
    """Whole tracks with every attribute that some pattern reads, and the features that they come near."""
    attributes = dict.fromkeys(name for p in patterns for name in p.read)
    return collect_sample(
        events, list(attributes), share_of(events, most_events), list(near_rows(patterns, layers).values())
    )


def _groups(events: DataFrame, patterns: Sequence[ForecastPattern], progress: Progress) -> dict[str, Membership]:
    """Which track is in which group, for the patterns that have models by group."""
    per = {p.name: p.forecast.per for p in patterns if p.forecast.per is not None}
    if not per:
        return {}
    with progress.step("looking up the group of each track"):
        found = memberships(events, per.values())
    return {name: found[attribute] for name, attribute in per.items()}


def _chosen(
    request: TrainRequest,
    store: ModelStore,
    patterns: Sequence[ForecastPattern],
    sample: Sample,
    groups: Mapping[str, Membership],
    skipped: dict[str, str],
    progress: Progress,
) -> dict[str, Choices]:
    layers = list(dict.fromkeys(p.layer for p in patterns if p.layer is not None))
    found: dict[str, Choices] = {}
    for p in patterns:
        with apart(p.name, skipped, progress), progress.step(f"choosing features and threshold of {p.name}"):
            former = store.counts(p.name) if request.add else None
            known = kept_features(p, former) if former is not None else None
            place = layers.index(p.layer) if p.layer is not None else None
            mine = of_tracks(groups, p.name, sample.tracks) if p.name in groups else None
            found[p.name] = choose(p, sample, place, request.settings, request.settings_of(p), known, mine)
        for warning in found[p.name].warnings if p.name in found else ():
            progress.say(f"{p.name}: {warning}")
    return found


def _counted(
    events: DataFrame,
    request: TrainRequest,
    patterns: Sequence[ForecastPattern],
    chosen: Mapping[str, Choices],
    layers: Mapping[str, Layer],
    groups: Mapping[str, Membership],
) -> Counted:
    families = []
    for layer, near in near_rows(patterns, layers).items():
        mine = tuple(chosen[p.name].pattern for p in patterns if p.layer == layer)
        families.append(FamilyGroup(mine, near, near.in_workers(mine)))
    changed = request.types or request.since or request.until
    paths = () if changed else tuple(events_folder(path) for path in request.events)
    plain = tuple(chosen[p.name].pattern for p in patterns if p.layer is None)
    return count_patterns(Walked(events, plain, tuple(families), paths), request.settings.max_order, groups)


def _learned(
    request: TrainRequest,
    store: ModelStore,
    p: ForecastPattern,
    chosen: Choices,
    grouped: GroupedCounts | None,
    progress: Progress,
) -> dict[str, Any]:
    began = time.monotonic()
    if grouped is None:
        msg = f"{p.name}: there are no events to count. Give events that reach its layer, or widen --from and --to."
        raise InputError(msg)
    counts = grouped.together()
    former = store.counts(p.name) if request.add else None
    fading = _fading(former, counts, request.half_life_days)
    total = counts if former is None else merge([decay(former, fading), counts])
    overlap = _overlap(former, counts)
    model = build(chosen.pattern, total, chosen.settings).with_scores(chosen.scores)
    with interruption_delayed():  # a model and the counts it was learned from are kept together
        groups = _learned_groups(request, store, p, chosen, grouped, fading if former is not None else None)
        version = store.add(model, groups=groups)
        store.keep_counts(total)
    for note in overlap:
        progress.say(f"{p.name}: {note}")
    warnings = [*chosen.warnings, *overlap]
    row = _row(model, version, total, chosen.features, time.monotonic() - began) | {"warnings": warnings}
    return row if groups is None else row | {"per": groups.per, "groups": list(groups.names)}


def _learned_groups(
    request: TrainRequest,
    store: ModelStore,
    p: ForecastPattern,
    chosen: Choices,
    counts: GroupedCounts,
    fading: float | None,
) -> GroupModels | None:
    """The models by group, of these counts and (`fading` not none) of earlier ones, which are kept together."""
    per = p.forecast.per
    if per is None:
        return None
    total = counts
    if fading is not None:
        former = store.counts_by_group(p.name, per)
        if former is None:
            msg = (
                f"{p.name}: earlier training did not count per {per}, so --add would miss its events. "
                "Count all of them anew, without --add."
            )
            raise InputError(msg)
        total = merge_grouped([decay_grouped(former, fading), counts])
    store.keep_counts_by_group(total, per)
    return build_groups(chosen.pattern, total, chosen.settings, per, request.settings.min_group_matches)


def _overlap(former: Counts | None, fresh: Counts) -> list[str]:
    if former is None or former.last_us is None or fresh.first_us is None or fresh.first_us > former.last_us:
        return []
    since = datetime.fromtimestamp(former.last_us / 1e6, UTC).isoformat(timespec="seconds")
    return [f"events up to {since} were counted before and may now count twice: give --from {since[:19]}"]


def _fading(former: Counts | None, fresh: Counts, half_life_days: float | None) -> float:
    """What earlier counts weigh now."""
    if half_life_days is None or former is None or former.last_us is None or fresh.last_us is None:
        return 1.0
    return half_life_factor(max(0.0, (fresh.last_us - former.last_us) / MICROSECONDS_PER_DAY), half_life_days)


def _row(
    model: Model, version: str, counts: Counts, features: Sequence[LearnedFeature], seconds: float
) -> dict[str, Any]:
    return {
        "pattern": model.pattern,
        "model_version": version,
        "order": model.settings.learn.order,
        "symbols": len(model.codes),
        "contexts": len(model.contexts),
        "chain_states": model.chain.states,
        "events": round(counts.events),
        "matches": round(counts.matches),
        "threshold": model.settings.threshold,
        "scores": dict(model.header.scores),
        "notes": list(model.header.notes),
        "features": [{"name": f.name, "text": f.text} for f in features],
        "sampling_step_s": model.header.sampling_step_s,
        "seconds": round(seconds, 3),
    }
