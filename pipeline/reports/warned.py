"""Forecasts as warnings: positive forecasts in a row are one warning, and the matches say what came of it."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from datetime import datetime
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.window import Window

from pipeline.stages.whole_matches import read_matches

MOST_WARNINGS = 3000
OF_ONE_THING = ("pattern", "instance", "track")


@dataclass(frozen=True, slots=True)
class Warned:
    """The first of positive forecasts in a row: where and when, how likely, and in how many events the match came."""

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
    positive = rows.where(F.col("positive") & (F.col("time") >= F.lit(since)) & F.col("pattern").isin(list(within)))
    first = _first_of_runs(positive).persist()
    try:
        total = first.count()
        chosen = first.orderBy("forecast_id").limit(MOST_WARNINGS)
        told = _with_outcome(chosen, read_matches(spark, matches), within).orderBy("time", "pattern", "track").collect()
    finally:
        first.unpersist()
    named = [field.name for field in fields(Warned)]
    return Warnings(tuple(Warned(**{name: row[name] for name in named}) for row in told), total)


def _first_of_runs(positive: DataFrame) -> DataFrame:
    """The positive forecasts whose event follows no other: where a warning begins."""
    in_order = Window.partitionBy(*OF_ONE_THING).orderBy("index")
    before = F.lag("index").over(in_order)
    return positive.withColumn("_before", before).where("_before IS NULL OR index > _before + 1").drop("_before")


def _with_outcome(warned: DataFrame, matches: DataFrame, within: Mapping[str, int]) -> DataFrame:
    """`warned` with the number of events to the first detection within reach."""
    reach = F.create_map(*(F.lit(held) for pair in within.items() for held in pair))[F.col("w.pattern")]
    found = matches.select(*OF_ONE_THING, F.col("index").alias("_at")).distinct()
    same = [F.col(f"w.{name}").eqNullSafe(F.col(f"m.{name}")) for name in OF_ONE_THING]
    ahead = F.col("m._at") - F.col("w.index")
    met = warned.alias("w").join(found.alias("m"), [*same, ahead >= 1, ahead <= reach], "left")
    soonest = F.min(ahead).alias("came_after")
    return met.groupBy(*(F.col(f"w.{name}") for name in warned.columns)).agg(soonest)
