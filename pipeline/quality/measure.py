"""What positions are like, measured: spans, counts for each track, intervals, gaps and where they lie.

When so many rows were set aside that the user should hear of it: the share, and the sentence that says so.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

from pyspark.sql import Column, DataFrame, Row, SparkSession
from pyspark.sql import functions as F  # noqa: N812

from foresail.pipeline.errors import InputError, PipelineError
from foresail.pipeline.schemas import POSITION_COLUMNS
from foresail.pipeline.sources.table import RowCounts
from foresail.pipeline.sources.zip_files import archive_name

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


SOUND = ("blank_line", "header_line", "comment", "other_sentence", "message_part", "not_a_position")
"""Reasons of rows that are as they should be and were never to become positions; they count on neither side."""
MEANINGS = {
    "unreadable": "do not fit the columns and their types",
    "no_track": "have no track",
    "no_time": "have no time",
    "bad_time": "have a time that cannot be read",
}
"""Why rows of tables are rejected."""
COMMONEST = 2


def rejected_share(rows: int, reasons: Mapping[str, int]) -> float:
    """Of the rows that could have been positions the share that was rejected; 1 where every row was, sound or not."""
    rejected = sum(reasons.values())
    sound = sum(reasons.get(reason, 0) for reason in SOUND)
    if not rows:
        return 0.0
    return 1.0 if rejected >= rows else (rejected - sound) / (rows - sound)


def rejection_warning(rows: int, reasons: Mapping[str, int], meanings: Mapping[str, str], seen: str = "") -> str:
    """How many rows were rejected, why most of them, and what the file was `seen` to be."""
    rejected = sum(reasons.values())
    commonest = sorted(reasons.items(), key=lambda entry: -entry[1])[:COMMONEST]
    why = "; ".join(f"{count:,} {reason}" + _meaning(meanings.get(reason)) for reason, count in commonest)
    return f"{rejected:,} of {rows:,} rows were rejected: {why}. {seen}".rstrip()


def table_warning(rows: int, rejected: int, paths: Sequence[str], where: str) -> str:
    """How many rows of a table were rejected, where they are, and what its first file looks like."""
    said = f"{rejected:,} of {rows:,} rows were rejected: they are in {where}, each with its reason. {_seen(paths)}"
    return said.rstrip()


def check_some_good(rows: RowCounts, paths: Sequence[str]) -> None:
    """Raise where every row of a table was rejected: there is nothing to work on."""
    if rows.rejected and not rows.good:
        raise InputError(", ".join(paths) + ": " + reasons_warning(rows.summary, paths))


def reasons_warning(summary: Mapping[str, Any], paths: Sequence[str]) -> str:
    """The same for a job that writes no rejected rows: why they were, told by `RowCounts.summary`."""
    return rejection_warning(summary["rows_read"], summary["rejected_reasons"], MEANINGS, _seen(paths))


def looks_like(path: Path, feed: str | None = None) -> str:
    """What `path` looks like in a sentence, with the way on; nothing where it cannot be looked at."""
    from foresail.pipeline.look import look_at  # noqa: PLC0415 - only where something is wrong

    try:
        look = look_at(path)
    except PipelineError:
        return ""
    if look.feed not in (None, "mapped", feed):
        way_on = f"It looks like --from {look.feed}."
    elif look.faults:
        way_on = f"It cannot be read as it is: {look.faults[0]}."
    else:
        way_on = f"See how it can be read: `foresail look {_as_named(path)}`."
    return f"{path.name} is {look.says}. {way_on}"


def _seen(paths: Sequence[str]) -> str:
    """What the first file looks like; nothing where only folders are named."""
    file = next((Path(path) for path in paths if Path(path).is_file()), None)
    return looks_like(file) if file else ""


def _as_named(path: Path) -> Path:
    """The file that the user named: of an unpacked member the archive."""
    named = Path(archive_name(str(path)))
    return next((place for place in (named, *named.parents) if place.is_file()), path)


def _meaning(text: str | None) -> str:
    return f" ({text})" if text else ""
