"""Tracks as the map draws them: at most so many, each thinned by itself in Spark, then simplified for a screen.

Track by track: a field to look for one, and a table of those on which something was found.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.window import Window

from foresail.pipeline.reports.found import Found, TrackCount
from foresail.pipeline.reports.map_view import MapView, TrackLine
from foresail.pipeline.reports.page import NOTHING, Column, Markup, Section, count_of, note, plain, table, tag
from foresail.pipeline.reports.timeline import TimeSpan
from foresail.pipeline.reports.track_lines import track_lines

MOST_TRACKS = 150
MOST_POSITIONS = 60_000
SILENCE_S, SILENT_STEPS = 1800.0, 3.0
"""A longer silence, and longer than so many usual steps of the track, leaves a gap in its line: nobody knows what
lies between."""


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
    lines = track_lines([row.asDict() for row in rows])
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


def search_box(view: MapView) -> Markup:
    """The field; what is typed in is looked for in names and numbers of tracks."""
    if view.is_empty:
        return NOTHING
    field = tag("input", type="search", data_search=True, placeholder="name or number", autocomplete="off")
    return tag(
        "div", tag("label", "Look for a vessel or vehicle ", field), tag("output", data_told=True), class_="search"
    )


def track_section(found: Found, tracks: int, patterns: Sequence[str]) -> tuple[Section, ...]:
    """How often each pattern was found on each track, those with most matches first; none where nothing was found."""
    if not found.by_track:
        return ()
    columns = (Column("track"), Column("matches", True), Column("of"))
    rows = [_row(held, patterns) for held in found.by_track]
    names = [name_of(held) for held in found.by_track]
    said = f"Something was found on {found.tracks:,} of {count_of(tracks, 'track')}."
    if len(rows) < found.tracks:
        said += f" These are the {len(rows):,} with most matches."
    listing = table(columns, rows, "dense", [{"data_track": name} for name in names])
    body = note(said) + tag("div", listing, class_="tall")
    return (Section("tracks", "Track by track", body),)


def name_of(held: TrackCount) -> str:
    """What the track is called on the page."""
    return f"{held.name} ({held.track})" if held.name else held.track


def _row(held: TrackCount, patterns: Sequence[str]) -> tuple[object, ...]:
    mine = [(name, held.matches[name]) for name in patterns if name in held.matches]
    kinds = ", ".join(f"{plain(name)} {count:,}" for name, count in mine)
    seek = tag("button", name_of(held), type="button", class_="plain", data_seek=held.name or held.track)
    return (seek, f"{held.total:,}", kinds)
