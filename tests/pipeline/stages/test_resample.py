"""Resampling: linear within, never across a gap, the shorter way round."""

from typing import TYPE_CHECKING

import pytest

from foresail.pipeline.stages.resample import resample

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark


def test_tracks_are_resampled_between_near_positions_only(spark: "SparkSession") -> None:
    frame = spark.createDataFrame(
        [
            ("a", 0, 30, 179.9, 50.0, 10.0, 350.0, "x"),
            ("a", 1, 150, -179.9, 50.2, 14.0, 10.0, "y"),
            ("a", 2, 9000, 0.0, 0.0, 1.0, 0.0, "z"),
            ("a", 3, 9090, 0.9, 0.0, 1.0, 0.0, "z"),
            ("b", 4, 120, 5.0, 5.0, None, None, "b"),
        ],
        "track string, offset long, t long, lon double, lat double, speed_kn double, heading_deg double, name string",
    ).selectExpr("*", "timestamp_seconds(t) AS time")
    rows = resample(frame, step_s=60, max_gap_s=1800).selectExpr("*", "unix_seconds(time) AS at").collect()
    found = {(row["track"], row["at"]): row for row in rows}
    assert sorted(found) == [("a", 60), ("a", 120), ("a", 9000), ("a", 9060), ("b", 120)]
    first = found["a", 60]
    assert (first["lon"], first["lat"]) == (pytest.approx(179.95), pytest.approx(50.05))
    assert (first["speed_kn"], first["heading_deg"], first["name"]) == (11.0, pytest.approx(355.0), "x")
    assert found["a", 120]["lon"] == pytest.approx(-179.95)
    assert (found["a", 9060]["lon"], found["a", 9060]["resampled"]) == (pytest.approx(0.6), True)
    assert [found["a", 9000]["resampled"], found["b", 120]["resampled"]] == [False, False]
    assert found["b", 120]["speed_kn"] is None
