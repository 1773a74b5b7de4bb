"""Forecasting as a stage: workers walk over the same events as recognition, with one look-up per event and model."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812

from foresail.models.model import Emission, Model
from foresail.patterns.compiler import CompiledPattern
from foresail.patterns.recognition.tables import shared_conditions
from foresail.pipeline.batch.forecast_worker import TOLD_DDL, Asked, BeginForecasting, GroupsServed
from foresail.pipeline.batch.tally import Tally
from foresail.pipeline.batch.track_walk import Walked, walk_tracks

ID_DIGITS = 32


@dataclass(frozen=True, slots=True)
class Forecast:
    """Events to forecasts, by track: one model for each pattern, in the same order."""

    walked: Walked
    models: tuple[Model, ...]
    """Those of the plain patterns."""
    families: tuple[tuple[Model, ...], ...] = ()
    """Those of the families, layer by layer."""
    emission: Emission = "all"
    tally: Tally | None = None
    groups: Mapping[str, GroupsServed] = field(default_factory=dict)
    """Models of groups of tracks, by pattern."""

    def told(self) -> DataFrame:
        """A row per event and model (and near feature) that has something to tell."""
        groups = zip(self.families, self.walked.families, strict=True)
        asked = tuple(self._asked(models, group.patterns) for models, group in groups)
        plain = self._asked(self.models, self.walked.plain)
        begin = BeginForecasting(plain, asked, self.emission, self.tally)
        return walk_tracks(self.walked, begin, TOLD_DDL).select(*forecast_columns())

    def _asked(self, models: tuple[Model, ...], patterns: tuple[CompiledPattern, ...]) -> Asked:
        groups = tuple(self.groups.get(model.pattern) for model in models)
        return Asked(models, shared_conditions(patterns), groups if any(groups) else ())


def forecast_columns(kind: str = "kind") -> list[Column]:
    """The columns of a forecast; its id is a hash of what names it, the same however the events were cut.

    `kind` is the column that tells of what kind the forecast is.
    """
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
        *map(F.col, ("index", "pattern", "pattern_version", "model_version", "instance", "state", "chain_state")),
        F.col(kind).alias("kind"),
        *map(F.col, ("probability", "positive", "earliest", "latest")),
        (F.col("latest") - F.col("earliest")).alias("spread"),
        F.col("most_likely"),
        *map(F.col, ("earliest_s", "latest_s", "most_likely_s")),
        *minutes,
        *map(F.col, ("lon", "lat")),
    ]
