"""What `foresail recognise --engine local` writes beside its matches when asked: the same as the job on Spark does."""

import json
import math
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from foresail.geo.layers import Layer
from foresail.patterns.catalog.loader import Catalog
from foresail.pipeline.local.frames import PLACE
from foresail.pipeline.local.report_reading import LocalReading
from foresail.pipeline.local.sorted_events import MINUTES, OFFSET, TIME, TRACK, SortedEvents
from foresail.pipeline.local.track_reader import TrackReader, ordered_table
from foresail.pipeline.local.whole_matches import NAMES, read_match_rows, whole_matches
from foresail.pipeline.sinks.output_folder import replaced

GEOJSON_NAMED = (
    "pattern", "pattern_version", "instance", "track", "start_time", "first_start_time", "time", "end_time",
)  # fmt: skip
ROWS_AT_ONCE = 500_000


def write_report(
    reading: LocalReading, catalog: Catalog, layers: tuple[Layer, ...], out: Path, summary: Mapping[str, Any]
) -> None:
    """The page for people."""
    from foresail.pipeline.reports.recognition import write_recognition_report  # noqa: PLC0415 - takes a second

    write_recognition_report(reading, catalog, layers, out, summary["skipped"], summary["little_known"])


def write_geojson(matches: Path, file: Path) -> None:
    """A feature a match, by track and time; one whose place is unknown has the geometry null, as the standard asks."""
    whole = whole_matches(read_match_rows(matches)).sort_values([TRACK, TIME, "pattern", "match_id"])
    for name in ("start_time", "first_start_time", TIME, "end_time"):
        whole[name] = whole[name].dt.strftime("%Y-%m-%dT%H:%M:%S.%fZ")
    with replaced(file) as staging, staging.open("w", encoding="utf-8") as text:
        text.write('{"type":"FeatureCollection","features":[\n')
        for number, row in enumerate(whole.to_dict("records")):
            text.write((",\n" if number else "") + json.dumps(_feature(row), ensure_ascii=False, separators=(",", ":")))
        text.write("\n]}\n")


def _feature(row: Mapping[Any, Any]) -> dict[str, Any]:
    lon, lat = (float(row.get(axis, math.nan)) for axis in PLACE)
    known = abs(lon) <= 180 and abs(lat) <= 90
    return {
        "type": "Feature",
        "id": row["match_id"],
        "geometry": {"type": "Point", "coordinates": [lon, lat]} if known else None,
        "properties": {name: None if pd.isna(row[name]) else row[name] for name in GEOJSON_NAMED},
    }


def write_positions(matches: Path, reader: TrackReader, minutes: bool, folder: Path) -> None:
    """A row for each event of each match, all columns, led by what names the match and `index` within its track."""
    rows = read_match_rows(matches)
    whole = whole_matches(rows)
    listed = _listed(rows)
    totals = reader.totals()
    with replaced(folder) as staging:
        staging.mkdir()
        writer: pq.ParquetWriter | None = None
        try:
            for some in totals.groups(sorted(whole[TRACK].unique())):
                events = reader.read(some, reader.schema.names)
                mine = whole[whole[TRACK].isin(some)]
                for table in _marked(mine, listed, events, reader.schema.names, minutes):
                    writer = writer or pq.ParquetWriter(staging / "part-00000.parquet", table.schema)
                    writer.write_table(table)
            if writer is None:
                empty = next(_marked(whole, listed, reader.read([], reader.schema.names), reader.schema.names, minutes))
                pq.write_table(empty, staging / "part-00000.parquet")
        finally:
            if writer is not None:
                writer.close()


def _listed(rows: pa.Table) -> dict[str, list[int]]:
    """The events that a match lists."""
    if "events" not in rows.column_names or pa.types.is_null(rows.schema.field("events").type):
        return {}
    held = rows.select(["match_id", "events"]).filter(rows["events"].is_valid())
    return dict(zip(held["match_id"].to_pylist(), held["events"].to_pylist(), strict=True))


def _marked(
    matches: pd.DataFrame, listed: Mapping[str, list[int]], events: SortedEvents, columns: list[str], minutes: bool
) -> Iterator[pa.Table]:
    """The rows of some matches, a table at a time; at least one table."""
    numbers = {track: n for n, track in enumerate(events.tracks.to_pylist())}
    shown = [*columns, *([OFFSET] if OFFSET not in columns else []), *([MINUTES] if minutes else [])]
    shown = [name for name in dict.fromkeys(shown) if name not in (*NAMES, "index")]
    table = ordered_table(events, shown)
    if OFFSET not in table.column_names:
        place = np.arange(len(events)) if events.order is None else events.order
        table = table.append_column(OFFSET, pa.array(place.astype(np.int64)))
    held: list[tuple[Mapping[Any, Any], Any]] = []
    count = 0
    for match in matches.to_dict("records"):
        first = int(events.first_of[numbers[match[TRACK]]])
        mine = np.array(_indexes(match, listed, events, numbers[match[TRACK]]), dtype=np.int64)
        held.append((match, first + mine - 1))
        count += len(mine)
        if count >= ROWS_AT_ONCE:
            yield _rows(held, events, table)
            held, count = [], 0
    if held or not len(matches):
        yield _rows(held, events, table)


def _indexes(match: Mapping[Any, Any], listed: Mapping[str, list[int]], events: SortedEvents, track: int) -> Any:
    """The numbers of the events of a match; where several events share the moment of its start, all of them."""
    if match["match_id"] in listed:
        return listed[match["match_id"]]
    times = events.times[int(events.first_of[track]) : int(events.first_of[track + 1])]
    start = _micros(match["start_time"])
    begun = int(np.searchsorted(times, start)) + 1
    there = begun <= len(times) and times[begun - 1] == start
    first = min(begun, int(match["last"])) if there else int(match["last"])
    return np.arange(first, int(match["last"]) + 1)


def _micros(time: pd.Timestamp) -> int:
    return int(time.value // 1000)  # in nanoseconds, whatever its unit


def _rows(held: list[tuple[Mapping[Any, Any], Any]], events: SortedEvents, table: pa.Table) -> pa.Table:
    places = np.concatenate([rows for _, rows in held]) if held else np.empty(0, dtype=np.int64)
    kinds = {"match_id": pa.string(), "pattern": pa.string(), "pattern_version": pa.int32(), "instance": pa.string()}
    owners = np.repeat(np.arange(len(held)), [len(rows) for _, rows in held]).astype(np.int64)
    named = {
        name: pa.array([None if pd.isna(match[name]) else match[name] for match, _ in held], kind).take(
            pa.array(owners)
        )
        for name, kind in kinds.items()
    }
    slot = np.searchsorted(events.first_of, places, side="right") - 1
    named["index"] = pa.array((places - events.first_of[slot] + 1).astype(np.int64))
    rest = table.take(pa.array(places))
    return pa.table(named | {name: rest.column(name) for name in rest.column_names})
