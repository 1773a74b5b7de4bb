"""Forecasting as a stage: the same rows as recognition cross into Python; one look-up per event and model there."""

from dataclasses import dataclass

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812

from models.model import Emission, Model
from patterns.compiler import CompiledPattern
from pipeline.stages.crossing import FamilyGroup, crossing
from pipeline.stages.forecast_worker import TOLD_DDL, ForecastPartition
from pipeline.stages.tally import Tally

ID_DIGITS = 32


@dataclass(frozen=True, slots=True)
class ForecastFamily:
    """The models of the families over one layer, with the rows that say which events are near."""

    models: tuple[Model, ...]
    group: FamilyGroup


@dataclass(frozen=True, slots=True)
class Forecast:
    """Events to forecasts, by track."""

    plain: tuple[CompiledPattern, ...]
    models: tuple[Model, ...]
    """One for each plain pattern."""
    families: tuple[ForecastFamily, ...] = ()
    emission: Emission = "all"
    tally: Tally | None = None

    def __call__(self, events: DataFrame) -> DataFrame:
        """A row per event and model (and near feature) that has something to tell."""
        groups = tuple(family.group for family in self.families)
        rows = crossing(events, self.plain, groups)
        order = ["track", "time_us", "offset", *(["layer", "feature"] if self.families else [])]
        partitions = int(events.sparkSession.conf.get("spark.sql.shuffle.partitions") or 2)
        by_track = rows.repartition(partitions, "track").sortWithinPartitions(*order).drop("offset")
        worker = ForecastPartition(
            self.models, tuple(family.models for family in self.families), self.emission, self.tally
        )
        return by_track.mapInArrow(worker, TOLD_DDL).select(*forecast_columns())


def forecast_columns() -> list[Column]:
    """The columns of a forecast; its id is a hash of what names it, the same however the events were cut."""
    named = F.concat_ws(
        "\x1f",
        "model_version",
        F.coalesce("instance", F.lit("")),
        "track",
        F.col("time_us").cast("string"),
        F.col("index").cast("string"),
    )
    minutes = [F.round(F.col(f"{name}_s") / 60, 2).alias(f"{name}_min") for name in ("earliest", "latest")]
    return [
        F.substring(F.sha2(named, 256), 1, ID_DIGITS).alias("forecast_id"),
        *map(F.col, ("track",)),
        F.timestamp_micros("time_us").alias("time"),
        *map(
            F.col, ("index", "pattern", "pattern_version", "model_version", "instance", "state", "chain_state", "kind")
        ),
        *map(F.col, ("probability", "positive", "earliest", "latest", "most_likely")),
        *map(F.col, ("earliest_s", "latest_s", "most_likely_s")),
        *minutes,
        *map(F.col, ("lon", "lat")),
    ]
