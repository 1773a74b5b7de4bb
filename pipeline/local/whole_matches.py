"""Rows of matches to matches, without Spark: an episode is emitted in many rows that share a `match_id`."""

from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from foresail.pipeline.local.frames import PLACE, plain_table

NAMES = ("match_id", "pattern", "pattern_version", "instance")
_STAMP = pa.timestamp("us", tz="UTC")
ROWS = pa.schema(
    [
        ("match_id", pa.string()), ("pattern", pa.string()), ("pattern_version", pa.int32()),
        ("instance", pa.string()), ("track", pa.string()), ("time", _STAMP), ("index", pa.int64()),
        ("events", pa.list_(pa.int64())), ("start_time", _STAMP), ("first_start_time", _STAMP),
        ("lon", pa.float64()), ("lat", pa.float64()),
    ]
)  # fmt: skip
"""What is read of the rows."""


def read_match_rows(path: Path) -> pa.Table:
    """The rows that a job wrote, as a folder of Parquet or a file of JSON lines."""
    if path.is_dir():
        table = pq.read_table(path)
        return plain_table(table.select([name for name in ROWS.names if name in table.column_names]))
    if not path.stat().st_size:
        return ROWS.empty_table()
    from pyarrow import json  # noqa: PLC0415 - not every run writes lines

    with path.open(encoding="utf-8") as lines:
        first = lines.readline()
    there = [field for field in ROWS if f'"{field.name}":' in first]
    options = json.ParseOptions(explicit_schema=pa.schema(there), unexpected_field_behavior="ignore")
    return json.read_json(path, parse_options=options)


def whole_matches(rows: pa.Table) -> pd.DataFrame:
    """One row per match: what names it, when it began, its detections, its place, its last index."""
    held = rows.drop_columns(["events"]).to_pandas() if "events" in rows.column_names else rows.to_pandas()
    held["_start"] = held["start_time"].fillna(held["time"])
    first = held["first_start_time"] if "first_start_time" in held else held["_start"]
    held["_first"] = first.fillna(held["_start"])
    ordered = held.sort_values("time", kind="stable")
    places = ordered.drop_duplicates("match_id")[["match_id", *(axis for axis in PLACE if axis in held)]]
    whole = ordered.groupby("match_id", sort=False).agg(
        pattern=("pattern", "first"),
        pattern_version=("pattern_version", "first"),
        instance=("instance", "first"),
        track=("track", "first"),
        start_time=("_start", "min"),
        first_start_time=("_first", "min"),
        time=("time", "min"),
        end_time=("time", "max"),
        index=("index", "min"),
        last=("index", "max"),
    )
    found: pd.DataFrame = whole.reset_index().merge(places, on="match_id")
    return found
