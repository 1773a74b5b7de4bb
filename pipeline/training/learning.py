"""Learning one model per pattern: features and a threshold on a sample, counts of all events, the model into its store.

Where the events lie does not matter here: Spark counts those of a job, this process those of a frame.
"""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from foresail.models.counts import Counts, GroupedCounts, decay, decay_grouped, half_life_factor, merge, merge_grouped
from foresail.models.groups import GroupModels, build_groups
from foresail.models.model import Model, ModelSettings, build
from foresail.models.scoring.report import LearnedFeature
from foresail.models.store import ModelStore
from foresail.patterns.catalog.loader import Catalog
from foresail.pipeline.errors import InputError
from foresail.pipeline.fitting import OF_COMMANDS, WaysOut
from foresail.pipeline.progress import Progress
from foresail.pipeline.runtime.interruption import interruption_delayed
from foresail.pipeline.settings import ForecastSettings
from foresail.pipeline.training.apart import apart, some_of
from foresail.pipeline.training.choices import Choices, choose, kept_features
from foresail.pipeline.training.count import Counted
from foresail.pipeline.training.forecast_patterns import (
    ForecastPattern,
    catalog_per,
    forecast_patterns,
    reach_by_layer,
    settings_of,
)
from foresail.pipeline.training.model_events import ModelEvents
from foresail.pipeline.training.sample import Sample
from foresail.pipeline.training.symbols import Membership, of_tracks

MICROSECONDS_PER_DAY = 86_400_000_000


@dataclass(frozen=True, slots=True)
class Learning:
    """What is to be learned."""

    catalog: Catalog
    layers: Sequence[str] = ()
    """The names of the layers at hand."""
    skip_unfit: bool = False
    """Leave out, and tell, the patterns that need what the events do not have; otherwise that is an error."""
    add: bool = False
    """Add to the counts that the store keeps; otherwise they are counted anew."""
    half_life_days: float | None = None
    """With `add`: earlier counts weigh half after so many days."""
    order: int | None = None
    """In place of the order that the catalog names."""
    horizon: int | None = None
    per: str | None = None
    """Also a model for each value of this attribute of tracks, or for each `track`; the catalog says otherwise."""
    settings: ForecastSettings = field(default_factory=ForecastSettings)
    ways_out: WaysOut = OF_COMMANDS

    def settings_of(self, p: ForecastPattern) -> ModelSettings:
        """What the model of a pattern is to be."""
        return settings_of(p, self.settings, self.order, self.horizon)


def learn_models(events: ModelEvents, asked: Learning, store: ModelStore, progress: Progress) -> dict[str, Any]:
    """A model of every pattern of the catalog in the store; the summary. A pattern that fails is told and left out."""
    catalog = catalog_per(asked.catalog, asked.per)
    patterns, skipped = forecast_patterns(
        catalog, events.columns, events.types, asked.layers, asked.skip_unfit, asked.ways_out
    )
    with progress.step("looking at a sample of tracks"):
        sample = sample_for(events, patterns, asked.settings.train_sample_events)
    progress.say(
        f"{sample.events:,} of {sample.share.events:,} events are the sample that features and thresholds are chosen on"
    )
    groups = _groups(events, patterns, progress)
    chosen = _chosen(asked, store, patterns, sample, groups, skipped, progress)
    patterns = [p for p in patterns if p.name in chosen]
    some_of(patterns, "trained", skipped)
    with progress.step(f"counting {sample.share.events:,} events"):
        counted = _counted(events, asked, patterns, chosen, groups)
    skipped |= counted.faults
    rows: list[dict[str, Any]] = []
    for p in (p for p in patterns if p.name not in counted.faults):
        with apart(p.name, skipped, progress), progress.step(f"learning {p.name}"):
            rows.append(_learned(asked, store, p, chosen[p.name], counted.groups.get(p.name), progress))
    some_of(rows, "trained", skipped)
    return {
        "patterns": rows,
        "events": sample.share.events,
        "tracks": sample.share.tracks,
        "sample_events": sample.events,
        "skipped": skipped,
    }


def sample_for(events: ModelEvents, patterns: Sequence[ForecastPattern], most_events: int) -> Sample:
    """Whole tracks with every attribute that some pattern reads, and the features that they come near."""
    attributes = dict.fromkeys(name for p in patterns for name in p.read)
    return events.sample(list(attributes), reach_by_layer(patterns), most_events)


def _groups(events: ModelEvents, patterns: Sequence[ForecastPattern], progress: Progress) -> dict[str, Membership]:
    """Which track is in which group, for the patterns that have models by group."""
    per = {p.name: p.forecast.per for p in patterns if p.forecast.per is not None}
    if not per:
        return {}
    with progress.step("looking up the group of each track"):
        found = events.memberships(per.values())
    return {name: found[attribute] for name, attribute in per.items()}


def _chosen(
    asked: Learning,
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
            former = store.counts(p.name) if asked.add else None
            known = kept_features(p, former) if former is not None else None
            place = layers.index(p.layer) if p.layer is not None else None
            mine = of_tracks(groups, p.name, sample.tracks) if p.name in groups else None
            found[p.name] = choose(p, sample, place, asked.settings, asked.settings_of(p), known, mine)
        for warning in found[p.name].warnings if p.name in found else ():
            progress.say(f"{p.name}: {warning}")
    return found


def _counted(
    events: ModelEvents,
    asked: Learning,
    patterns: Sequence[ForecastPattern],
    chosen: Mapping[str, Choices],
    groups: Mapping[str, Membership],
) -> Counted:
    reach = reach_by_layer(patterns)
    plain = tuple(chosen[p.name].pattern for p in patterns if p.layer is None)
    families = {layer: tuple(chosen[p.name].pattern for p in patterns if p.layer == layer) for layer in reach}
    return events.counted(plain, families, reach, asked.settings.max_order, groups)


def _learned(
    asked: Learning,
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
    former = store.counts(p.name) if asked.add else None
    fading = _fading(former, counts, asked.half_life_days)
    total = counts if former is None else merge([decay(former, fading), counts])
    overlap = _overlap(former, counts)
    model = build(chosen.pattern, total, chosen.settings).with_scores(chosen.scores).with_notes(chosen.notes)
    if chosen.trees is not None:
        model = model.with_trees(chosen.trees)
    with interruption_delayed():  # a model and the counts it was learned from are kept together
        groups = _learned_groups(asked, store, p, chosen, grouped, fading if former is not None else None)
        version = store.add(model, groups=groups)
        store.keep_counts(total)
    for note in overlap:
        progress.say(f"{p.name}: {note}")
    warnings = [*chosen.warnings, *overlap]
    row = _row(model, version, total, chosen.features, time.monotonic() - began) | {"warnings": warnings}
    return row if groups is None else row | {"per": groups.per, "groups": list(groups.names)}


def _learned_groups(
    asked: Learning,
    store: ModelStore,
    p: ForecastPattern,
    chosen: Choices,
    counts: GroupedCounts,
    fading: float | None,
) -> GroupModels | None:
    """The models by group, of these counts and (`fading` not none) of earlier ones, which are kept together."""
    per = p.forecast.per
    if per is None or chosen.trees is not None:
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
    return build_groups(chosen.pattern, total, chosen.settings, per, asked.settings.min_group_matches)


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
        "model": model.kind,
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
