"""The patterns and models of a live line, compiled, and what must cross into Python for them."""

import hashlib
import json
import logging
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from geo import Layer
from models.model import Model
from models.store import ModelStore
from patterns.catalog.entry import PatternEntry
from patterns.catalog.loader import Catalog
from patterns.compiler import CompiledPattern, compile_pattern
from patterns.conditions.inspection import attributes_of
from patterns.conditions.syntax import Condition
from patterns.conditions.text import text_of
from patterns.conditions.typing import AttributeType
from patterns.errors import UnknownAttributeError
from patterns.recognition.tables import shared_conditions
from patterns.spec import without_features
from pipeline.errors import InputError
from pipeline.settings import StreamSettings
from pipeline.stages.families import Family
from pipeline.stream.line_spec import FamilySpec, LineSpec

LOGGER = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Compiled:
    """The catalog as this line runs it."""

    spec: LineSpec
    families: tuple[tuple[Family, ...], ...]
    """The families of each layer, as `spec.families` has them."""
    entries: dict[str, PatternEntry]
    skipped: dict[str, str]
    """Patterns that the events do not fit, with the reason."""
    attributes: tuple[str, ...]
    """What the conditions read of an event."""


def compile_line(
    catalog: Catalog, known: Mapping[str, AttributeType], layers: Mapping[str, Layer], stream: StreamSettings
) -> Compiled:
    """The patterns that the events fit; without any named in the settings, those that do not fit are left out."""
    plain: list[CompiledPattern] = []
    families: dict[str, list[Family]] = {}
    skipped: dict[str, str] = {}
    for entry in catalog:
        try:
            pattern = _compiled(entry, known, layers)
        except (UnknownAttributeError, InputError) as error:
            if stream.patterns:
                raise
            skipped[entry.name] = str(error)
            continue
        if entry.for_each:
            families.setdefault(entry.for_each.layer, []).append(Family(entry, pattern))
        else:
            plain.append(pattern)
    if not plain and not families:
        msg = f"stream.patterns: the events fit none of the {len(catalog)} patterns. {next(iter(skipped.values()), '')}"
        raise InputError(msg)
    models = _models(stream, [*plain, *(family.pattern for some in families.values() for family in some)])
    spec = _spec(plain, list(families.values()), models, stream)
    types = {
        name: kind for name, kind in known.items() if name in {"lon", "lat", *_attributes(spec), *stream.attributes}
    }
    spec = replace(spec, types=types)
    entries = {entry.name: entry for entry in catalog if entry.name not in skipped}
    return Compiled(spec, tuple(map(tuple, families.values())), entries, skipped, tuple(types))


def _compiled(entry: PatternEntry, known: Mapping[str, AttributeType], layers: Mapping[str, Layer]) -> CompiledPattern:
    if entry.reads == "pairs":
        msg = f"{entry.name}: reads pairs of tracks, which a stream does not make. Leave it out."
        raise InputError(msg)
    if entry.for_each and entry.for_each.layer not in layers:
        msg = f"{entry.name}: is a family over the layer '{entry.for_each.layer}'. Name it in the file of layers.file."
        raise InputError(msg)
    return compile_pattern(without_features(entry.spec()), known)


def _models(stream: StreamSettings, patterns: Sequence[CompiledPattern]) -> dict[str, Model]:
    if stream.models is None:
        return {}
    store = ModelStore(stream.models)
    there = {pattern.name for pattern in patterns} & set(store.patterns())
    missing = sorted(set(stream.forecast) - there)
    if missing:
        msg = f"stream.forecast: {missing[0]} has no model in {stream.models}, or is no pattern of this line."
        raise InputError(msg)
    wanted = stream.forecast or sorted(there)
    for name in wanted:
        if store.has_groups(name):
            LOGGER.warning("%s: has models by group, which a stream does not ask: that of all tracks serves", name)
    return {name: store.load(name) for name in wanted}


def _spec(
    plain: Sequence[CompiledPattern],
    families: Sequence[Sequence[Family]],
    models: Mapping[str, Model],
    stream: StreamSettings,
) -> LineSpec:
    conditions = _shared(plain, models)
    specs = tuple(
        FamilySpec(patterns := tuple(family.pattern for family in some), _shared(patterns, models)) for some in families
    )
    forecast = {name: model.version for name, model in models.items()}
    names = [[p.name, p.version, [text_of(c) for c in p.conditions]] for p in plain]
    digest = hashlib.sha256(json.dumps([names, sorted(forecast.items()), stream.emission]).encode()).hexdigest()[:16]
    share = stream.online.score_share if stream.online.score and forecast else 0
    return LineSpec(
        digest,
        tuple(plain),
        conditions,
        specs,
        stream.models,
        forecast,
        stream.emission,
        stream.episodes,
        train=stream.online.train and bool(forecast),
        score_share=share,
    )


def _shared(patterns: Iterable[CompiledPattern], models: Mapping[str, Model]) -> tuple[Condition, ...]:
    """Every condition that these patterns and their models need, once; those of the patterns first."""
    patterns = list(patterns)
    found = {text_of(c): c for c in shared_conditions(patterns)}
    for pattern in patterns:
        if pattern.name in models:
            found |= {text_of(c): c for c in models[pattern.name].conditions if text_of(c) not in found}
    return tuple(found.values())


def _attributes(spec: LineSpec) -> tuple[str, ...]:
    conditions = [*spec.conditions, *(c for family in spec.families for c in family.conditions)]
    names = (a.name for c in conditions for a in attributes_of(c) if a.owner is None)
    return tuple(name for name in dict.fromkeys(names) if name != "time")
