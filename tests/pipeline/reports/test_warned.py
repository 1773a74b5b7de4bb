"""Positive forecasts close to each other are one warning, right when the match comes within reach of the first."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from foresail.pipeline.reports.warned import Warnings, read_warnings

pytestmark = pytest.mark.spark

START = datetime(2026, 3, 2, tzinfo=UTC)
FORECASTS = (
    "forecast_id string, pattern string, instance string, track string, time timestamp, index long, positive boolean, "
    "probability double, chain_state int, model_version string, lon double, lat double"
)
MATCHES = (
    "match_id string, pattern string, instance string, track string, index long, time timestamp, start_time timestamp"
)


@pytest.fixture
def warnings(spark: SparkSession, tmp_path: Path) -> Warnings:
    entries = [(index, index != 20) for index in (2, 3, 5, 6, 12, 20, 30)]
    told = [("entry", "Brest", "a", index, positive) for index, positive in entries]
    told += [("drift", None, "a", 3, True), ("drift", None, "b", 3, True)]
    rows = [
        (f"f{n}", pattern, instance, track, START + timedelta(minutes=index), index, positive, 0.5, 7, "v1", 1.0, 50.0)
        for n, (pattern, instance, track, index, positive) in enumerate(told)
    ]
    spark.createDataFrame(rows, FORECASTS).write.parquet(str(tmp_path / "forecasts"))
    found = [
        ("entry", "Brest", "a", 8),
        ("entry", "Le Havre", "a", 31),
        ("drift", None, "b", 5),
        ("drift", None, "b", 6),
    ]
    matches = [(f"m{n}", *held, START, START) for n, held in enumerate(found)]
    spark.createDataFrame(matches, MATCHES).write.parquet(str(tmp_path / "matches"))
    within = {"entry": 5, "drift": 5}
    return read_warnings(spark, tmp_path / "forecasts", tmp_path / "matches", within, START + timedelta(minutes=3))


def test_a_warning_begins_after_as_long_a_quiet_as_it_looks_ahead(warnings: Warnings) -> None:
    assert [warned.index for warned in warnings.of("entry")] == [3, 12, 30], "what came before the time is not read"
    assert warnings.total == len(warnings.shown) == 5


def test_it_is_right_when_the_match_of_the_same_feature_comes_within_reach(warnings: Warnings) -> None:
    assert [warned.came_after for warned in warnings.of("entry")] == [5, None, None]


def test_plain_patterns_are_met_on_their_own_track_by_their_first_match(warnings: Warnings) -> None:
    assert {(warned.track, warned.came_after) for warned in warnings.of("drift")} == {("a", None), ("b", 2)}
