"""Matches of a frame on a map with the tracks of its events: the map of the reports, made without Spark."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa

from foresail.geo.layers import Layer
from foresail.pipeline.errors import InputError
from foresail.pipeline.local.frames import PLACE, plain_table
from foresail.pipeline.local.sorted_events import SortedEvents
from foresail.pipeline.reports.land import SAID, land_around
from foresail.pipeline.reports.map_layers import map_layers
from foresail.pipeline.reports.map_view import MapView, Mark, MarkGroup, bounds, map_data, map_markup
from foresail.pipeline.reports.page import Page, Section, count_of, moment, paragraphs, render_page, titled
from foresail.pipeline.reports.plots import sign_of
from foresail.pipeline.reports.track_lines import track_lines

MOST_TRACKS, MOST_POSITIONS, MOST_MARKS = 150, 60_000, 5000
SILENCE_US = 1_800_000_000
DATA = "map-data"


def match_map(matches: pa.Table, events: SortedEvents, layers: Sequence[Layer] = ()) -> str:
    """The page, whole: where each match was first seen, and the lines of the tracks."""
    if not events.has_places:
        msg = "events: have no columns lon and lat, so that there is no map of them. Add them, or use GeoPandas."
        raise InputError(msg)
    rows = _first_rows(matches, events)
    found = [name for name, _ in sorted(_counts(rows).items(), key=lambda some: (-some[1], some[0]))]
    groups = tuple(
        MarkGroup(name, titled(name), sign_of(n), tuple(_marks(rows, name)), _counts(rows)[name])
        for n, name in enumerate(found)
    )
    lines = track_lines(list(_positions(events, [row["track"] for row in rows])))
    bare = MapView((), lines, groups)
    drawn, undrawn = map_layers(tuple(layers), bounds(bare)) if not bare.is_empty else ((), ())
    land = land_around(bounds(bare)) if not bare.is_empty else ()
    view = replace(bare, layers=drawn, left_out=(*undrawn, SAID), land=land)
    lead = paragraphs(f"{count_of(len(rows), 'match', 'matches')} on {count_of(len(events.tracks), 'track')}.")
    body = map_markup(view, DATA)
    data = {} if view.is_empty else {DATA: map_data(view)}
    return render_page(Page("Matches on a map", lead, (Section("map", "Where", body),), data=data))


def _first_rows(matches: pa.Table, events: SortedEvents) -> list[dict[str, Any]]:
    """The first row of each match, which has its place, or gets that of the event of its time."""
    rows: dict[str, dict[str, Any]] = {}
    ordered = plain_table(matches).sort_by([("time", "ascending")]) if matches.num_rows else matches
    for row in ordered.to_pylist():
        held = rows.setdefault(row["match_id"], row)
        held["until"] = row["time"]
    if not set(PLACE) <= set(matches.column_names):
        _place(rows.values(), events)
    return [row for row in rows.values() if row["lon"] is not None and row["lat"] is not None]


def _place(rows: Any, events: SortedEvents) -> None:
    numbers = {name: n for n, name in enumerate(events.tracks.to_pylist())}
    lon, lat = events.places(slice(0, len(events)))
    for row in rows:
        n = numbers[row["track"]]
        first, end = int(events.first_of[n]), int(events.first_of[n + 1])
        micros = round(row["time"].timestamp() * 1e6)
        at = min(first + int(np.searchsorted(events.times[first:end], micros)), end - 1)
        row["lon"], row["lat"] = (None if np.isnan(axis[at]) else float(axis[at]) for axis in (lon, lat))


def _counts(rows: Sequence[dict[str, Any]]) -> dict[str, int]:
    counts: dict[str, int] = {}
    for row in rows:
        counts[row["pattern"]] = counts.get(row["pattern"], 0) + 1
    return counts


def _marks(rows: Sequence[dict[str, Any]], name: str) -> Iterator[Mark]:
    mine = [row for row in rows if row["pattern"] == name]
    for row in mine[:: max(1, -(-len(mine) // MOST_MARKS))]:
        lines = tuple(filter(None, (row.get("instance"), row["track"], f"{moment(row['time'], seconds=True)} UTC")))
        began = (row.get("start_time") or row["time"]).timestamp()
        yield Mark(row["lon"], row["lat"], began, row["until"].timestamp(), lines, track=row["track"])


def _positions(events: SortedEvents, wanted: Sequence[str]) -> Iterator[dict[str, Any]]:
    """Positions of the tracks that are drawn, those with matches first, thinned evenly; a silence parts a line."""
    names = events.tracks.to_pylist()
    chosen = list(dict.fromkeys([*wanted, *names]))[:MOST_TRACKS]
    numbers = {name: n for n, name in enumerate(names)}
    lon, lat = events.places(slice(0, len(events)))
    most = max(MOST_POSITIONS // max(len(chosen), 1), 2)
    for name in chosen:
        first, end = int(events.first_of[numbers[name]]), int(events.first_of[numbers[name] + 1])
        rows = np.arange(first, end)
        rows = rows[(np.abs(lon[rows]) <= 180) & (np.abs(lat[rows]) <= 90)]
        rows = rows[:: max(1, -(-len(rows) // most))]
        parts = np.cumsum(np.diff(events.times[rows], prepend=events.times[rows[:1]]) > SILENCE_US)
        for row, part in zip(rows.tolist(), parts.tolist(), strict=True):
            yield {
                "track": name, "part": part, "lon": float(lon[row]), "lat": float(lat[row]),
                "time": events.times[row] / 1e6, "name": None,
            }  # fmt: skip
