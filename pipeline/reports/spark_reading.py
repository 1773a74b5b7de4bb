"""What a page of recognition asks of events and matches, answered by Spark: few rows come back."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.pandas.types import from_arrow_schema
from pyspark.sql.window import Window

from foresail.patterns.conditions import AttributeType
from foresail.pipeline.conditions.spark import attribute_types
from foresail.pipeline.reports import tracks as limits
from foresail.pipeline.reports.found import LISTED_EACH, MOST_MARKS, MOST_TRACKS_COUNTED, Found, Match, PatternCount
from foresail.pipeline.reports.found import TrackCount as Counted
from foresail.pipeline.reports.map_view import TrackLine
from foresail.pipeline.reports.match_events import HEAD, TAIL, MatchEvents, Searched, columns_read, events_of_matches
from foresail.pipeline.reports.near_misses import FOUND, SHARES, Sought, least_share, looked_at, put_together
from foresail.pipeline.reports.timeline import TimeSpan
from foresail.pipeline.reports.track_lines import track_lines
from foresail.pipeline.reports.tracks import MOST_TRACKS, SILENCE_S, SILENT_STEPS, EventFacts, said_of_lines
from foresail.pipeline.results.whole_matches import FIRST_START, placed, read_matches, whole_matches


class SparkReading:
    """Events and the matches that were found in them, as frames of Spark."""

    def __init__(self, spark: SparkSession, matches: Path, events: DataFrame) -> None:
        self._spark, self._matches, self._events = spark, matches, events

    @property
    def types(self) -> Mapping[str, AttributeType]:
        """The attributes of the events."""
        return attribute_types(self._events.schema)

    def facts(self) -> EventFacts:
        """What the events are, in numbers."""
        return read_facts(self._events)

    def found(self, patterns: Sequence[str], span: TimeSpan) -> Found:
        """The counts of all matches, and the marks to draw."""
        rows = read_matches(self._spark, self._matches)
        if not rows.columns:  # a file without lines says nothing of columns
            return Found(dict.fromkeys(patterns, PatternCount()), ())
        return read_found(rows, self._events, patterns, span)

    def near_misses(self, total: int, searched: Mapping[str, Searched]) -> dict[str, Sought]:
        """What was seen of patterns that were not found."""
        return read_near_misses(self._events, total, searched)

    def tracks(self, facts: EventFacts, wanted: Sequence[str]) -> tuple[tuple[TrackLine, ...], str]:
        """The lines to draw, and what is left out of them."""
        return read_tracks(self._events, facts, wanted)

    def match_events(self, matches: Sequence[Match], searched: Mapping[str, Searched]) -> dict[str, MatchEvents]:
        """The first and the last events of matches."""
        return read_match_events(self._events, matches, searched)

    def lengths(self, tracks: Sequence[str]) -> dict[str, int]:
        """How many events these tracks have."""
        mine = self._events.where(F.col("track").isin(list(tracks))).groupBy("track").count()
        return {row["track"]: row["count"] for row in mine.collect()}

    def events_of(self, tracks: Sequence[str], searched: Sequence[Searched]) -> pa.Table:
        """The events of a few tracks, with what patterns read."""
        columns = columns_read(searched, self._events.columns)
        mine = self._events.where(F.col("track").isin(list(tracks)))
        return mine.select(*(f"`{name}`" for name in columns)).toArrow()


def read_found(rows: DataFrame, events: DataFrame, patterns: Sequence[str], span: TimeSpan) -> Found:
    """The counts of all matches and the marks to draw."""
    matches = whole_matches(rows).persist()
    try:
        counts = _counts(matches, patterns, span)
        by_track = _by_track(matches, events)
        tracks = matches.select("track").distinct().count()
        each = max(LISTED_EACH, MOST_MARKS // max(1, sum(count.matches > 0 for count in counts.values())))
        order = Window.partitionBy("pattern").orderBy("match_id")
        chosen = matches.withColumn("_place", F.row_number().over(order)).where(F.col("_place") <= each)
        began = [F.col(name) for name in (FIRST_START, "start_time") if name in chosen.columns]
        whole = chosen.withColumn("_began", F.coalesce(*began))
        held = placed(whole, events).orderBy("pattern", "time", "match_id").collect()
    finally:
        matches.unpersist()
    marks = (
        Match(
            *(row[name] for name in ("match_id", "pattern", "instance", "track")),
            *(row[name] for name in ("_began", "time", "end_time", "lon", "lat")),
        )
        for row in held
    )
    return Found(counts, tuple(marks), by_track, tracks)


def _counts(matches: DataFrame, patterns: Sequence[str], span: TimeSpan) -> dict[str, PatternCount]:
    counts = dict.fromkeys(patterns, PatternCount())
    sums = matches.groupBy("pattern").agg(F.count("*").alias("matches"), F.countDistinct("track").alias("tracks"))
    for row in sums.collect():
        counts[row["pattern"]] = PatternCount(row["matches"], row["tracks"])
    place = (F.floor(F.col("time").cast("double") / span.bin_s) - span.first_bin).cast("int").alias("bin")
    bins: dict[str, list[tuple[int, int]]] = defaultdict(list)
    for row in matches.groupBy("pattern", place).count().orderBy("bin").collect():
        bins[row["pattern"]].append((row["bin"], row["count"]))
    return {name: replace(count, bins=tuple(bins[name])) for name, count in counts.items()}


def _by_track(matches: DataFrame, events: DataFrame) -> tuple[Counted, ...]:
    totals = matches.groupBy("track").agg(F.count("*").alias("total"))
    most = totals.orderBy(F.desc("total"), F.col("track")).limit(MOST_TRACKS_COUNTED)
    tracks = [row["track"] for row in most.collect()]
    counts: dict[str, dict[str, int]] = {track: {} for track in tracks}
    mine = matches.where(F.col("track").isin(tracks)).groupBy("track", "pattern").count().orderBy("pattern")
    for row in mine.collect():
        counts[row["track"]][row["pattern"]] = row["count"]
    names = _names(events, tracks)
    return tuple(Counted(track, names.get(track), held) for track, held in counts.items())


def _names(events: DataFrame, tracks: Sequence[str]) -> dict[str, str]:
    """What the tracks were last called, where they have names."""
    if "name" not in events.columns or not tracks:
        return {}
    named = events.where(F.col("track").isin(list(tracks)) & F.col("name").isNotNull())
    last = F.max_by(F.col("name").cast("string"), "time").alias("name")
    return {row["track"]: row["name"] for row in named.groupBy("track").agg(last).collect()}


def read_match_events(
    events: DataFrame, matches: Sequence[Match], searched: Mapping[str, Searched]
) -> dict[str, MatchEvents]:
    """By match id, the events from the beginning of each match to its end."""
    known = [match for match in matches if match.pattern in searched]
    return events_of_matches(_rows(events, known, searched), known, searched) if known else {}


def _rows(events: DataFrame, matches: Sequence[Match], searched: Mapping[str, Searched]) -> pa.Table:
    """The first and last events of every match, in one pass over the events, which stay where they are."""
    spark = events.sparkSession
    asked = [(match.match_id, match.track, match.start, match.end) for match in matches]
    wanted = spark.createDataFrame(asked, "match_id string, _track string, _from timestamp, _to timestamp")
    columns = columns_read(searched.values(), events.columns)
    mine = events.select(*(f"`{name}`" for name in columns)).join(
        F.broadcast(wanted), F.expr("track = _track AND time BETWEEN _from AND _to")
    )
    within = Window.partitionBy("match_id").orderBy("time", *(["offset"] if "offset" in columns else []))
    numbered = mine.withColumns(
        {"_number": F.row_number().over(within), "_total": F.count("*").over(Window.partitionBy("match_id"))}
    )
    ends = (F.col("_number") <= HEAD) | (F.col("_number") > F.col("_total") - TAIL)
    return numbered.where(ends).drop("_track", "_from", "_to").orderBy("match_id", "_number").toArrow()


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
    most = max(limits.MOST_POSITIONS // drawn, 2)
    rows = _thinned(mine, most).collect()
    lines = track_lines([row.asDict() for row in rows])
    return lines, said_of_lines(drawn, facts.tracks, most, any(row["positions"] > most for row in rows))


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


def read_near_misses(events: DataFrame, total: int, searched: Mapping[str, Searched]) -> dict[str, Sought]:
    """For each of these patterns, none of which was found, what there is to say of it; one pass over the events."""
    if not searched or not total:
        return {}
    columns = columns_read(searched.values(), events.columns)
    narrow = events.select(*(f"`{name}`" for name in columns))
    if least_share(total) < SHARES:
        narrow = narrow.where(F.pmod(F.xxhash64("track"), F.lit(SHARES)) < least_share(total))
    order = ["track", "time", *(["offset"] if "offset" in columns else [])]
    by_track = narrow.repartition("track").sortWithinPartitions(*order)
    rows = by_track.mapInArrow(_looking(tuple(searched.values())), from_arrow_schema(FOUND))
    return put_together(searched, rows.toArrow().to_pylist())


def _looking(patterns: Sequence[Searched]) -> Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    def look(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        held = list(batches)
        if held:
            yield looked_at(patterns, pa.Table.from_batches(held))

    return look
