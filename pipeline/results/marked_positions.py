"""Matches joined back to the positions they marked: for each match its events, whole, in the order of the track.

Events are numbered as the kernels count them, so the join is one of numbers: it costs what it brings, however many
matches overlap on a track.
"""

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.types import ArrayType
from pyspark.sql.window import Window

from foresail.pipeline.sources.table import OFFSET, TIME, TRACK

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
    told = isinstance(rows.schema["events"].dataType, ArrayType)
    return F.max("events") if told else F.lit(None).cast("array<long>")


def _numbers() -> Column:
    first = F.least(F.coalesce("_first", "_last"), "_last")
    return F.coalesce("_listed", F.sequence(first, F.col("_last")))
