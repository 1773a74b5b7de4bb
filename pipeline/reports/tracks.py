"""Tracks as the map draws them: at most so many, each thinned by itself in Spark, then simplified for a screen."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import groupby, pairwise

import numpy as np
import shapely
from pyspark.sql import DataFrame, Row
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.window import Window

from foresail.pipeline.reports.map_view import TrackLine
from foresail.pipeline.reports.timeline import TimeSpan

MOST_TRACKS = 150
MOST_POSITIONS = 60_000
FINEST = 3000
SILENCE_S, SILENT_STEPS = 1800.0, 3.0
"""A longer silence, and longer than so many usual steps of the track, leaves a gap in its line: nobody knows what
lies between."""

Points = list[tuple[float, float, float]]


@dataclass(frozen=True, slots=True)
class EventFacts:
    """What the events are, in numbers."""

    events: int
    tracks: int
    first: datetime | None
    last: datetime | None
    has_positions: bool

    @property
    def span(self) -> TimeSpan:
        """From the first event to the last."""
        epoch = datetime(1970, 1, 1, tzinfo=UTC)
        first, last = self.first or epoch, self.last or epoch
        return TimeSpan(first.timestamp(), last.timestamp())


def read_facts(events: DataFrame) -> EventFacts:
    """Count the events and their tracks."""
    row = events.agg(F.count("*"), F.countDistinct("track"), F.min("time"), F.max("time")).first()
    assert row is not None, "an aggregate without groups has one row"
    return EventFacts(row[0], row[1], row[2], row[3], {"lon", "lat"} <= set(events.columns))


def read_tracks(events: DataFrame, facts: EventFacts, wanted: Sequence[str]) -> tuple[tuple[TrackLine, ...], str]:
    """The lines to draw, those of `wanted` first, and a sentence about what was left out ('' if nothing)."""
    if not facts.has_positions or not facts.events:
        return (), ""
    chosen = list(dict.fromkeys(wanted))[:MOST_TRACKS]
    if facts.tracks <= MOST_TRACKS:
        mine, drawn = events, facts.tracks
    else:
        chosen += _others(events, chosen, MOST_TRACKS - len(chosen))
        mine, drawn = events.where(F.col("track").isin(chosen)), len(chosen)
    most = max(MOST_POSITIONS // drawn, 2)
    rows = _thinned(mine, most).collect()
    lines = _lines(rows)
    left_out = (
        f"{drawn:,} of {facts.tracks:,} tracks are drawn, those with matches first." if drawn < facts.tracks else ""
    )
    if any(row["positions"] > most for row in rows):
        left_out += f" Of each track about {most:,} positions are drawn, evenly chosen."
    return lines, left_out.strip()


def _others(events: DataFrame, chosen: Sequence[str], number: int) -> list[str]:
    if number <= 0:
        return []
    rest = events.where(~F.col("track").isin(list(chosen))) if chosen else events
    return [row["track"] for row in rest.select("track").distinct().orderBy("track").limit(number).collect()]


def _thinned(events: DataFrame, most: int) -> DataFrame:
    """Of each track about `most` positions, however long or short it lived, and the ends of its silences."""
    lon, lat, time = (F.col(name).cast("double").alias(name) for name in ("lon", "lat", "time"))
    name = F.col("name").cast("string") if "name" in events.columns else F.lit(None).cast("string")
    placed = events.select("track", lon, lat, time, name.alias("name")).where("abs(lon) <= 180 AND abs(lat) <= 90")
    track = Window.partitionBy("track")
    order = track.orderBy("time", "lon", "lat")
    stepped = placed.withColumns(
        {
            "step_s": F.col("time") - F.lag("time").over(order),
            "number": F.row_number().over(order),
            "positions": F.count("*").over(track),
        }
    )
    usual_s = F.percentile_approx("step_s", 0.5).over(track)
    quiet_s = F.greatest(F.lit(SILENCE_S), F.coalesce(usual_s * SILENT_STEPS, F.lit(0.0)))
    parted = stepped.withColumn("parted", F.coalesce(F.col("step_s") > quiet_s, F.lit(False)))
    parts = F.sum(F.col("parted").cast("int"))
    marked = parted.withColumns(
        {"part": parts.over(order), "parts": parts.over(track), "ends": F.lead("parted", 1, True).over(order)}
    )
    every = F.ceil(F.col("positions") / most)
    at_an_end = (F.col("parted") | F.col("ends")) & (F.col("parts") <= most)
    kept = marked.where(((F.col("number") - 1) % every == 0) | at_an_end)
    return kept.select("track", "time", "lon", "lat", "name", "part", "positions").orderBy("track", "time", "number")


def _lines(rows: Sequence[Row]) -> tuple[TrackLine, ...]:
    points: dict[str, list[Points]] = defaultdict(list)
    names: dict[str, str] = {}
    for track, of_track in groupby(rows, key=lambda row: str(row["track"])):
        for _, of_part in groupby(of_track, key=lambda row: int(row["part"])):
            part = list(of_part)
            points[track] += _parts([(row["lon"], row["lat"], row["time"]) for row in part])
            names[track] = next((row["name"] for row in reversed(part) if row["name"]), names.get(track, ""))
    places = np.array([(lon, lat) for parts in points.values() for part in parts for lon, lat, _ in part])
    extent = float(np.ptp(places.reshape(-1, 2), axis=0).max()) if len(places) else 0.0
    return tuple(
        TrackLine(track, tuple(_simple(part, extent / FINEST) for part in parts), names[track] or None)
        for track, parts in points.items()
    )


def _parts(line: Points) -> list[Points]:
    """The line cut where it crosses the 180th meridian."""
    parts = [[line[0]]]
    for before, point in pairwise(line):
        if abs(point[0] - before[0]) > 180:
            parts.append([])
        parts[-1].append(point)
    return parts


def _simple(part: Points, tolerance: float) -> tuple[tuple[float, float, float], ...]:
    """The part without the points that a straight line shows as well."""
    if len(part) < 3:
        return tuple(part)
    # Time rides along as the third coordinate: simplifying looks at the plane alone and keeps whole points.
    kept = shapely.get_coordinates(shapely.simplify(shapely.LineString(part), tolerance), include_z=True)
    return tuple((float(lon), float(lat), float(time)) for lon, lat, time in kept)
