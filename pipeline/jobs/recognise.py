"""Batch recognition: events in, matches out, and a summary that accounts for every row."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812

from geo import Layer, read_layers
from geo.errors import GeoError
from patterns.catalog.entry import PatternEntry
from patterns.catalog.loader import Catalog
from patterns.compiler import CompiledPattern, compile_pattern
from patterns.errors import UnknownAttributeError
from patterns.spec import without_features
from pipeline.conditions import attribute_types
from pipeline.errors import InputError
from pipeline.progress import Progress
from pipeline.sinks.matches import write_json_lines, write_matches
from pipeline.sinks.output_folder import claim_output
from pipeline.sources.table import read_events
from pipeline.stages.families import Family, family_groups
from pipeline.stages.recognise import Recognise

SCHEME = "partition"


@dataclass(frozen=True, slots=True)
class RecogniseRequest:
    """What to read, what to look for, and where to write."""

    events: Sequence[str]
    catalog: Catalog
    out: Path
    form: str = "parquet"
    types: Mapping[str, str] | None = None
    time_unit: str | None = None
    layers: Path | None = None
    """The layers file that pattern families need."""
    layer_cache: Path = Path("layers")
    skip_unfit: bool = False
    """Leave out, and tell, the patterns that need what the events do not have; otherwise that is an error."""


def run_recognise(spark: SparkSession, request: RecogniseRequest, progress: Progress) -> dict[str, Any]:
    """Find the patterns of the catalog in the events; the summary."""
    began = time.monotonic()
    claim_output(request.out, "recognise")
    with progress.step("reading events"):
        events = read_events(spark, request.events, request.types, request.time_unit)
    with progress.step(f"compiling {len(request.catalog)} patterns"):
        stage, skipped = compile_catalog(request, events.good, _read_layers(request, progress))
    # An observation is never answered when Spark finds a later stage empty; a task's accumulator always is.
    read = spark.sparkContext.accumulator(0)
    with progress.step("recognising"):
        place = write_matches(events.good.transform(replace(stage, counter=read)), request.out, request.form)
        write_json_lines(events.rejected, request.out / "rejected.jsonl")
    seconds = time.monotonic() - began
    summary = _summary(spark, place, stage.patterns, read.value, request.out / "rejected.jsonl", seconds)
    return summary | {"skipped": skipped}


def compile_catalog(
    request: RecogniseRequest, events: DataFrame, layers: Mapping[str, Layer]
) -> tuple[Recognise, dict[str, str]]:
    """The stage that finds the catalog's patterns, and those left out with the reason."""
    known = attribute_types(events.schema)
    plain: list[CompiledPattern] = []
    families: list[Family] = []
    skipped: dict[str, str] = {}
    for entry in request.catalog:
        try:
            _check_pairs(entry, events)
            _check_layer(entry, events, layers)
            pattern = compile_pattern(without_features(entry.spec()), known)
        except (UnknownAttributeError, InputError) as error:
            if not request.skip_unfit:
                raise
            skipped[entry.name] = str(error)
            continue
        if entry.for_each:
            families.append(Family(entry, pattern))
        else:
            plain.append(pattern)
    if not plain and not families:
        msg = f"events: fit none of the {len(request.catalog)} patterns. Columns: {', '.join(events.columns)}."
        raise InputError(msg)
    return Recognise(tuple(plain), family_groups(families, layers)), skipped


def _check_pairs(entry: PatternEntry, events: DataFrame) -> None:
    """A pattern of two tracks reads pairs, one of a single track reads positions."""
    given = "pairs" if {"track_a", "track_b"} <= set(events.columns) else "positions"
    if entry.reads != given:
        way_out = (
            "Make them with `foresail enrich --pairs-within METRES`." if entry.reads == "pairs" else "Leave it out."
        )
        msg = f"{entry.name}: reads {entry.reads}, but these events are {given}. {way_out}"
        raise InputError(msg)


def _check_layer(entry: PatternEntry, events: DataFrame, layers: Mapping[str, Layer]) -> None:
    """A family needs its layer, and events that have a position."""
    if entry.for_each is None:
        return
    wanted = entry.for_each.layer
    if wanted not in layers:
        known = f"Layers there: {', '.join(layers)}." if layers else "Name a layers file with --layers."
        msg = f"{entry.name}: is a family over the layer '{wanted}', which is not at hand. {known}"
        raise InputError(msg)
    if not {"lon", "lat"} <= set(events.columns):
        msg = f"{entry.name}: is a family over a layer, but the events have no columns lon and lat. Add them."
        raise InputError(msg)


def _read_layers(request: RecogniseRequest, progress: Progress) -> dict[str, Layer]:
    if request.layers is None:
        return {}
    try:
        layers = read_layers(request.layers, request.layer_cache, progress.say)
    except GeoError as error:
        raise InputError(str(error)) from error
    return {layer.spec.name: layer for layer in layers}


def _summary(
    spark: SparkSession, place: Path, patterns: Sequence[CompiledPattern], events: int, rejected: Path, seconds: float
) -> dict[str, Any]:
    matches = spark.read.parquet(str(place)) if place.is_dir() else spark.read.json(str(place))
    found = {pattern.name: 0 for pattern in patterns}
    omitted = 0
    if matches.columns:
        for row in matches.groupBy("pattern").agg(F.count("*"), F.sum("omitted")).collect():
            found[row[0]] = row[1]
            omitted += row[2] or 0
    with rejected.open(encoding="utf-8") as lines:
        refused = sum(1 for _ in lines)
    return {
        "events": events,
        "rejected": refused,
        "matches": sum(found.values()),
        "matches_by_pattern": found,
        "omitted": omitted,
        "scheme": SCHEME,
        "seconds": round(seconds, 3),
        "events_per_second": round(events / seconds),
        "output": str(place),
    }
