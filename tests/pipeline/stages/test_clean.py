"""Cleaning row by row, in a stream as in a batch."""

from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from foresail.pipeline.sources.feeds import find_feed
from foresail.pipeline.sources.lines import stream_lines
from foresail.pipeline.sources.reading import parse_lines
from foresail.pipeline.sources.repairs import BITS, REPAIRS
from foresail.pipeline.stages.clean import REASONS, clean
from foresail.pipeline.stages.policy import Policy

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

NOW = datetime(2024, 6, 1, tzinfo=UTC)
FEED = find_feed("noaa")


def cleaned(spark: "SparkSession", policy: Policy, *lines: str) -> list[Any]:
    rows = [(raw, "test", number, False) for number, raw in enumerate(lines, 1)]
    frame = spark.createDataFrame(rows, "raw string, source string, line long, recoded boolean")
    return clean(parse_lines(frame, FEED), policy, "maritime", NOW).orderBy("line").collect()


def mended(row: Any) -> set[str]:
    return {kind for kind in REPAIRS if row["repairs"] & BITS[kind]}


def test_sentinels_become_null_and_are_counted(spark: "SparkSession") -> None:
    silent, full = cleaned(
        spark,
        Policy(),
        "219001559,2024-05-01T00:00:00,57,9,102.3,360.0,511,@@@,IMO0000000,,0,16,0,,0.0,,A",
        "219001559,2024-05-01T00:00:00,57,9,102.2,359.9,359,NAME,IMO9000001,,52,0,30,,4.1,,A",
    )
    for name in ("speed_kn", "course_deg", "heading_deg", "nav_status", "name", "imo", "length_m", "draught_m"):
        assert silent[name] is None, name
        assert full[name] is not None, name
    assert mended(silent) == {
        "speed_not_available",
        "course_not_available",
        "heading_not_available",
        "nav_status_out_of_range",
        "imo_not_available",
        "length_not_available",
        "draught_not_available",
    }
    assert mended(full) == {"speed_at_least"}
    assert (full["speed_kn"], full["vessel_type"], full["reason"]) == (102.2, "tug", None)


def test_who_is_no_ship_is_rejected_or_kept_by_choice(spark: "SparkSession") -> None:
    numbers = ("002191000", "021900155", "111219501", "992191234", "982190001", "970123456", "123456789", "812345678")
    lines = [f"{mmsi},2024-05-01T00:00:00,57,9,1,1,1,,,,,,,,,,A" for mmsi in numbers]
    reasons = [row["reason"] for row in cleaned(spark, Policy(), *lines)]
    assert reasons == [
        "base_station",
        "group_id",
        "sar_aircraft",
        "aid_to_navigation",
        "daughter_craft",
        "distress_beacon",
        "default_id",
        "not_a_ship_id",
    ]
    assert set(reasons) <= set(REASONS)
    kept = [row["reason"] for row in cleaned(spark, Policy(non_ships="keep"), *lines)]
    assert [reason for reason in kept if reason] == ["default_id"]
    kept = [row["reason"] for row in cleaned(spark, Policy(non_ships="keep", default_ids="keep"), *lines)]
    assert set(kept) == {None}


def test_no_row_alone_tells_that_its_coordinates_are_swapped(spark: "SparkSession") -> None:
    (row,) = cleaned(spark, Policy(), "219001559,2024-05-01T00:00:00,-101.5,40,1,1,1,,,,,,,,,,A")
    assert (row["reason"], row["lon"], row["lat"]) == ("position_out_of_range", 40.0, -101.5)
    assert mended(row) == set()


def test_the_same_adapter_and_cleaning_serve_a_stream(spark: "SparkSession", tmp_path: Path) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    good, bad = (
        "219001559,2024-05-01T00:00:00,57,9,1,1,511,,,,,,,,,,A",
        "219001559,2024-05-01T00:00:00,0,0,1,1,511,,,,,,,,,,A",
    )
    (folder / "one.csv").write_text(f"{FEED.header}\n{good}\n")
    (folder / "two.csv").write_text(f"{bad}\nnonsense\n")
    judged = clean(parse_lines(stream_lines(spark, str(folder)), FEED), Policy(), "maritime", NOW)
    query = (
        judged.writeStream.format("parquet")
        .option("checkpointLocation", str(tmp_path / "checkpoint"))
        .option("path", str(tmp_path / "out"))
        .trigger(availableNow=True)
        .start()
    )
    query.awaitTermination(120)
    assert query.exception() is None
    rows = spark.read.parquet(str(tmp_path / "out")).collect()
    assert {row["raw"]: row["reason"] for row in rows} == {
        FEED.header: "header_line",
        good: None,
        bad: "zero_position",
        "nonsense": "wrong_columns",
    }
    assert {Path(row["source"]).name for row in rows} == {"one.csv", "two.csv"}
