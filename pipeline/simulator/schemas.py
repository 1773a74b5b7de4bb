"""The columns of what simulations write beside positions: the truth table and the fault table."""

from pyspark.sql.types import LongType, StringType, StructField, StructType, TimestampType

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
