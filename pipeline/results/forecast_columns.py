"""The columns of a forecast as Spark makes them: the same ids and times whether it was made in a batch or a stream."""

from pyspark.sql import Column
from pyspark.sql import functions as F  # noqa: N812

from foresail.pipeline.results.ids import ID_DIGITS, SEPARATOR


def forecast_columns(kind: str = "kind") -> list[Column]:
    """The columns of a forecast; its id is a hash of what names it, the same however the events were cut.

    `kind` is the column that tells of what kind the forecast is.
    """
    named = F.concat_ws(
        SEPARATOR,
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
        *map(F.col, ("lon", "lat", "because")),
    ]
