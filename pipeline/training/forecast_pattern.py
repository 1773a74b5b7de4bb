"""A pattern that is to be forecast, and what its model is to be: the same for every job, with Spark or without."""

from collections.abc import Mapping
from dataclasses import dataclass

from foresail.models.model import ModelSettings
from foresail.models.suffix_tree import LearnSettings
from foresail.patterns.catalog.entry import Forecast, PatternEntry
from foresail.patterns.compiler import CompiledPattern, compile_pattern
from foresail.patterns.conditions import AttributeType
from foresail.patterns.conditions.inspection import attributes_of
from foresail.patterns.spec import PatternSpec
from foresail.pipeline.errors import InputError
from foresail.pipeline.settings import ForecastSettings


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

    @property
    def name(self) -> str:
        """The pattern's name."""
        return self.entry.name

    @property
    def forecast(self) -> Forecast:
        """How it is to be forecast."""
        return self.entry.forecast or Forecast()

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
        return tuple(n for n in dict.fromkeys([*own, *self.attributes]) if not n.startswith(family))

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
