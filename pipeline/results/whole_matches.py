"""Rows of matches to matches: an episode is emitted in many rows that share a `match_id`; here it is one that lasts.

Matches can also be joined back to the positions they marked: events are numbered as the kernels count them, so the join
is one of numbers and costs what it brings, however many matches overlap on a track.
"""

from pathlib import Path

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.types import ArrayType
from pyspark.sql.window import Window

from foresail.pipeline.sources.table import OFFSET, TIME, TRACK

PLACE = ("lon", "lat")
FIRST_START = "first_start_time"
"""The earliest start that makes a match, in rows that have it."""


def read_matches(spark: SparkSession, path: Path) -> DataFrame:
    """The rows that `foresail recognise` wrote, as a folder of Parquet or a file of JSON lines."""
    if path.is_dir():
        return spark.read.parquet(str(path))
    rows = spark.read.json(str(path))
    times = [name for name in ("time", "start_time", FIRST_START) if name in rows.columns]
    return rows.withColumns({name: F.to_timestamp(name) for name in times}) if times else rows


def whole_matches(rows: DataFrame) -> DataFrame:
    """One row per match: what names it, when it began, the `time` of its first detection, `end_time`, and its place.

    Rows of an earlier version have no `first_start_time`; theirs is `start_time`.
    """
    has_place = set(PLACE) <= set(rows.columns)
    began = [F.col(name) for name in (FIRST_START, "start_time", "time") if name in rows.columns]
    place = F.min_by(F.struct(*PLACE), "time") if has_place else F.lit(None)
    episodes = rows.groupBy("match_id").agg(
        *(F.first(name).alias(name) for name in ("pattern", "pattern_version", "instance", "track")),
        F.coalesce(F.min("start_time"), F.min("time")).alias("start_time"),
        F.min(F.coalesce(*began)).alias(FIRST_START),
        F.min("time").alias("time"),
        F.max("time").alias("end_time"),
        F.min("index").alias("index"),
        F.count("*").alias("rows"),
        place.alias("place"),
    )
    return episodes.withColumns({axis: F.col(f"place.{axis}") for axis in PLACE if has_place}).drop("place")


def placed(matches: DataFrame, events: DataFrame) -> DataFrame:
    """`matches` with `lon` and `lat` of the detecting event, looked up where the rows do not bring them."""
    if set(PLACE) <= set(matches.columns):
        return matches
    if not set(PLACE) <= set(events.columns):
        return matches.withColumns({axis: F.lit(None).cast("double") for axis in PLACE})
    places = events.select("track", "time", *(F.col(axis).cast("double").alias(axis) for axis in PLACE))
    # Two events of one track at one moment: either place will do, but not two rows for one match.
    asked = places.join(matches.select("track", "time").distinct(), ["track", "time"])
    one = asked.groupBy("track", "time").agg(F.min(F.struct(*PLACE)).alias("place"))
    return matches.join(one.select("track", "time", "place.lon", "place.lat"), ["track", "time"], "left")


NAMES = ("match_id", "pattern", "pattern_version", "instance")


def marked_positions(rows: DataFrame, events: DataFrame) -> DataFrame:
    """A row for each event of each match, with all its columns, led by what names the match and `index` of the event.

    A match that lists its events has just these; any other has all events of its track from its start to its end.
    """
    taken = [*NAMES, "index"]
    order = Window.partitionBy(TRACK).orderBy(TIME, OFFSET)
    numbered = events.drop(*taken).withColumn("index", F.row_number().over(order).cast("long"))
    members = _members(rows, numbered)
    return members.join(numbered, [TRACK, "index"]).select(*taken, *(f"`{c}`" for c in events.drop(*taken).columns))


def _members(rows: DataFrame, numbered: DataFrame) -> DataFrame:
    """Of each match the numbers of its events; where several events share the moment of its start, all of them."""
    matches = rows.groupBy("match_id").agg(
        *(F.first(name).alias(name) for name in (*NAMES[1:], TRACK)),
        F.coalesce(F.min("start_time"), F.min("time")).alias("_start"),
        F.max("index").alias("_last"),
        _listed(rows).alias("_listed"),
    )
    starts = numbered.groupBy(TRACK, F.col(TIME).alias("_start")).agg(F.min("index").alias("_first"))
    begun = matches.join(starts, [TRACK, "_start"], "left")
    return begun.select(*NAMES, TRACK, F.explode(_numbers()).alias("index"))


def _listed(rows: DataFrame) -> Column:
    """The events that a match lists; JSON lines in which none does have no type for them."""
    listed = isinstance(rows.schema["events"].dataType, ArrayType)
    return F.max("events") if listed else F.lit(None).cast("array<long>")


def _numbers() -> Column:
    first = F.least(F.coalesce("_first", "_last"), "_last")
    return F.coalesce("_listed", F.sequence(first, F.col("_last")))
