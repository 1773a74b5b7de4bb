"""The demonstration finds the right vessels in the right zones."""

import json
from typing import TYPE_CHECKING

import pytest
import shapely

from pipeline.jobs.demo import SIMULATED_ZONES, run, simulate_positions, zone_visits

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def test_simulated_positions_are_the_same_for_the_same_seed() -> None:
    assert simulate_positions(3, 5, seed=1).equals(simulate_positions(3, 5, seed=1))
    assert not simulate_positions(3, 5, seed=1).equals(simulate_positions(3, 5, seed=2))


def test_simulated_vessels_are_called_simulated() -> None:
    assert simulate_positions(2, 5, seed=1)["track"].str.startswith("simulated ").all()
    assert all(zone.startswith("Simulated ") for zone, _, _ in SIMULATED_ZONES)


@pytest.mark.spark
def test_sedona_finds_what_shapely_finds(spark: "SparkSession") -> None:
    result = run(spark, seed=3)
    positions = simulate_positions(result.vessels, result.positions // result.vessels, seed=3)
    points = shapely.points(positions["lon"], positions["lat"])
    for visits in result.zones:
        outline = next(shapely.from_wkt(wkt) for zone, _, wkt in SIMULATED_ZONES if zone == visits.zone)
        inside = shapely.contains(outline, points)
        assert visits.positions == inside.sum()
        assert visits.vessels == tuple(sorted(set(positions["track"][inside])))


@pytest.mark.spark
def test_a_zone_that_nobody_visits_is_still_shown(spark: "SparkSession") -> None:
    positions = spark.createDataFrame([("a", 0.5, 0.5)], "track string, lon double, lat double")
    square, elsewhere = "POLYGON((0 0, 1 0, 1 1, 0 1, 0 0))", "POLYGON((5 5, 6 5, 6 6, 5 6, 5 5))"
    zones = spark.createDataFrame(
        [("near", "port", square), ("far", "port", elsewhere)], "zone string, kind string, outline string"
    )
    rows = [tuple(row) for row in zone_visits(positions, zones).collect()]
    assert rows == [("near", "port", ["a"], 1), ("far", "port", [], 0)]


@pytest.mark.spark
def test_the_summary_is_json_and_says_that_the_data_is_simulated(spark: "SparkSession") -> None:
    summary = json.loads(json.dumps(run(spark).summary))
    assert summary["simulated"] is True
    assert summary["positions"] == 480
    assert {zone["zone"] for zone in summary["zones"]} == {zone for zone, _, _ in SIMULATED_ZONES}
