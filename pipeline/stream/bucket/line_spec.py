"""What a worker must know to build the monitor of any configuration; those once built are kept by the worker.

The words of the conditions that the query was started with are computed by Spark. A catalog or a model that came later
may need others: these are computed here, from the attributes that cross anyway.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import Literal, TypeAlias

from foresail.models.errors import ModelError
from foresail.models.family_forecaster import FamilyForecaster
from foresail.models.forecaster import Forecaster
from foresail.models.identity import identity_of
from foresail.models.model import Emission, Model
from foresail.models.reader import input_columns_of
from foresail.models.store import ModelStore
from foresail.models.store.manifest import inside
from foresail.patterns.catalog.entry import PatternEntry
from foresail.patterns.catalog.loader import read_catalog
from foresail.patterns.compiler import CompiledPattern, compile_pattern
from foresail.patterns.conditions.syntax import Condition, Value
from foresail.patterns.conditions.text import attributes_of, text_of
from foresail.patterns.conditions.typing import AttributeType
from foresail.patterns.errors import PatternError
from foresail.patterns.recognition.families import FamilyRecogniser
from foresail.patterns.recognition.register_recogniser import kept_columns
from foresail.patterns.recognition.tables import shared_conditions
from foresail.patterns.spec import without_features
from foresail.pipeline.stream.bucket.monitor import BucketMonitor
from foresail.pipeline.stream.control.message import Configuration, Overrides, configuration_from

Reads: TypeAlias = Literal["positions", "pairs"]
"""What the events of a pattern are, as its catalog entry says."""
MOST_MONITORS = 16
PLAIN = ""
"""Stands where others have the name of a layer."""
MOST_MODELS = 64
CATALOGS = "catalogs"
MAKE_PAIRS = "Set stream.pairs_within_m, in metres"


class UnfitError(Exception):
    """A catalog or model that a running line cannot take up."""


@dataclass(frozen=True, slots=True)
class FamilySpec:
    """Families over one layer, and the conditions whose words cross for them."""

    patterns: tuple[CompiledPattern, ...]
    conditions: tuple[Condition, ...]
    layer: str


@dataclass(frozen=True, slots=True)
class LineSpec:
    """The patterns as the query was started with, and where other versions and models are found."""

    name: str
    """Tells this query's lines from those of another in the same worker."""
    plain: tuple[CompiledPattern, ...]
    conditions: tuple[Condition, ...]
    """The conditions whose words cross, in the order of their bits."""
    families: tuple[FamilySpec, ...] = ()
    models: Path | None = None
    forecast: dict[str, str] = field(default_factory=dict)
    """Pattern and model version that the line is started with."""
    emission: Emission = "positive"
    episodes: Literal["all", "changes"] = "all"
    """Whether an episode is told of at each of its events, or only when it opens and ends."""
    types: dict[str, AttributeType] = field(default_factory=dict)
    """The attributes that cross, and their types."""
    train: bool = False
    """Whether what passes is counted, to learn from."""
    score_share: int = 0
    """Forecasts of one track in so many are compared with what happens; 0 for none."""
    shown: tuple[str, ...] = ()
    """Attributes that the topic of tracks shows; none where nobody wants to see where tracks are."""
    reads: Reads = "positions"
    elsewhere: tuple[Reads, ...] = ()
    """What other buckets of the query read: their patterns are no strangers, but not ours."""

    @property
    def patterns(self) -> tuple[CompiledPattern, ...]:
        """All patterns, plain ones first."""
        return (*self.plain, *(pattern for family in self.families for pattern in family.patterns))

    @property
    def crossed(self) -> dict[str, list[str]]:
        """The conditions whose words events carry, as texts; those of family groups by their layer."""
        groups = {family.layer: family.conditions for family in self.families}
        return {name: [text_of(c) for c in some] for name, some in {PLAIN: self.conditions, **groups}.items()}


_specs: dict[str, LineSpec] = {}


def monitor_for(spec: LineSpec, configuration: Configuration) -> BucketMonitor:
    """The monitor of that configuration."""
    _specs[spec.name] = spec
    return _monitor(spec.name, configuration.line_key())


@lru_cache(maxsize=MOST_MONITORS)
def _monitor(name: str, key: str) -> BucketMonitor:
    spec, configuration = _specs[name], configuration_from(key)
    entries = None if configuration.catalog is None else _entries(spec, configuration.catalog)
    plain = spec.plain if entries is None else _compiled(spec, entries)
    models = _models(spec, configuration, (*plain, *(p for family in spec.families for p in family.patterns)))
    mine = [models[p.name] for p in plain if p.name in models]
    _require_crossing(spec, (column.value for column in kept_columns(plain)))
    for model in mine:
        require_inputs(spec, model)
    conditions = _extended(spec, [*shared_conditions(plain), *(c for model in mine for c in model.conditions)])
    # everything is needed to score; what is emitted is chosen afterwards
    emission: Emission = "all" if spec.score_share else spec.emission
    forecaster = Forecaster(mine, conditions, emission) if mine else None
    families = [FamilyRecogniser(family.patterns, family.layer, family.conditions) for family in spec.families]
    near = [_family_forecaster(family, models, emission) for family in spec.families]
    return BucketMonitor(plain, conditions, families, forecaster, [some for some in near if some], entries)


def _models(spec: LineSpec, configuration: Configuration, patterns: Iterable[CompiledPattern]) -> dict[str, Model]:
    """The models that serve these patterns; a pattern of another version than its model is not forecast."""
    found = {}
    for pattern in patterns:
        if pattern.name in spec.forecast:
            model = model_for(spec, configuration, pattern.name)
            if model.header.identity.version == pattern.version:
                found[pattern.name] = model
    return found


