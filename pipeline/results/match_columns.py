"""The columns of a match: the same ids and times whether it was found in a batch or in a stream."""

from pyspark.sql import Column
from pyspark.sql import functions as F  # noqa: N812

from foresail.pipeline.results.ids import ID_DIGITS, SEPARATOR
from foresail.pipeline.results.registers import TEXT_DDL


def match_columns(places: bool = False) -> list[Column]:
    """The columns of a match, with `places` also where it was detected.

    Its id is a hash of what names it, the same however and wherever it was found.
    """
    relative = F.concat_ws(",", F.transform("events", lambda e: (F.col("index") - e).cast("string")))
    named = F.concat_ws(
        SEPARATOR,
        "pattern",
        F.col("pattern_version").cast("string"),
        F.coalesce("instance", F.lit("")),
        "track",
        F.col("id_time_us").cast("string"),
        F.col("id_tie").cast("string"),
        F.coalesce(relative, F.lit("")),
    )
    return [
        F.substring(F.sha2(named, 256), 1, ID_DIGITS).alias("match_id"),
        F.col("pattern"),
        F.col("pattern_version"),
        F.col("instance"),
        F.col("track"),
        F.timestamp_micros("time_us").alias("time"),
        F.col("index"),
        F.col("events"),
        F.timestamp_micros("start_time_us").alias("start_time"),
        F.timestamp_micros("first_start_time_us").alias("first_start_time"),
        _registers().alias("registers"),
        F.col("count"),
        F.col("omitted"),
        F.col("status"),
        *(F.col(axis) for axis in ("lon", "lat") if places),
    ]


def _registers() -> Column:
    """What registers held, by name, from the text that workers send."""
    held = F.from_json("registers", TEXT_DDL)
    return F.transform_values(
        held,
        lambda _, event: F.struct(event["index"].alias("index"), F.timestamp_micros(event["time_us"]).alias("time")),
    )
