"""Tracks as the map draws them: at most so many, thinned by time in Spark, then simplified for a screen."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import pairwise

import numpy as np
import shapely
from pyspark.sql import DataFrame, Row
from pyspark.sql import functions as F  # noqa: N812

from pipeline.reports.map_view import TrackLine
from pipeline.reports.timeline import TimeSpan

MOST_TRACKS = 150
MOST_POSITIONS = 60_000
FINEST = 3000
SILENCE_S = 1800.0
"""A longer silence leaves a gap in the line, as nobody knows what lies between."""

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
    every_s = max((facts.span.end - facts.span.start) * drawn / MOST_POSITIONS, 1.0)
    lines = _lines(_thinned(mine, every_s).collect(), every_s)
    left_out = (
        f"{drawn:,} of {facts.tracks:,} tracks are drawn, those with matches first." if drawn < facts.tracks else ""
    )
    if every_s > 2 * 60:
        left_out += f" Of each track one position every {every_s / 60:.0f} minutes is drawn."
    return lines, left_out.strip()


def _others(events: DataFrame, chosen: Sequence[str], number: int) -> list[str]:
    if number <= 0:
        return []
    rest = events.where(~F.col("track").isin(list(chosen))) if chosen else events
    return [row["track"] for row in rest.select("track").distinct().orderBy("track").limit(number).collect()]


def _thinned(events: DataFrame, every_s: float) -> DataFrame:
    """One position of each track in each stretch of time, and the name that goes with it."""
    lon, lat, time = (F.col(name).cast("double").alias(name) for name in ("lon", "lat", "time"))
    name = F.col("name").cast("string") if "name" in events.columns else F.lit(None).cast("string")
    placed = events.select("track", lon, lat, time, name.alias("name")).where("abs(lon) <= 180 AND abs(lat) <= 90")
    stretch = F.floor(F.col("time") / every_s)
    first = F.min(F.struct("time", "lon", "lat", "name")).alias("first")
    return placed.groupBy("track", stretch).agg(first).select("track", "first.*").orderBy("track", "time")


def _lines(rows: Sequence[Row], every_s: float) -> tuple[TrackLine, ...]:
    points: dict[str, Points] = defaultdict(list)
    names: dict[str, str] = {}
    for row in rows:
        points[row["track"]].append((row["lon"], row["lat"], row["time"]))
        if row["name"]:
            names[row["track"]] = row["name"]
    places = np.array([(lon, lat) for line in points.values() for lon, lat, _ in line]).reshape(-1, 2)
    extent = float(np.ptp(places, axis=0).max()) if len(places) else 0.0
    silence_s = max(SILENCE_S, 3 * every_s)
    return tuple(
        TrackLine(track, tuple(_simple(part, extent / FINEST) for part in _parts(line, silence_s)), names.get(track))
        for track, line in points.items()
    )


def _parts(line: Points, silence_s: float) -> list[Points]:
    """The line cut where the track was silent, and where it crosses the 180th meridian."""
    parts = [[line[0]]]
    for before, point in pairwise(line):
        if point[2] - before[2] > silence_s or abs(point[0] - before[0]) > 180:
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
