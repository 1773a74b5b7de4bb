"""`foresail enrich`: events in, the same events out with what the layers say of their positions."""

import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812

from foresail.geo import Layer, Strategy, choose, enrich, read_layers
from foresail.geo.errors import GeoError
from foresail.geo.proximity import PairSettings, pairs
from foresail.pipeline.batch.parquet_source import ParquetSource
from foresail.pipeline.errors import InputError
from foresail.pipeline.jobs.enrich_in_place import enrich_files, readable_source
from foresail.pipeline.progress import SILENT, Progress
from foresail.pipeline.reports.page import count_of
from foresail.pipeline.sinks.output_folder import replaced
from foresail.pipeline.sources.parquet_files import EVENTS, events_folder
from foresail.pipeline.sources.table import read_events
from foresail.pipeline.stages.layout import by_track, read_layout, write_layout

REJECTED = "rejected"


@dataclass(frozen=True, slots=True)
class EnrichOrder:
    """What is to be enriched, with which layers, and where the layers are cached."""

    events: str
    layers_file: Path
    out: Path
    cache: Path
    strategy: Strategy = "auto"
    pairs_within_m: float | None = None
    """Make pairs of tracks so near to each other, and enrich these in place of the positions."""
    time_unit: str | None = None


@dataclass(frozen=True, slots=True)
class EnrichResult:
    """What the run did: `layers` says which versions were used and how, `attributes` how many events each holds."""

    events: int
    rejected: int
    positions_unknown: int
    layers: list[dict[str, Any]]
    attributes: dict[str, int]
    laid_out_by_track: bool
    seconds: float
    events_per_second: float


def enrich_events(spark: SparkSession, order: EnrichOrder, progress: Progress = SILENT) -> EnrichResult:
    """Enrich what `order` says; `out/events` holds the result when this returns, and is as it was if it fails."""
    try:
        return _enrich(spark, order, progress)
    except GeoError as error:
        raise InputError(str(error)) from error


def _enrich(spark: SparkSession, order: EnrichOrder, progress: Progress) -> EnrichResult:
    with progress.step("reading layers"):
        layers = read_layers(order.layers_file, order.cache, progress.say)
    for layer, choice in zip(layers, choose(layers, order.strategy), strict=True):
        progress.say(f"layer '{layer.spec.name}' {layer.version}: {choice.strategy}, {choice.reason}")
    place = events_folder(order.events)
    source = _in_place(order, place, layers)
    if source is not None:
        return _in_files(spark, order, source, layers, progress)
    events = read_events(spark, [place], time_unit=order.time_unit)
    began = time.monotonic()
    near = None if order.pairs_within_m is None else PairSettings(distance_m=order.pairs_within_m)
    enriched = enrich(pairs(events.good, near) if near else events.good, layers, order.strategy)
    layout = None if near else read_layout(Path(place))
    with (
        progress.step("enriching events"),
        replaced(order.out / EVENTS) as folder,
        replaced(order.out / REJECTED) as rejected_folder,
    ):
        if layout:
            write_layout(by_track(enriched, layout.files), folder, layout.files)
        else:
            enriched.write.option("compression", "zstd").parquet(str(folder))
        events.rejected.write.parquet(str(rejected_folder))
    seconds = time.monotonic() - began
    with progress.step("counting"):
        counts = _count(spark.read.parquet(str(order.out / EVENTS)), layers)
        rejected = spark.read.parquet(str(order.out / REJECTED)).count()
    rows = counts.pop("events")
    return EnrichResult(
        events=rows,
        rejected=rejected,
        positions_unknown=counts.pop("positions_unknown"),
        layers=_layer_facts(layers, order.strategy),
        attributes=counts,
        laid_out_by_track=layout is not None,
        seconds=round(seconds, 3),
        events_per_second=round(rows / seconds, 1),
    )


def _in_place(order: EnrichOrder, place: str, layers: Sequence[Layer]) -> ParquetSource | None:
    """The files that workers read and write themselves; None where rows are paired, joined or looked at by Spark."""
    in_workers = all(choice.strategy == "worker" for choice in choose(layers, order.strategy))
    if order.pairs_within_m is not None or order.time_unit or not in_workers or not layers:
        return None
    return readable_source(place, layers)


def _in_files(
    spark: SparkSession, order: EnrichOrder, source: ParquetSource, layers: Sequence[Layer], progress: Progress
) -> EnrichResult:
    began = time.monotonic()
    with (
        progress.step(f"enriching {count_of(source.rows, 'event')}"),
        replaced(order.out / EVENTS) as folder,
        replaced(order.out / REJECTED) as rejected_folder,
    ):
        counts = enrich_files(spark, source, layers, folder, rejected_folder)
    seconds = time.monotonic() - began
    rows = counts.pop("events", 0)
    return EnrichResult(
        events=rows,
        rejected=0,
        positions_unknown=counts.pop("positions_unknown", 0),
        layers=_layer_facts(layers, order.strategy),
        attributes={f"in_{layer.spec.kind}": counts[f"in_{layer.spec.kind}"] for layer in layers},
        laid_out_by_track=source.layout is not None,
        seconds=round(seconds, 3),
        events_per_second=round(rows / seconds, 1),
    )


def _layer_facts(layers: Sequence[Layer], strategy: Strategy) -> list[dict[str, Any]]:
    choices = choose(layers, strategy)
    return [
        {"name": layer.spec.name, "kind": layer.spec.kind, "version": layer.version}
        | {"strategy": choice.strategy, "reason": choice.reason}
        | asdict(layer.report)
        for layer, choice in zip(layers, choices, strict=True)
    ]


def _count(events: DataFrame, layers: Sequence[Layer]) -> dict[str, int]:
    sums: dict[str, Column] = {
        "events": F.count("*"),
        "positions_unknown": F.count_if(~position_is_known()),
    }
    for layer in layers:
        sums[f"in_{layer.spec.kind}"] = F.count_if(F.col(f"in_{layer.spec.kind}"))
    row = events.agg(*[column.alias(name) for name, column in sums.items()]).first()
    assert row is not None, "an aggregate without groups has one row"
    return {name: int(row[name]) for name in sums}


def position_is_known() -> Column:
    """Whether a row has a position on earth."""
    lon, lat = (F.col(name).cast("double") for name in ("lon", "lat"))
    return F.coalesce((F.abs(lon) <= 180.0) & (F.abs(lat) <= 90.0), F.lit(False))
