"""Tracks are drawn in parts, thinned, and never more than a page can hold."""

from datetime import UTC, datetime, timedelta

import pytest
from pyspark.sql import DataFrame, SparkSession

from foresail.pipeline.reports import tracks
from foresail.pipeline.reports.spark_reading import read_facts, read_tracks
from foresail.pipeline.reports.tracks import MOST_TRACKS

pytestmark = pytest.mark.spark

START = datetime(2026, 3, 2, tzinfo=UTC)
SCHEMA = "track string, time timestamp, lon double, lat double, name string"


def events(spark: SparkSession, rows: list[tuple[str, int, float, float]]) -> DataFrame:
    told = [(track, START + timedelta(minutes=minute), lon, lat, "SHIP") for track, minute, lon, lat in rows]
    return spark.createDataFrame(told, SCHEMA)


def test_a_silence_and_the_date_line_part_a_track_and_straight_ways_are_thinned(spark: SparkSession) -> None:
    sailing = [("a", n, n / 10, 50.0) for n in range(20)]
    later = [("a", 200 + n, 5.0, 50.0 + n / 10) for n in range(10)]
    around = [("b", n, 179.9 if n < 3 else -179.9, n / 10) for n in range(6)]
    unknown = [("a", 100, 181.0, 91.0)]
    frame = events(spark, sailing + later + around + unknown)
    lines, left_out = read_tracks(frame, read_facts(frame), [])
    parts = {line.track: line.parts for line in lines}
    assert [len(part) for part in parts["a"]] == [2, 2]
    assert parts["a"][0][-1] == (1.9, 50.0, (START + timedelta(minutes=19)).timestamp())
    assert len(parts["b"]) == 2
    assert (lines[0].label, left_out) == ("SHIP (a)", "")


def test_of_many_tracks_those_that_are_wanted_come_first_and_the_rest_is_told(spark: SparkSession) -> None:
    frame = events(spark, [(f"t{n:03}", minute, n / 100, 50.0) for n in range(200) for minute in (0, 1)])
    lines, left_out = read_tracks(frame, read_facts(frame), ["t199", "t199", "t198"])
    assert len(lines) == MOST_TRACKS
    assert {"t198", "t199"} <= {line.track for line in lines}
    assert left_out == "150 of 200 tracks are drawn, those with matches first."


def test_events_without_positions_have_no_lines(spark: SparkSession) -> None:
    frame = events(spark, [("a", 0, 0.0, 0.0)]).drop("lon", "lat")
    assert read_tracks(frame, read_facts(frame), []) == ((), "")


def test_a_short_track_keeps_its_shape_in_a_span_of_years(spark: SparkSession) -> None:
    zigzag = [("short", n, n / 100, 50.0 + (n % 2) / 10) for n in range(60)]
    years = [("long", n * 60 * 24 * 30, 10.0 + (n % 3), 40.0) for n in range(120)]
    frame = events(spark, zigzag + years)
    lines, _ = read_tracks(frame, read_facts(frame), [])
    parts = {line.track: line.parts for line in lines}
    assert [len(part) for part in parts["short"]] == [60], "thinned by the whole span, one position would be left"
    assert len(parts["long"]) == 1, "a month is the usual step of this track, not a silence"


def test_a_long_track_is_thinned_to_its_share_and_keeps_the_ends_of_its_silences(
    spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tracks, "MOST_POSITIONS", 40)
    before = [("a", n, n / 10, 50.0 + (n % 7) / 10) for n in range(150)]
    after = [("a", 1000 + n, n / 10, 40.0 + (n % 5) / 10) for n in range(150)]
    short = [("b", n, n / 10, 10.0 + (n % 2) / 10) for n in range(4)]
    frame = events(spark, before + after + short)
    lines, left_out = read_tracks(frame, read_facts(frame), [])
    parts = {line.track: line.parts for line in lines}
    assert len(parts["a"]) == 2
    assert sum(len(part) for part in parts["a"]) <= 25
    assert parts["a"][0][-1][0] == 14.9
    assert parts["a"][1][0][:2] == (0.0, 40.0)
    assert [len(part) for part in parts["b"]] == [4]
    assert left_out == "Of each track about 20 positions are drawn, evenly chosen."