def _family_forecaster(family: FamilySpec, models: Mapping[str, Model], emission: Emission) -> FamilyForecaster | None:
    mine = [models[p.name] for p in family.patterns if p.name in models]
    _require_known(family.conditions, [c for model in mine for c in model.conditions])
    return FamilyForecaster(mine, family.conditions, emission, layer=family.layer) if mine else None


def _require_known(known: Iterable[Condition], needed: Iterable[Condition]) -> None:
    texts = {text_of(condition) for condition in known}
    for condition in needed:
        if text_of(condition) not in texts:
            msg = f"a family's condition is new to this line: {text_of(condition)}. Start the line anew to use it"
            raise UnfitError(msg)


def _extended(spec: LineSpec, needed: Iterable[Condition]) -> tuple[Condition, ...]:
    """The conditions that cross, then those that have to be computed here."""
    found = {text_of(condition): condition for condition in spec.conditions}
    for condition in needed:
        if text_of(condition) in found:
            continue
        _require_crossing(spec, [condition])
        found[text_of(condition)] = condition
    return tuple(found.values())


def _require_crossing(spec: LineSpec, read: Iterable[Condition | Value]) -> None:
    for some in read:
        missing = [a.name for a in attributes_of(some) if a.name not in spec.types and a.name != "time"]
        if missing:
            msg = f"the attribute '{missing[0]}' does not cross in this line. Start the line anew to use it"
            raise UnfitError(msg)


def require_inputs(spec: LineSpec, model: Model) -> None:
    """Refuse a model whose trees read what does not cross."""
    for column in input_columns_of([model]):
        if column.name not in spec.types:
            msg = f"{model.version} reads '{column.name}', which does not cross in this line. Start it anew to use it"
            raise UnfitError(msg)


def check_changed(spec: LineSpec, configuration: Configuration, pattern: str | None) -> None:
    """Refuse what a change of `pattern` names and the store does not have: to build a line and fail takes longer."""
    if configuration.catalog is not None:
        _catalog_folder(spec, configuration.catalog)
    if pattern not in spec.forecast or spec.models is None:
        return
    version = configuration.for_pattern(pattern).model_version
    if version is not None and not ModelStore(spec.models).has(pattern, version):
        msg = f"no model {version} of {pattern} in the store. `foresail models list` tells which there are"
        raise UnfitError(msg)
    require_inputs(spec, model_for(spec, configuration, pattern))


def _catalog_folder(spec: LineSpec, version: str) -> Path:
    folder = None if spec.models is None else spec.models / inside(CATALOGS, version)
    if folder is None or not folder.is_dir():
        msg = f"no catalog {version} in the store. Send it with `foresail configure --catalog`"
        raise UnfitError(msg)
    return folder


def _entries(spec: LineSpec, version: str) -> dict[str, PatternEntry]:
    catalog = read_catalog([_catalog_folder(spec, version)])
    strangers = [entry.name for entry in catalog if entry.reads not in (spec.reads, *spec.elsewhere)]
    if strangers:
        msg = f"{strangers[0]}: reads pairs of tracks, which this line does not make. {MAKE_PAIRS} and start it anew"
        raise UnfitError(msg)
    return {entry.name: entry for entry in catalog if entry.reads == spec.reads}


def _compiled(spec: LineSpec, entries: Mapping[str, PatternEntry]) -> tuple[CompiledPattern, ...]:
    families = {pattern.name for family in spec.families for pattern in family.patterns}
    strangers = [e.name for e in entries.values() if e.for_each and e.name not in families]
    if strangers:
        msg = f"{strangers[0]}: a pattern family cannot join a running line. Start the line anew to use it"
        raise UnfitError(msg)
    types = {**spec.types}
    try:
        return tuple(compile_pattern(without_features(e.spec()), types) for e in entries.values() if not e.for_each)
    except PatternError as error:
        raise UnfitError(str(error)) from error


def model_for(spec: LineSpec, configuration: Configuration, pattern: str) -> Model:
    """The model that serves a pattern, with what was turned."""
    assert spec.models is not None, "a line that forecasts has a store"
    turned = configuration.for_pattern(pattern)
    return _turned_model(
        spec.models, pattern, replace(turned, model_version=turned.model_version or spec.forecast[pattern])
    )


@lru_cache(maxsize=MOST_MODELS)
def _turned_model(store: Path, pattern: str, turned: Overrides) -> Model:
    """A model as it was turned, kept: a change of one pattern does not decide those of all others anew."""
    assert turned.model_version is not None, "a model that serves has a version"
    model = _model(store, pattern, turned.model_version)
    knobs = {name: getattr(turned, name) for name in ("threshold", "horizon", "within", "kind")}
    return model.with_settings(**knobs) if any(value is not None for value in knobs.values()) else model


def stored_model(spec: LineSpec, pattern: str, version: str) -> Model | None:
    """A model that served once; None where it is not in the store any more."""
    try:
        return None if spec.models is None else _model(spec.models, pattern, version)
    except (ModelError, OSError):
        return None


@lru_cache(maxsize=MOST_MODELS)
def _model(store: Path, pattern: str, version: str) -> Model:
    return ModelStore(store).load(pattern, version)


def compiled_like(model: Model, types: Mapping[str, AttributeType]) -> CompiledPattern:
    """The pattern that a model was trained for, compiled again over the same symbols."""
    for known in (types, None):
        try:
            pattern = compile_pattern(model.header.spec, known)
        except PatternError:
            continue
        if identity_of(pattern) == model.header.identity:
            return pattern
    msg = f"{model.version}: its symbols cannot be made again from what is known of the attributes. Train it anew."
    raise ModelError(msg)
