"""Resampling: tracks at a fixed step, as forecasting wants them; linear between positions, never across a gap."""

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F  # noqa: N812

from foresail.pipeline.schemas import DERIVED_COLUMNS
from foresail.pipeline.stages.derive import wrapped_deg

DEFAULT_STEP_S = 60
DEFAULT_MAX_GAP_S = 1800.0
LINEAR = ("lat", "speed_kn", "speed_kmh", "fuel_level")
CIRCULAR = ("course_deg", "heading_deg")


def resample(positions: DataFrame, step_s: int = DEFAULT_STEP_S, max_gap_s: float = DEFAULT_MAX_GAP_S) -> DataFrame:
    """`positions` at whole multiples of `step_s` since 1970; `resampled` tells those that were not sent.

    Place, speed and fuel are linear between the positions around an instant when those are at most `max_gap_s` apart;
    angles take the shorter way; everything else is as last sent. Derived attributes are left out: derive them anew.
    """
    positions = positions.drop(*DERIVED_COLUMNS)
    in_time = Window.partitionBy("track").orderBy("time", "offset")
    moving = [name for name in ("time", "lon", *LINEAR, *CIRCULAR) if name in positions.columns]
    paired = positions.withColumns({f"next_{name}": F.lead(name).over(in_time) for name in moving})
    start_us, end_us = F.unix_micros("time"), F.unix_micros("next_time")
    step_us = F.lit(step_s * 1_000_000)
    near = F.coalesce(end_us - start_us <= F.lit(max_gap_s * 1e6), F.lit(False))
    first = F.ceil(start_us / step_us).cast("long")
    last = F.when(near, F.ceil(end_us / step_us).cast("long") - 1).otherwise(F.floor(start_us / step_us).cast("long"))
    ticks = F.when(first <= last, F.sequence(first, last)).otherwise(F.array().cast("array<long>"))
    spread = paired.withColumn("tick", F.explode(ticks)).withColumn("at_us", F.col("tick") * step_us)
    part = F.when(near, (F.col("at_us") - start_us) / (end_us - start_us)).otherwise(F.lit(0.0))
    placed = spread.withColumn("part", part)
    values = {name: _linear(name) for name in LINEAR if name in moving}
    values |= {name: _circular(name) for name in CIRCULAR if name in moving}
    values |= {"lon": _longitude(), "resampled": F.col("at_us") != start_us, "time": F.timestamp_micros("at_us")}
    return placed.withColumns(values).select(*positions.columns, "resampled")


def _linear(name: str) -> Column:
    now, then = F.col(name), F.col(f"next_{name}")
    return F.when(then.isNull() | (F.col("part") == 0), now).otherwise(now + F.col("part") * (then - now))


def _circular(name: str) -> Column:
    now, then = F.col(name), F.col(f"next_{name}")
    turned = F.pmod(now + F.col("part") * wrapped_deg(then - now), F.lit(360.0))
    return F.when(then.isNull() | (F.col("part") == 0), now).otherwise(turned)


def _longitude() -> Column:
    """The shorter way around the Earth, also where that crosses the antimeridian."""
    now, then = F.col("lon"), F.col("next_lon")
    moved = wrapped_deg(now + F.col("part") * wrapped_deg(then - now))
    return F.when(then.isNull() | (F.col("part") == 0), now).otherwise(moved)
