"""What a worker must know to build the line of any configuration; lines once built are kept by the worker."""

from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

from models.family_forecaster import FamilyForecaster
from models.forecaster import Forecaster
from models.model import Emission, Model
from models.store import ModelStore
from patterns.compiler import CompiledPattern
from patterns.conditions.syntax import Condition
from patterns.recognition.families import FamilyRecogniser
from pipeline.stream.configuration import Configuration, configuration_from
from pipeline.stream.line import Group, Line

MOST_LINES = 8


@dataclass(frozen=True, slots=True)
class FamilySpec:
    """Families over one layer, and the conditions whose words cross for them."""

    patterns: tuple[CompiledPattern, ...]
    conditions: tuple[Condition, ...]


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

    @property
    def patterns(self) -> tuple[CompiledPattern, ...]:
        """All patterns, plain ones first."""
        return (*self.plain, *(pattern for family in self.families for pattern in family.patterns))


_specs: dict[str, LineSpec] = {}


def line_for(spec: LineSpec, configuration: Configuration) -> Line:
    """The line of that configuration."""
    _specs[spec.name] = spec
    return _line(spec.name, configuration.line_key())


@lru_cache(maxsize=MOST_LINES)
def _line(name: str, key: str) -> Line:
    spec, configuration = _specs[name], configuration_from(key)
    models = {pattern: model_for(spec, configuration, pattern) for pattern in spec.forecast}
    plain = [models[p.name] for p in spec.plain if p.name in models]
    forecaster = Forecaster(plain, spec.conditions, spec.emission) if plain else None
    return Line(spec.plain, spec.conditions, [_group(spec, family, models) for family in spec.families], forecaster)


def _group(spec: LineSpec, family: FamilySpec, models: dict[str, Model]) -> Group:
    mine = [models[p.name] for p in family.patterns if p.name in models]
    forecaster = FamilyForecaster(mine, family.conditions, spec.emission) if mine else None
    return Group(FamilyRecogniser(family.patterns, family.conditions), forecaster)


def model_for(spec: LineSpec, configuration: Configuration, pattern: str) -> Model:
    """The model that serves a pattern, with what was turned."""
    assert spec.models is not None, "a line that forecasts has a store"
    turned = configuration.for_pattern(pattern)
    model = _model(spec.models, pattern, turned.model_version or spec.forecast[pattern])
    return model.with_settings(
        threshold=turned.threshold,
        horizon=turned.horizon,
        within=turned.within,
        kind=turned.kind,  # type: ignore[arg-type]
    )


@lru_cache(maxsize=64)
def _model(store: Path, pattern: str, version: str) -> Model:
    return ModelStore(store).load(pattern, version)
