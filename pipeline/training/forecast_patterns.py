"""The patterns of a catalog that can be forecast on some events: with and without features, with their layer."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from pyspark.sql import DataFrame

from foresail.geo import Layer, read_layers
from foresail.geo.errors import GeoError
from foresail.models.features import attributes_of_entry
from foresail.patterns.catalog.entry import Forecast, PatternEntry
from foresail.patterns.catalog.loader import Catalog
from foresail.patterns.compiler import compile_pattern
from foresail.patterns.conditions import AttributeType
from foresail.patterns.errors import UnknownAttributeError
from foresail.patterns.spec import without_features
from foresail.pipeline.batch.families import Family, NearRows
from foresail.pipeline.conditions.spark import attribute_types
from foresail.pipeline.errors import InputError
from foresail.pipeline.progress import Progress
from foresail.pipeline.training.forecast_pattern import ForecastPattern
from foresail.pipeline.unfit import check_layer, check_pairs, unfit


def forecast_patterns(
    catalog: Catalog, events: DataFrame, layers: Mapping[str, Layer], skip_unfit: bool
) -> tuple[list[ForecastPattern], dict[str, str]]:
    """The patterns that these events can show, and those left out with the reason."""
    known = attribute_types(events.schema)
    found: list[ForecastPattern] = []
    skipped: dict[str, str] = {}
    for entry in catalog:
        try:
            _check_input(entry, events, layers)
            found.append(_compiled(entry, known))
        except (UnknownAttributeError, InputError) as error:
            fault = unfit(error)
            if not skip_unfit:
                raise fault from None
            skipped[entry.name] = str(fault)
    if not found:
        msg = f"events: fit none of the {len(catalog)} patterns. Columns: {', '.join(events.columns)}."
        raise InputError(msg)
    return found, skipped


def catalog_per(catalog: Catalog, per: str | None) -> Catalog:
    """The catalog whose patterns have a model for each group of tracks, where a command asks for that."""
    if per is None:
        return catalog
    forecasts = [(entry.forecast or Forecast()).model_copy(update={"per": per}) for entry in catalog]
    changed = zip(catalog, forecasts, strict=True)
    return Catalog(tuple(entry.model_copy(update={"forecast": forecast}) for entry, forecast in changed))


def near_rows(patterns: Sequence[ForecastPattern], layers: Mapping[str, Layer]) -> dict[str, NearRows]:
    """For each layer the rows that say which events are near which feature, as far as any pattern looks."""
    reach: dict[str, float] = {}
    for p in patterns:
        if p.layer is not None:
            reach[p.layer] = max(reach.get(p.layer, 0.0), Family(p.entry, p.pattern).reach_m)
    return {name: NearRows(layers[name], metres) for name, metres in reach.items()}


def layers_at(file: Path | None, cache: Path, progress: Progress) -> dict[str, Layer]:
    """The layers of a layers file, by name."""
    if file is None:
        return {}
    try:
        layers = read_layers(file, cache, progress.say)
    except GeoError as error:
        raise InputError(str(error)) from error
    return {layer.spec.name: layer for layer in layers}


def _compiled(entry: PatternEntry, known: Mapping[str, AttributeType]) -> ForecastPattern:
    pattern = compile_pattern(entry.spec(), known)
    plain = compile_pattern(without_features(entry.spec()), known)
    attributes = attributes_of_entry(entry, pattern)
    family = f"{entry.for_each.as_}." if entry.for_each else "\0"
    for name in attributes:
        if name not in known and not name.startswith(family):
            raise UnknownAttributeError(name, known, f"{entry.name}.features.learn")
    return ForecastPattern(entry, pattern, plain, attributes, known)


def _check_input(entry: PatternEntry, events: DataFrame, layers: Mapping[str, Layer]) -> None:
    check_pairs(entry, events.columns)
    per = entry.forecast.per if entry.forecast else None
    if per is not None and per not in events.columns:
        raise UnknownAttributeError(per, events.columns, f"{entry.name}.forecast.per")
    check_layer(entry, layers, events.columns)
