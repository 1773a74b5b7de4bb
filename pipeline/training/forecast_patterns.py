"""The patterns of a catalog that can be forecast on some events: with and without features, with their layer.

A pattern that is to be forecast, and what its model is to be: the same for every job, with Spark or without.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from foresail.models.features import attributes_of_entry
from foresail.models.inputs.columns import usable_names
from foresail.models.model import ModelSettings
from foresail.models.suffix_tree import LearnSettings
from foresail.patterns.catalog.entry import Forecast, PatternEntry
from foresail.patterns.catalog.loader import Catalog
from foresail.patterns.compiler import CompiledPattern, compile_pattern
from foresail.patterns.conditions import AttributeType
from foresail.patterns.conditions.text import attributes_of
from foresail.patterns.errors import UnknownAttributeError
from foresail.patterns.recognition.reach import reach_m
from foresail.patterns.spec import PatternSpec, without_features
from foresail.pipeline.errors import InputError
from foresail.pipeline.fitting import OF_COMMANDS, WaysOut, check_layer, check_pairs, fit_catalog
from foresail.pipeline.settings import ForecastSettings

if TYPE_CHECKING:
    pass


@dataclass(frozen=True, slots=True)
class ForecastPattern:
    """One pattern that is to be forecast."""

    entry: PatternEntry
    pattern: CompiledPattern
    """With the features that are written down."""
    plain: CompiledPattern
    """Without features, as it is recognised."""
    attributes: tuple[str, ...]
    """What trees and boosting may read."""
    types: Mapping[str, AttributeType]
    inputs: tuple[str, ...] = ()
    """The attributes of events that trees of a hazard model or forest may read, with their recent past."""

    @property
    def name(self) -> str:
        """The pattern's name."""
        return self.entry.name

    @property
    def forecast(self) -> Forecast:
        """How it is to be forecast."""
        return self.entry.forecast or Forecast()

    @property
    def has_trees(self) -> bool:
        """Whether a model of it may be one of trees."""
        return self.forecast.model != "chain"

    @property
    def within(self) -> int:
        """How many events ahead a match counts."""
        return self.forecast.within or self.forecast.horizon

    @property
    def layer(self) -> str | None:
        """The layer of a family."""
        return self.entry.for_each.layer if self.entry.for_each else None

    @property
    def read(self) -> tuple[str, ...]:
        """Every attribute of events that its conditions, features and trees read; not those of its layer's features."""
        own = (attribute.key for c in self.pattern.conditions for attribute in attributes_of(c))
        family = f"{self.entry.for_each.as_}." if self.entry.for_each else "\0"
        inputs = self.inputs if self.has_trees else ()
        return tuple(n for n in dict.fromkeys([*own, *self.attributes, *inputs]) if not n.startswith(family))

    def compiled(self, spec: PatternSpec) -> CompiledPattern:
        """The pattern with other features."""
        return compile_pattern(spec, self.types)


def settings_of(
    p: ForecastPattern, s: ForecastSettings, order: int | None = None, horizon: int | None = None
) -> ModelSettings:
    """What the model of a pattern is to be: the catalog's word, unless the command has its own order or horizon."""
    forecast = p.forecast
    order = forecast.order if order is None else order
    if order > s.max_order:
        msg = f"{p.name}: order {order} is beyond what is counted ({s.max_order}). Raise forecasting.max_order."
        raise InputError(msg)
    horizon = forecast.horizon if horizon is None else horizon
    if horizon < 1:
        msg = f"{p.name}: a horizon of {horizon} events forecasts nothing. Give at least 1."
        raise InputError(msg)
    learn = LearnSettings(
        order=order,
        kind=forecast.contexts,
        min_context_probability=s.min_context_probability,
        min_symbol_probability=s.min_symbol_probability,
        ratio=s.ratio,
        smoothing=s.smoothing,
    )
    threshold = forecast.threshold if isinstance(forecast.threshold, float) else 0.0
    within = min(p.within, horizon) if forecast.kind == "within" else None
    return ModelSettings(
        learn=learn,
        horizon=horizon,
        kind=forecast.kind,
        within=within,
        threshold=threshold,
        forecast_in_accepting=forecast.forecast_in_accepting,
    )


