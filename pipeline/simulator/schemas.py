"""The columns that simulations write: canonical positions, the truth table, the fault table."""

from pyspark.sql.types import (
    BooleanType,
    DoubleType,
    IntegerType,
    LongType,
    StringType,
    StructField,
    StructType,
    TimestampType,
)

_POSITION = (
    StructField("track", StringType()),
    StructField("time", TimestampType()),
    StructField("lon", DoubleType()),
    StructField("lat", DoubleType()),
    StructField("source", StringType()),
    StructField("offset", LongType()),
)

EVENTS = {
    "maritime": StructType(
        [
            *_POSITION,
            StructField("mmsi", LongType()),
            StructField("speed_kn", DoubleType()),
            StructField("course_deg", DoubleType()),
            StructField("heading_deg", DoubleType()),
            StructField("turn_rate", DoubleType()),
            StructField("nav_status", IntegerType()),
            StructField("vessel_type", StringType()),
            StructField("ship_type", IntegerType()),
            StructField("length_m", DoubleType()),
            StructField("name", StringType()),
        ]
    ),
    "fleet": StructType(
        [
            *_POSITION,
            StructField("engine", StringType()),
            StructField("speed_kmh", DoubleType()),
            StructField("fuel_level", DoubleType()),
            StructField("satellites", IntegerType()),
            StructField("accelerating", BooleanType()),
            StructField("ice", BooleanType()),
            StructField("speed_limit_kmh", DoubleType()),
        ]
    ),
}

TRUTH = StructType(
    [
        StructField("pattern", StringType()),
        StructField("track", StringType()),
        StructField("other_track", StringType()),
        StructField("start", TimestampType()),
        StructField("end", TimestampType()),
        StructField("kind", StringType()),
        StructField("rows", LongType()),
        StructField("feature", StringType()),
        StructField("detail", StringType()),
    ]
)

FAULTS = StructType(
    [
        StructField("fault", StringType()),
        StructField("track", StringType()),
        StructField("start", TimestampType()),
        StructField("end", TimestampType()),
        StructField("rows", LongType()),
        StructField("table", StringType()),
        StructField("detail", StringType()),
    ]
)
