"""Batch recognition: events in, matches out, and a summary that accounts for every row."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812

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
    skip_unfit: bool = False
    """Leave out, and tell, the patterns that need what the events do not have; otherwise that is an error."""


def run_recognise(spark: SparkSession, request: RecogniseRequest, progress: Progress) -> dict[str, Any]:
    """Find the patterns of the catalog in the events; the summary."""
    began = time.monotonic()
    claim_output(request.out, "recognise")
    with progress.step("reading events"):
        events = read_events(spark, request.events, request.types, request.time_unit)
    with progress.step(f"compiling {len(request.catalog)} patterns"):
        patterns, skipped = compile_catalog(request.catalog, events.good, request.skip_unfit)
    # An observation is never answered when Spark finds a later stage empty; a task's accumulator always is.
    read = spark.sparkContext.accumulator(0)
    with progress.step("recognising"):
        place = write_matches(
            events.good.transform(Recognise(tuple(patterns), counter=read)), request.out, request.form
        )
        write_json_lines(events.rejected, request.out / "rejected.jsonl")
    seconds = time.monotonic() - began
    summary = _summary(spark, place, patterns, read.value, request.out / "rejected.jsonl", seconds)
    return summary | {"skipped": skipped}


def compile_catalog(
    catalog: Catalog, events: DataFrame, skip_unfit: bool
) -> tuple[list[CompiledPattern], dict[str, str]]:
    """The patterns, checked against the columns of the events, and those left out with the reason."""
    known = attribute_types(events.schema)
    compiled, skipped = [], {}
    for entry in catalog:
        try:
            if entry.for_each:
                raise InputError(_no_layer(entry))
            compiled.append(compile_pattern(without_features(entry.spec()), known))
        except (UnknownAttributeError, InputError) as error:
            if not skip_unfit:
                raise
            skipped[entry.name] = str(error)
    if not compiled:
        msg = f"events: have the columns of none of the {len(catalog)} patterns. Columns: {', '.join(events.columns)}."
        raise InputError(msg)
    return compiled, skipped


def _no_layer(entry: PatternEntry) -> str:
    assert entry.for_each is not None, "only families need a layer"
    return f"{entry.name}: is a family over the layer '{entry.for_each.layer}', which these events do not come with."


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