def forecast_patterns(
    catalog: Catalog,
    columns: Sequence[str],
    known: Mapping[str, AttributeType],
    layers: Collection[str],
    skip_unfit: bool,
    ways_out: WaysOut = OF_COMMANDS,
) -> tuple[list[ForecastPattern], dict[str, str]]:
    """The patterns that events with these columns can show, and those left out with the reason."""

    def compiled(entry: PatternEntry) -> ForecastPattern:
        _check_input(entry, columns, layers, ways_out)
        return _compiled(entry, known)

    return fit_catalog(catalog, compiled, skip_unfit=skip_unfit, ways_out=ways_out)


def catalog_per(catalog: Catalog, per: str | None) -> Catalog:
    """The catalog whose patterns have a model for each group of tracks, where a command asks for that."""
    if per is None:
        return catalog
    forecasts = [(entry.forecast or Forecast()).model_copy(update={"per": per}) for entry in catalog]
    changed = zip(catalog, forecasts, strict=True)
    return Catalog(tuple(entry.model_copy(update={"forecast": forecast}) for entry, forecast in changed))


def reach_by_layer(patterns: Sequence[ForecastPattern]) -> dict[str, float]:
    """For each layer how far, in metres, any pattern looks for its features."""
    reach: dict[str, float] = {}
    for p in patterns:
        if p.entry.for_each is not None:
            own = reach_m(p.pattern.conditions, p.entry.for_each.as_, p.entry.for_each.radius_m, p.name)
            reach[p.entry.for_each.layer] = max(reach.get(p.entry.for_each.layer, 0.0), own)
    return reach


def _compiled(entry: PatternEntry, known: Mapping[str, AttributeType]) -> ForecastPattern:
    pattern = compile_pattern(entry.spec(), known)
    if pattern.memory is not None:
        msg = f"{entry.name}: keeps events in registers, and such patterns are not forecast. Leave it out."
        raise InputError(msg)
    plain = compile_pattern(without_features(entry.spec()), known)
    attributes = attributes_of_entry(entry, pattern)
    family = f"{entry.for_each.as_}." if entry.for_each else "\0"
    for name in attributes:
        if name not in known and not name.startswith(family):
            raise UnknownAttributeError(name, known, f"{entry.name}.features.learn")
    _check_trees(entry)
    return ForecastPattern(entry, pattern, plain, attributes, known, _inputs(entry, pattern, known, family))


def _inputs(
    entry: PatternEntry, pattern: CompiledPattern, known: Mapping[str, AttributeType], family: str
) -> tuple[str, ...]:
    """What trees may read: the attributes that the entry allows, or all that may say something; the same everywhere."""
    if entry.learn and entry.learn.attributes:
        return tuple(name for name in entry.learn.attributes if not name.startswith(family))
    read = {attribute.key for condition in pattern.conditions for attribute in attributes_of(condition)}
    found = usable_names({name: kind for name, kind in known.items() if "." not in name or name in read})
    return tuple(sorted(name for name in found if not name.startswith(family)))


def _check_trees(entry: PatternEntry) -> None:
    model = entry.forecast.model if entry.forecast else "chain"
    if model == "chain" or entry.for_each is None:
        return
    msg = (
        f"{entry.name}.forecast.model: a pattern for each feature of a layer is forecast by a chain, not by '{model}'. "
        "Leave `model` out, or write the pattern for one feature."
    )
    raise InputError(msg)


def _check_input(entry: PatternEntry, columns: Sequence[str], layers: Collection[str], ways_out: WaysOut) -> None:
    check_pairs(entry, columns)
    per = entry.forecast.per if entry.forecast else None
    if per is not None and per not in columns:
        raise UnknownAttributeError(per, columns, f"{entry.name}.forecast.per")
    check_layer(entry, layers, columns, ways_out)
