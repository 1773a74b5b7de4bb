"""The patterns and models of a live line, compiled, and what must cross into Python for them."""

import hashlib
import json
import logging
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import TypeAlias, get_args

from pyspark.sql import types as T  # noqa: N812

from foresail.geo import Layer
from foresail.models.model import Model
from foresail.models.reader import input_columns_of
from foresail.models.store import ModelStore
from foresail.patterns.catalog.entry import PatternEntry
from foresail.patterns.catalog.loader import Catalog
from foresail.patterns.compiler import CompiledPattern, compile_pattern
from foresail.patterns.conditions.syntax import Condition
from foresail.patterns.conditions.text import attributes_of, text_of
from foresail.patterns.conditions.typing import AttributeType
from foresail.patterns.recognition.forms import form_of
from foresail.patterns.recognition.register_recogniser import kept_columns
from foresail.patterns.recognition.tables import shared_conditions
from foresail.patterns.spec import without_features
from foresail.pipeline.batch.families import Family
from foresail.pipeline.errors import InputError
from foresail.pipeline.fitting import OF_THE_STREAM, check_layer, fit_catalog
from foresail.pipeline.schemas import POSITION_COLUMNS
from foresail.pipeline.settings import StreamSettings
from foresail.pipeline.sources.feeds import find_feed
from foresail.pipeline.stages.policy import Policy
from foresail.pipeline.stream.bucket.line_spec import MAKE_PAIRS, FamilySpec, LineSpec, Reads
from foresail.pipeline.stream.messages.positions import Kind, PlainFeed
from foresail.pipeline.stream.messages.scan_kernel import MOST_FIELDS
from foresail.pipeline.stream.query.source import CANONICAL, parsed_fields

LOGGER = logging.getLogger(__name__)


SHOWN = {
    "maritime": ("name", "mmsi", "vessel_type", "length_m", "speed_kn", "course_deg", "heading_deg", "nav_status"),
    "fleet": ("name", "speed_kmh", "course_deg", "heading_deg", "engine", "fuel_level"),
}
"""By domain what the topic of tracks says of a position beside its place, where the line knows it."""
KnownTypes: TypeAlias = Mapping[Reads, Mapping[str, AttributeType]]
"""The attributes of each kind of events that the query makes, and their types."""


@dataclass(frozen=True, slots=True)
class CompiledLine:
    """The patterns that read one kind of events."""

    spec: LineSpec
    families: tuple[tuple[Family, ...], ...]
    """The families of each layer, as `spec.families` has them."""
    entries: dict[str, PatternEntry]
    attributes: tuple[str, ...]
    """What the conditions read of an event."""


@dataclass(frozen=True, slots=True)
class Compiled:
    """The catalog as this query runs it."""

    positions: CompiledLine
    pairs: CompiledLine | None
    """None where no pattern reads pairs: then none are made."""
    skipped: dict[str, str]
    """Patterns that the events do not fit, with the reason."""

    @property
    def specs(self) -> tuple[LineSpec, ...]:
        """That of positions, then that of pairs."""
        return (self.positions.spec, *([self.pairs.spec] if self.pairs else []))


@dataclass(frozen=True, slots=True)
class NoPatterns:
    """In place of a catalog of patterns, where a line runs another language."""

    specs: tuple[LineSpec, ...] = ()
    skipped: dict[str, str] = field(default_factory=dict)


@dataclass(slots=True)
class _Fitting:
    """Patterns that fit the events they read, as they are found."""

    plain: list[CompiledPattern] = field(default_factory=list)
    families: dict[str, list[Family]] = field(default_factory=dict)
    entries: dict[str, PatternEntry] = field(default_factory=dict)

    def add(self, entry: PatternEntry, pattern: CompiledPattern) -> CompiledPattern:
        self.entries[entry.name] = entry
        if entry.for_each:
            self.families.setdefault(entry.for_each.layer, []).append(Family(entry, pattern))
        else:
            self.plain.append(pattern)
        return pattern


def compile_line(catalog: Catalog, known: KnownTypes, layers: Mapping[str, Layer], stream: StreamSettings) -> Compiled:
    """The patterns that the events fit; without any named in the settings, those that do not fit are left out."""
    fitting: dict[Reads, _Fitting] = {reads: _Fitting() for reads in get_args(Reads)}
    patterns, skipped = fit_catalog(
        catalog,
        lambda entry: fitting[entry.reads].add(entry, _compiled(entry, known, layers)),
        skip_unfit=not stream.patterns,
        where="stream.patterns",
        ways_out=OF_THE_STREAM,
    )
    models = _models(stream, patterns)
    positions = _line("positions", fitting["positions"], models, known, stream)
    if not fitting["pairs"].entries:
        return Compiled(positions, None, skipped)
    pairs = _line("pairs", fitting["pairs"], models, known, stream)
    return Compiled(_beside(positions, "pairs"), _beside(pairs, "positions"), skipped)


def _compiled(entry: PatternEntry, known: KnownTypes, layers: Mapping[str, Layer]) -> CompiledPattern:
    if entry.reads not in known:
        msg = f"{entry.name}: reads pairs of tracks, which this line does not make. {MAKE_PAIRS}."
        raise InputError(msg)
    check_layer(entry, layers, ways_out=OF_THE_STREAM)
    return compile_pattern(without_features(entry.spec()), known[entry.reads])


