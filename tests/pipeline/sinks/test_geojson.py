"""matches.geojson keeps to RFC 7946, with every match in it."""

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import geopandas as gpd
import pytest
from pyspark.sql import SparkSession

from foresail.pipeline.sinks.geojson import write_geojson

pytestmark = pytest.mark.spark

SCHEMA = (
    "match_id string, pattern string, pattern_version int, instance string, track string, start_time timestamp, "
    "first_start_time timestamp, time timestamp, end_time timestamp, lon double, lat double"
)
TIME = datetime(2026, 3, 2, 10, 0, 0, 250_000, tzinfo=UTC)
FIRST = datetime(2026, 3, 2, 9, 40, tzinfo=UTC)


def match(match_id: str, lon: float | None = 1.5, lat: float | None = 50.0, track: str = "a") -> tuple[Any, ...]:
    return (match_id, "port_entry", 1, 'Saint-"Malo"\n', track, TIME, FIRST, TIME, TIME, lon, lat)


def written(spark: SparkSession, rows: list[tuple[Any, ...]], file: Path, partitions: int = 3) -> dict[str, Any]:
    write_geojson(spark.createDataFrame(rows, SCHEMA).repartition(partitions), file)
    held: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    return held


def test_every_match_is_a_point_feature_with_its_id(spark: SparkSession, tmp_path: Path) -> None:
    rows = [match(f"m{n}", track=f"t{n % 7}") for n in range(200)]
    held = written(spark, rows, tmp_path / "matches.geojson")
    assert held["type"] == "FeatureCollection"
    assert len({feature["id"] for feature in held["features"]}) == 200
    first = held["features"][0]
    assert first["geometry"] == {"type": "Point", "coordinates": [1.5, 50.0]}
    assert first["properties"]["time"] == "2026-03-02T10:00:00.250000Z"
    assert first["properties"]["first_start_time"] == "2026-03-02T09:40:00.000000Z"
    assert first["properties"]["instance"] == 'Saint-"Malo"\n'
    tracks = [feature["properties"]["track"] for feature in held["features"]]
    assert tracks == sorted(tracks)
    assert len(gpd.read_file(tmp_path / "matches.geojson")) == 200


@pytest.mark.parametrize(("lon", "lat"), [(None, None), (181.0, 50.0), (1.0, float("nan")), (0.0, -91.0)])
def test_a_match_without_a_place_on_earth_has_no_geometry(
    spark: SparkSession, tmp_path: Path, lon: float | None, lat: float | None
) -> None:
    held = written(spark, [match("m", lon, lat)], tmp_path / "matches.geojson")
    assert [feature["geometry"] for feature in held["features"]] == [None]


def test_no_matches_are_an_empty_collection(spark: SparkSession, tmp_path: Path) -> None:
    assert written(spark, [], tmp_path / "m.geojson") == {"type": "FeatureCollection", "features": []}
    assert [file.name for file in tmp_path.iterdir()] == ["m.geojson"]
