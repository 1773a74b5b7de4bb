"""The columns that all parts agree on: canonical positions, and the rows that a job set aside with a reason."""

from pyspark.sql import types as T  # noqa: N812

POSITION_COLUMNS: dict[str, T.DataType] = {
    "track": T.StringType(),
    "time": T.TimestampType(),
    "lon": T.DoubleType(),
    "lat": T.DoubleType(),
    "source": T.StringType(),
    "offset": T.LongType(),
    "mmsi": T.LongType(),
    "speed_kn": T.DoubleType(),
    "course_deg": T.DoubleType(),
    "heading_deg": T.DoubleType(),
    "turn_rate": T.DoubleType(),
    "nav_status": T.IntegerType(),
    "vessel_type": T.StringType(),
    "ship_type": T.IntegerType(),
    "length_m": T.DoubleType(),
    "name": T.StringType(),
    "engine": T.StringType(),
    "speed_kmh": T.DoubleType(),
    "fuel_level": T.DoubleType(),
    "satellites": T.IntegerType(),
    "accelerating": T.BooleanType(),
    "ice": T.BooleanType(),
}
"""Name and type of every canonical column; `fuel_level` is 0..1, `turn_rate` in degrees a minute, angles 0..360."""

POSITION_SCHEMA = T.StructType([T.StructField(name, kind) for name, kind in POSITION_COLUMNS.items()])

ENGINE_STATES = ("off", "idle", "parked", "moving")

REJECTED_SCHEMA = T.StructType(
    [
        T.StructField("source", T.StringType()),
        T.StructField("line", T.LongType()),
        T.StructField("reason", T.StringType()),
        T.StructField("raw", T.StringType()),
    ]
)
"""A row that did not become a position: where it came from, why it was set aside, and its text as it was."""

DERIVED_COLUMNS: dict[str, T.DataType] = {
    "gap_s": T.DoubleType(),
    "distance_m": T.DoubleType(),
    "implied_speed_kn": T.DoubleType(),
    "acceleration": T.DoubleType(),
    "turn_deg": T.DoubleType(),
    "change_in_heading": T.BooleanType(),
    "drift_deg": T.DoubleType(),
    "status_duration_min": T.DoubleType(),
    "position_jump": T.BooleanType(),
    "minutes_since_start": T.DoubleType(),
    "speed_implied": T.BooleanType(),
}
"""What `pipeline.stages.derive` adds, from the previous position of the track; defined in docs/attributes.md."""

TIME_FORMAT = "yyyy-MM-dd'T'HH:mm:ss.SSSSSSXXX"
"""How times are written in JSON, for Spark: ISO 8601 with microseconds and the offset."""
