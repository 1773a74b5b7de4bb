"""What positions are like, measured: spans, counts for each track, intervals, gaps and where they lie."""

from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

from pyspark.sql import Column, DataFrame, Row, SparkSession
from pyspark.sql import functions as F  # noqa: N812

from foresail.pipeline.schemas import POSITION_COLUMNS

INTERVAL_EDGES_S = (1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1800, 3600, 21_600, 43_200, 86_400)
TRACK_SIZE_EDGES = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000, 100_000)
GAP_HOURS = (0.5, 6, 12, 24)
"""Half an hour ends running matches; six and twelve hours are where a gap is stored and reported."""
LONGEST_GAPS_SHOWN = 20
CELLS_ACROSS = 60
QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95, 0.99)
ATTRIBUTES = [name for name in POSITION_COLUMNS if name not in ("track", "time", "source", "offset")]


@dataclass(frozen=True, slots=True)
class Measures:
    """One table's measures, plain enough for JSON."""

    extent: dict[str, Any]
    positions_per_track: dict[str, Any]
    intervals: dict[str, Any]
    gaps: dict[str, Any]
    coverage: dict[str, Any]


def measure_rows(rows: DataFrame, tracks: Column | None = None) -> dict[str, Any]:
    """Rows, tracks, span, box and share of nulls of any table that has the canonical columns."""
    lon, lat = F.col("lon"), F.col("lat")
    row = rows.agg(
        F.count(F.lit(1)).alias("rows"),
        (F.count_distinct("track") if tracks is None else tracks).alias("tracks"),
        F.min("time").cast("string").alias("first"),
        F.max("time").cast("string").alias("last"),
        *[
            extreme(of).alias(f"{name}_{what}")
            for name, of in (("lon", lon), ("lat", lat))
            for what, extreme in _EXTREMES
        ],
        *[F.count(name).alias(f"known_{name}") for name in ATTRIBUTES],
    ).first()
    assert row is not None, "an aggregate without groups has one row"
    return {
        **{name: row[name] for name in ("rows", "tracks", "first", "last")},
        "box": [row["lon_west"], row["lat_west"], row["lon_east"], row["lat_east"]],
        "known": {name: round(row[f"known_{name}"] / row["rows"], 4) if row["rows"] else 0.0 for name in ATTRIBUTES},
    }


_EXTREMES = (("west", F.min), ("east", F.max))


def measure_events(spark: SparkSession, folder: Path) -> Measures:
    """The measures of positions that carry derived attributes."""
    events = spark.read.parquet(str(folder))
    per_track = _per_track(events)
    extent = measure_rows(events, tracks=F.lit(per_track["count"]))
    return Measures(extent, per_track, _intervals(events), _gaps(events), _coverage(events, extent["box"]))


def _per_track(events: DataFrame) -> dict[str, Any]:
    sizes = events.groupBy("track").agg(F.count(F.lit(1)).alias("value"))
    return _distribution(sizes, TRACK_SIZE_EDGES)


def _intervals(events: DataFrame) -> dict[str, Any]:
    return _distribution(events.select(F.col("gap_s").alias("value")).filter("value IS NOT NULL"), INTERVAL_EDGES_S)


def _distribution(values: DataFrame, edges: tuple[int, ...]) -> dict[str, Any]:
    """Quantiles, and how many values lie below each edge and above the one before."""
    value = F.col("value")
    row = values.agg(
        F.count(value).alias("count"),
        F.mean(value).alias("mean"),
        F.max(value).alias("max"),
        F.percentile_approx(value, list(QUANTILES), 10_000).alias("quantiles"),
        F.array(*[F.count_if(condition) for condition in _buckets(value, edges)]).alias("buckets"),
    ).first()
    assert row is not None, "an aggregate without groups has one row"
    return {
        "count": row["count"],
        "mean": row["mean"],
        "max": row["max"],
        "quantiles": dict(zip(map(str, QUANTILES), row["quantiles"] or [], strict=False)),
        "edges": list(edges),
        "buckets": row["buckets"],
    }


def _buckets(value: Column, edges: tuple[int, ...]) -> list[Column]:
    between = [(value > low) & (value <= high) for low, high in pairwise(edges)]
    return [value <= edges[0], *between, value > edges[-1]]


def _gaps(events: DataFrame) -> dict[str, Any]:
    counted = events.agg(
        *[F.count_if(F.col("gap_s") >= hours * 3600).alias(f"over_{hours}_h") for hours in GAP_HOURS],
        F.count_if("position_jump").alias("position_jumps"),
    ).first()
    assert counted is not None, "an aggregate without groups has one row"
    longest = (
        events.filter(F.col("gap_s") >= GAP_HOURS[0] * 3600)
        .select("track", "gap_s", F.col("time").cast("string").alias("ended"))
        .orderBy(F.desc("gap_s"), "track")
        .limit(LONGEST_GAPS_SHOWN)
        .collect()
    )
    return {**counted.asDict(), "longest": [row.asDict() for row in longest]}


def _coverage(events: DataFrame, box: list[float | None]) -> dict[str, Any]:
    """How many positions lie in each cell of a grid over the box; cells are as wide as high, in degrees."""
    west, south, east, north = box
    if west is None or south is None or east is None or north is None:
        return {"cell_deg": None, "cells": []}
    cell_deg = max((east - west) / CELLS_ACROSS, (north - south) / CELLS_ACROSS, 1e-4)
    column = F.floor((F.col("lon") - west) / cell_deg).alias("column")
    row = F.floor((F.col("lat") - south) / cell_deg).alias("row")
    cells: list[Row] = events.filter("lon IS NOT NULL").groupBy(column, row).count().collect()
    return {
        "cell_deg": cell_deg,
        "west": west,
        "south": south,
        "cells": sorted([cell["column"], cell["row"], cell["count"]] for cell in cells),
    }