def _line(
    reads: Reads, fitting: _Fitting, models: Mapping[str, Model], known: KnownTypes, stream: StreamSettings
) -> CompiledLine:
    mine = {name: model for name, model in models.items() if name in fitting.entries}
    families = list(fitting.families.values())
    spec = _spec(reads, fitting.plain, families, mine, stream)
    inputs = _inputs(mine, known[reads])
    shown = ("lon", "lat", *SHOWN[stream.domain]) if stream.tracks and reads == "positions" else ()
    wanted = {"lon", "lat", *_attributes(spec), *inputs, *stream.attributes, *shown}
    types = {name: kind for name, kind in known[reads].items() if name in wanted}
    spec = replace(spec, shown=tuple(name for name in shown if name in types))
    return CompiledLine(replace(spec, types=types), tuple(map(tuple, families)), fitting.entries, tuple(types))


def _beside(line: CompiledLine, other: Reads) -> CompiledLine:
    return replace(line, spec=replace(line.spec, elsewhere=(other,)))


def _models(stream: StreamSettings, patterns: Sequence[CompiledPattern]) -> dict[str, Model]:
    if stream.models is None:
        return {}
    if not stream.models.is_dir():
        msg = (
            f"stream.models: there is no folder {stream.models}. Name the store of `foresail train`, "
            "or leave the key out to forecast nothing."
        )
        raise InputError(msg)
    store = ModelStore(stream.models)
    there = {pattern.name for pattern in patterns} & set(store.patterns())
    missing = sorted(set(stream.forecast) - there)
    if missing:
        msg = f"stream.forecast: {missing[0]} has no model in {stream.models}, or is no pattern of this line."
        raise InputError(msg)
    if not there:
        LOGGER.warning("%s: has no model of a pattern of this line, so nothing is forecast", stream.models)
    wanted = stream.forecast or sorted(there)
    for name in wanted:
        if store.has_groups(name):
            LOGGER.warning("%s: has models by group, which a stream does not ask: that of all tracks serves", name)
    return {name: store.load(name) for name in wanted}


def _spec(
    reads: Reads,
    plain: Sequence[CompiledPattern],
    families: Sequence[Sequence[Family]],
    models: Mapping[str, Model],
    stream: StreamSettings,
) -> LineSpec:
    conditions = _shared(plain, models)
    specs = tuple(
        FamilySpec(patterns := tuple(family.pattern for family in some), _shared(patterns, models), some[0].layer)
        for some in families
    )
    forecast = {name: model.version for name, model in models.items()}
    forms = [form_of(p).digest for p in (*plain, *(p for family in specs for p in family.patterns))]
    said = [reads, forms, [text_of(c) for c in conditions], sorted(forecast.items()), stream.emission]
    digest = hashlib.sha256(json.dumps([*said, str(stream.models), stream.online.model_dump()]).encode())
    share = stream.online.score_share if stream.online.score and forecast else 0
    return LineSpec(
        digest.hexdigest()[:16],
        tuple(plain),
        conditions,
        specs,
        stream.models,
        forecast,
        stream.emission,
        stream.episodes,
        train=stream.online.train and bool(forecast),
        score_share=share,
        reads=reads,
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
    read = [*conditions, *(column.value for column in kept_columns(spec.plain))]
    names = (a.name for some in read for a in attributes_of(some) if a.owner is None)
    return tuple(name for name in dict.fromkeys(names) if name != "time")


def _inputs(models: Mapping[str, Model], known: Mapping[str, AttributeType]) -> tuple[str, ...]:
    """What the trees of these models read; a model whose attributes do not come is refused by name."""
    for model in models.values():
        missing = [column.name for column in input_columns_of([model]) if column.name not in known]
        if missing:
            msg = (
                f"stream.models: {model.version} reads '{missing[0]}', which the events of this line do not have. "
                f"Name it in stream.columns if the feed has it, or train {model.pattern} on events without it."
            )
            raise InputError(msg)
    return tuple(column.name for column in input_columns_of(models.values()))


FURTHER: dict[str, Kind] = {"double": "number", "long": "long", "string": "text", "boolean": "boolean"}


def plain_feed(stream: StreamSettings, policy: Policy, carried: set[str]) -> PlainFeed | None:
    """How plain messages of a topic are read; None where all must go through Spark's parser."""
    feed = find_feed(stream.feed)
    if stream.source != "kafka" or feed.name != CANONICAL or set(stream.columns) & set(POSITION_COLUMNS):
        return None
    schema = feed.json_schema + "".join(f", {name} string" for name in stream.columns)
    kinds = {**{name: _kind(kind) for name, kind in POSITION_COLUMNS.items()}, **_further(stream)}
    fields = {name: kinds[name] for name in parsed_fields(schema, carried)}
    wanted = tuple(name for name in fields if name in carried and name not in ("track", "time"))
    if len(fields) > MOST_FIELDS:
        return None
    latest = None if policy.latest is None else _micros(policy.latest)
    return PlainFeed(fields, wanted, stream.domain, _micros(policy.earliest), latest)


def _further(stream: StreamSettings) -> dict[str, Kind]:
    return {name: FURTHER[kind] for name, kind in stream.columns.items()}


def _kind(kind: T.DataType) -> Kind:
    match kind:
        case T.DoubleType():
            return "number"
        case T.IntegerType():
            return "integer"
        case T.LongType():
            return "long"
        case T.BooleanType():
            return "boolean"
        case _:
            return "text"


def _micros(moment: datetime) -> int:
    return round(moment.timestamp() * 1e6)
