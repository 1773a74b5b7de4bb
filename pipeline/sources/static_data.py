"""Static data (what a vessel is, not where): from a second file, or from the static messages of the same feed."""

from pathlib import Path

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812

from foresail.pipeline.errors import InputError
from foresail.pipeline.sources.codes import VESSEL_TYPES, looked_up
from foresail.pipeline.sources.fields import number, text_of, whole
from foresail.pipeline.sources.table_form import tables_inside

TRACK_NAMES = ("mmsi", "sourcemmsi", "track", "vehicle_id", "device_id")
VALUE_NAMES = {
    "ship_type": ("shiptype", "ship_type", "vesseltype", "vessel_type_code"),
    "name": ("shipname", "name", "vesselname", "ship_name"),
    "length_m": ("length", "length_m"),
    "bow_m": ("tobow", "to_bow", "a"),
    "stern_m": ("tostern", "to_stern", "b"),
    "received": ("t", "ts", "time", "timestamp"),
}


def read_static(spark: SparkSession, file: Path) -> DataFrame:
    """The latest known ship type, name and length for each track, from a CSV file with a header."""
    if not file.is_file():
        msg = f"{file}: no such file of static data. Name a CSV file with a header, or leave --static out."
        raise InputError(msg)
    inside = tables_inside(str(file), (".csv",), spark.conf.get("spark.local.dir", None))
    table = spark.read.csv(inside, header=True, mode="PERMISSIVE")
    found = {name.strip().lower(): name for name in table.columns}
    key = next((found[name] for name in TRACK_NAMES if name in found), None)
    if key is None or not any(name in found for name in VALUE_NAMES["ship_type"] + VALUE_NAMES["name"]):
        msg = (
            f"{file}: has no column for the vessel ({', '.join(TRACK_NAMES)}) with a ship type or name; "
            f"it has {', '.join(table.columns)[:200]}. Name the file of static data."
        )
        raise InputError(msg)

    def cell(what: str) -> Column:
        return next((F.col(f"`{found[name]}`") for name in VALUE_NAMES[what] if name in found), F.lit(None))

    rows = table.select(
        text_of(F.col(f"`{key}`")).alias("track"),
        whole(cell("ship_type")).cast("int").alias("ship_type"),
        text_of(cell("name")).alias("name"),
        F.coalesce(number(cell("length_m")), number(cell("bow_m")) + number(cell("stern_m"))).alias("length_m"),
        F.coalesce(number(cell("received")), F.lit(0.0)).alias("received"),
    )
    return latest_static(rows.filter(F.col("track").isNotNull()), F.col("received"))


def latest_static(rows: DataFrame, received: Column) -> DataFrame:
    """For each track the last value of each static column that is one: a later blank does not erase a name."""

    def last(name: str, real: Column) -> Column:
        return F.max_by(F.when(real, F.col(name)), F.when(real, received)).alias(name)

    return rows.groupBy("track").agg(
        last("ship_type", F.col("ship_type") > 0),
        last("name", F.col("name").isNotNull()),
        last("length_m", F.col("length_m") > 0),
    )


def static_messages(judged: DataFrame) -> DataFrame:
    """The latest static data among `judged` rows that are no positions."""
    rows = judged.filter((F.col("reason") == "not_a_position") & F.col("track").isNotNull())
    return latest_static(rows, F.col("line").cast("double"))


def fill_static(positions: DataFrame, static: DataFrame) -> DataFrame:
    """`positions` with ship type, name and length from `static` where they have none themselves."""
    known = static.select("track", *[F.col(name).alias(f"static_{name}") for name in ("ship_type", "name", "length_m")])
    joined = positions.join(F.broadcast(known), "track", "left")
    filled = joined.withColumns(
        {
            name: F.coalesce(
                F.when(F.col(name) != 0, F.col(name)) if name != "name" else F.col(name), F.col(f"static_{name}")
            )
            for name in ("ship_type", "name", "length_m")
        }
    )
    word = looked_up(F.col("ship_type"), VESSEL_TYPES)
    return filled.withColumn("vessel_type", F.coalesce("vessel_type", word)).select(*positions.columns)
