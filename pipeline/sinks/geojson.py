"""Matches as GeoJSON (RFC 7946), for any map: one feature a match, written by Spark, never held in memory whole."""

import shutil
from pathlib import Path
from typing import BinaryIO

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812

from foresail.pipeline.schemas import TIME_FORMAT
from foresail.pipeline.sinks.output_folder import replaced

OPENING, CLOSING = b'{"type":"FeatureCollection","features":[\n', b"\n]}\n"
NAMED = ("pattern", "pattern_version", "instance", "track", "start_time", "first_start_time", "time", "end_time")


def write_geojson(matches: DataFrame, file: Path) -> None:
    """Write whole matches with `lon` and `lat` as a feature collection, by track and time."""
    features = matches.orderBy("track", "time", "pattern", "match_id").select(_feature().alias("value"))
    with replaced(file) as staging:
        parts = staging.with_name(f"{staging.name}.parts")
        shutil.rmtree(parts, ignore_errors=True)
        try:
            features.write.text(str(parts))
            with staging.open("wb") as whole:
                _join(sorted(parts.glob("part-*")), whole)
        finally:
            shutil.rmtree(parts, ignore_errors=True)


def _feature() -> Column:
    """A feature as JSON text; a match whose place is unknown has the geometry null, as the standard asks."""
    known = (F.abs("lon") <= 180) & (F.abs("lat") <= 90)
    point = F.struct(F.lit("Point").alias("type"), F.array("lon", "lat").alias("coordinates"))
    feature = F.struct(
        F.lit("Feature").alias("type"),
        F.col("match_id").alias("id"),
        F.when(known, point).alias("geometry"),
        F.struct(*NAMED).alias("properties"),
    )
    return F.to_json(feature, {"ignoreNullFields": "false", "timestampFormat": TIME_FORMAT})


def _join(parts: list[Path], whole: BinaryIO) -> None:
    """The lines of all parts, a comma after each but the last."""
    whole.write(OPENING)
    begun = False
    for part in parts:
        with part.open("rb") as lines:
            for line in lines:
                whole.write(b",\n" if begun else b"")
                whole.write(line.rstrip(b"\n"))
                begun = True
    whole.write(CLOSING)
