"""Positive forecasts in a row are one warning, and it is right when the match comes within its reach."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from pipeline.reports.warned import Warned, Warnings, read_warnings

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
    told = [
        ("entry", "Brest", "a", index, index not in (4, 20))
        for index in (2, 3, 4, 5, 6, 20, 30)
    ] + [("drift", None, "a", 3, True), ("drift", None, "b", 3, True)]  # fmt: skip
    rows = [
        (f"f{n}", pattern, instance, track, START + timedelta(minutes=index), index, positive, 0.5, 7, "v1", 1.0, 50.0)
        for n, (pattern, instance, track, index, positive) in enumerate(told)
    ]
    spark.createDataFrame(rows, FORECASTS).write.parquet(str(tmp_path / "forecasts"))
    found = [
        ("entry", "Brest", "a", 10),
        ("entry", "Le Havre", "a", 31),
        ("drift", None, "b", 5),
        ("drift", None, "b", 6),
    ]
    matches = [(f"m{n}", *held, START, START) for n, held in enumerate(found)]
    spark.createDataFrame(matches, MATCHES).write.parquet(str(tmp_path / "matches"))
    within = {"entry": 5, "drift": 5}
    return read_warnings(spark, tmp_path / "forecasts", tmp_path / "matches", within, START + timedelta(minutes=3))


def seen(warned: Warned) -> tuple[str, str, int, int | None]:
    return (warned.pattern, warned.track, warned.index, warned.came_after)


def test_a_warning_begins_where_no_positive_forecast_came_before(warnings: Warnings) -> None:
    assert [seen(warned)[2] for warned in warnings.of("entry")] == [3, 5, 30], "what came before the time is not read"
    assert warnings.total == len(warnings.shown) == 5


def test_it_is_right_when_the_match_of_the_same_feature_comes_within_reach(warnings: Warnings) -> None:
    assert [seen(warned)[3] for warned in warnings.of("entry")] == [None, 5, None]


def test_plain_patterns_are_met_on_their_own_track_by_their_first_match(warnings: Warnings) -> None:
    assert {(track, came) for _, track, _, came in map(seen, warnings.of("drift"))} == {("a", None), ("b", 2)}
