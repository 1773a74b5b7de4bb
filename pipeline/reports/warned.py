"""Forecasts as warnings: positive forecasts close to each other are one warning, and the matches say what came of it.

A warning ends when its model has been quiet for as many events as it looks ahead; it is right when the match comes
within the reach of its very first forecast.
"""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from datetime import datetime
from pathlib import Path

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.window import Window

from foresail.pipeline.results.whole_matches import read_matches

MOST_WARNINGS = 3000
OF_ONE_THING = ("pattern", "instance", "track")


@dataclass(frozen=True, slots=True)
class Warned:
    """The first forecast of a warning: where and when, how likely, and in how many events the match came."""

    pattern: str
    instance: str | None
    track: str
    time: datetime
    index: int
    probability: float
    chain_state: int
    model_version: str
    lon: float | None
    lat: float | None
    came_after: int | None
    """Events until the match; None where none came within the reach of the forecast."""
    because: str | None = None
    """What moved a forecast of trees most, in words."""

    @property
    def came_true(self) -> bool:
        """Whether it was right."""
        return self.came_after is not None


@dataclass(frozen=True, slots=True)
class Warnings:
    """The warnings that are shown, of `total`."""

    shown: tuple[Warned, ...]
    total: int

    def of(self, pattern: str) -> tuple[Warned, ...]:
        """Those of one pattern."""
        return tuple(warned for warned in self.shown if warned.pattern == pattern)


def read_warnings(
    spark: SparkSession, forecasts: Path, matches: Path, within: Mapping[str, int], since: datetime
) -> Warnings:
    """The warnings from `since` on; `within` says for each pattern how many events ahead its model looks."""
    rows = spark.read.parquet(str(forecasts)) if forecasts.is_dir() else spark.read.json(str(forecasts))
    if "because" not in rows.columns:
        rows = rows.withColumn("because", F.lit(None).cast("string"))  # JSON without any
    positive = rows.where(F.col("positive") & (F.col("time") >= F.lit(since)) & F.col("pattern").isin(list(within)))
    first = _beginnings(positive, within).persist()
    try:
        total = first.count()
        chosen = first.orderBy("forecast_id").limit(MOST_WARNINGS)
        emitted = (
            _with_outcome(chosen, read_matches(spark, matches), within).orderBy("time", "pattern", "track").collect()
        )
    finally:
        first.unpersist()
    named = [field.name for field in fields(Warned)]
    return Warnings(tuple(Warned(**{name: row[name] for name in named}) for row in emitted), total)


def _beginnings(positive: DataFrame, within: Mapping[str, int]) -> DataFrame:
    """The positive forecasts before which all was quiet."""
    before = F.lag("index").over(Window.partitionBy(*OF_ONE_THING).orderBy("index"))
    quiet = before.isNull() | (F.col("index") > before + _reach(within, F.col("pattern")))
    return positive.withColumn("_begins", quiet).where("_begins").drop("_begins")


def _reach(within: Mapping[str, int], pattern: Column) -> Column:
    return F.create_map(*(F.lit(held) for pair in within.items() for held in pair))[pattern]


def _with_outcome(warned: DataFrame, matches: DataFrame, within: Mapping[str, int]) -> DataFrame:
    """`warned` with the number of events to the first detection within reach."""
    reach = _reach(within, F.col("w.pattern"))
    found = matches.select(*OF_ONE_THING, F.col("index").alias("_at")).distinct()
    same = [F.col(f"w.{name}").eqNullSafe(F.col(f"m.{name}")) for name in OF_ONE_THING]
    ahead = F.col("m._at") - F.col("w.index")
    met = warned.alias("w").join(found.alias("m"), [*same, ahead >= 1, ahead <= reach], "left")
    soonest = F.min(ahead).alias("came_after")
    return met.groupBy(*(F.col(f"w.{name}") for name in warned.columns)).agg(soonest)
