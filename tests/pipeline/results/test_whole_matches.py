"""Rows of episodes become one match each, at the place of their first detection."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812

from foresail.pipeline.results.whole_matches import placed, read_matches, whole_matches
from foresail.pipeline.sinks.matches import write_json_lines

pytestmark = pytest.mark.spark

SCHEMA = (
    "match_id string, pattern string, pattern_version int, instance string, track string, time timestamp, index long, "
    "start_time timestamp, status string"
)


def at(minute: int) -> datetime:
    return datetime(2026, 3, 2, 10, minute, tzinfo=UTC)


@pytest.fixture
def rows(spark: SparkSession) -> DataFrame:
    told = [
        ("e1", "drifting", 1, None, "a", at(3), 4, at(1), "opened"),
        ("e1", "drifting", 1, None, "a", at(4), 5, at(1), "updated"),
        ("e1", "drifting", 1, None, "a", at(4), 5, at(1), "closed"),
        ("m2", "port_entry", 2, "Brest", "b", at(9), 2, at(8), "detected"),
    ]
    return spark.createDataFrame(told, SCHEMA)


@pytest.fixture
def events(spark: SparkSession) -> DataFrame:
    seen = [("a", at(3), 1.5, 50.0), ("a", at(3), 1.6, 50.0), ("a", at(4), 2.0, 51.0), ("c", at(9), 9.0, 9.0)]
    return spark.createDataFrame(seen, "track string, time timestamp, lon double, lat double")


def by_id(frame: DataFrame) -> dict[str, dict[str, Any]]:
    return {row["match_id"]: row.asDict() for row in frame.collect()}


def test_an_episode_is_one_match_from_its_first_event_to_its_last_detection(rows: DataFrame) -> None:
    found = by_id(whole_matches(rows))
    assert set(found) == {"e1", "m2"}
    episode = found["e1"]
    assert [episode[name].minute for name in ("start_time", "time", "end_time")] == [1, 3, 4]
    assert (episode["rows"], episode["index"], found["m2"]["instance"]) == (3, 4, "Brest")


def test_a_match_began_where_its_first_row_says_the_earliest_start_was(rows: DataFrame) -> None:
    assert by_id(whole_matches(rows))["e1"]["first_start_time"].minute == 1  # rows of an earlier version
    told = rows.withColumn("first_start_time", F.col("start_time") - F.expr("interval 1 minute"))
    found = by_id(whole_matches(told))
    assert (found["e1"]["first_start_time"].minute, found["m2"]["first_start_time"].minute) == (0, 7)


def test_a_match_gets_one_place_even_where_two_events_share_its_moment(rows: DataFrame, events: DataFrame) -> None:
    found = by_id(placed(whole_matches(rows), events))
    assert len(found) == 2
    assert (found["e1"]["lon"], found["e1"]["lat"]) == (1.5, 50.0)
    assert found["m2"]["lon"] is None


def test_places_that_the_rows_bring_are_kept(rows: DataFrame, events: DataFrame) -> None:
    brought = rows.selectExpr("*", "CAST(index AS double) AS lon", "7.0D AS lat")
    found = by_id(placed(whole_matches(brought), events))
    assert [(found[name]["lon"], found[name]["lat"]) for name in ("e1", "m2")] == [(4.0, 7.0), (2.0, 7.0)]


def test_json_lines_read_back_as_the_same_matches(spark: SparkSession, rows: DataFrame, tmp_path: Path) -> None:
    write_json_lines(rows, tmp_path / "matches.jsonl")
    again = by_id(whole_matches(read_matches(spark, tmp_path / "matches.jsonl")))
    assert again["e1"]["end_time"] == by_id(whole_matches(rows))["e1"]["end_time"]
