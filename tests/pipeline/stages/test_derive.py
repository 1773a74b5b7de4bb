"""Derived attributes: their definitions in a batch, and the same numbers bit for bit in a stream."""

import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from foresail.pipeline.schemas import DERIVED_COLUMNS, POSITION_SCHEMA
from foresail.pipeline.stages.derive import DeriveOptions, derive, options_of
from foresail.pipeline.stages.derive_stream import derive_stream
from foresail.pipeline.stages.policy import Policy

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

pytestmark = pytest.mark.spark

OPTIONS = DeriveOptions()


def positions(spark: "SparkSession", *rows: dict[str, Any]) -> "DataFrame":
    names = POSITION_SCHEMA.fieldNames()
    full = [{"track": "a", "source": "s", "offset": n, **row} for n, row in enumerate(rows)]
    frame = spark.createDataFrame(
        [tuple(row.get(name) for name in names if name != "time") for row in full],
        ", ".join(f"{f.name} {f.dataType.simpleString()}" for f in POSITION_SCHEMA if f.name != "time"),
    )
    times = spark.createDataFrame(
        [(row["offset"], row["track"], float(row["t"])) for row in full], "offset long, track string, t double"
    )
    joined = frame.join(times, ["offset", "track"]).selectExpr("*", "timestamp_micros(cast(t * 1e6 AS long)) AS time")
    return joined.select(*names)


def test_attributes_compare_a_position_with_the_one_before(spark: "SparkSession") -> None:
    frame = positions(
        spark,
        {"t": 0, "lon": 0.0, "lat": 0.0, "speed_kn": 10.0, "heading_deg": 350.0, "course_deg": 10.0, "nav_status": 0},
        {"t": 60, "lon": 0.0, "lat": 0.01, "speed_kn": 13.0, "heading_deg": 10.0, "course_deg": 200.0, "nav_status": 0},
        {"t": 60.5, "lon": 0.0, "lat": 1.0, "course_deg": 190.0, "nav_status": 1},
        {"t": 180.5, "lon": 0.0, "lat": 1.0, "course_deg": 190.0, "nav_status": 1},
    )
    first, second, third, fourth = derive(frame, OPTIONS).orderBy("time").collect()
    assert (first["gap_s"], first["distance_m"], first["turn_deg"], first["position_jump"]) == (None, None, None, False)
    assert (first["drift_deg"], first["status_duration_min"], first["change_in_heading"]) == (20.0, 0.0, False)
    assert second["distance_m"] == pytest.approx(math.radians(0.01) * 6_371_008.8, rel=1e-12)
    assert second["implied_speed_kn"] == pytest.approx(second["distance_m"] / 60 * 3600 / 1852)
    assert (second["gap_s"], second["acceleration"], second["turn_deg"], second["drift_deg"]) == (
        60.0,
        0.05,
        20.0,
        170.0,
    )
    assert (second["change_in_heading"], second["status_duration_min"], second["position_jump"]) == (True, 1.0, False)
    assert (third["turn_deg"], third["status_duration_min"], third["position_jump"]) == (-10.0, 0.0, True)
    assert (third["acceleration"], third["gap_s"]) == (None, 0.5)
    assert (fourth["status_duration_min"], fourth["distance_m"]) == (2.0, 0.0)


def test_a_speed_that_was_not_sent_is_that_of_the_way(spark: "SparkSession") -> None:
    step = {"lon": 0.0, "course_deg": 0.0}
    frame = positions(
        spark,
        {**step, "t": 0, "lat": 0.0},
        {**step, "t": 60, "lat": 0.001},
        {**step, "t": 120, "lat": 0.002, "speed_kn": 9.0, "speed_kmh": 16.668},
        {**step, "t": 180, "lat": 0.003},
        {**step, "t": 180 + 1801, "lat": 0.004},
        {**step, "t": 180 + 1802, "lat": 0.014},
        {**step, "t": 180 + 1802 + 1800, "lat": 0.015},
    )
    options = DeriveOptions(fill_speeds=("speed_kn", "speed_kmh"))
    rows = derive(frame, options).orderBy("time").collect()
    assert [row["speed_implied"] for row in rows] == [False, True, False, True, False, False, True]
    assert [row["speed_kn"] for row in rows] == [
        None, rows[1]["implied_speed_kn"], 9.0, rows[3]["implied_speed_kn"], None, None, rows[6]["implied_speed_kn"],
    ]  # fmt: skip
    assert rows[1]["speed_kn"] == pytest.approx(3.602, abs=0.001)
    assert rows[1]["speed_kmh"] == rows[1]["speed_kn"] * 1.852
    assert [row["speed_kmh"] is None for row in rows] == [True, False, False, False, True, True, False]
    assert [row["acceleration"] for row in rows] == [None] * 7, "only speeds that were sent are compared"
    left = derive(frame, DeriveOptions(fill_speeds=())).orderBy("time").collect()
    assert [row["speed_kn"] for row in left] == [None, None, 9.0, None, None, None, None]
    assert not any(row["speed_implied"] for row in left)
    vessels = derive(frame, options_of(Policy(), "maritime")).orderBy("time").collect()
    assert [row["speed_kmh"] for row in vessels] == [None, None, 16.668, None, None, None, None]


def test_filling_twice_is_filling_once(spark: "SparkSession") -> None:
    rows = [{"t": 60 * n, "lon": 0.0, "lat": n * 0.001, "speed_kn": 5.0 if n % 3 == 0 else None} for n in range(7)]
    once = derive(positions(spark, *rows), OPTIONS)
    again = derive(once, OPTIONS)
    assert sorted(map(str, again.select(*once.columns).collect())) == sorted(map(str, once.collect()))


def test_minutes_are_counted_from_the_first_position_and_from_each_gap(spark: "SparkSession") -> None:
    times = [0, 600, 2400, 2400 + 1800, 2400 + 1800 + 1800.000001, 6600]
    frame = positions(spark, *({"t": t, "lon": 0.0, "lat": 0.0} for t in times))
    rows = derive(frame, OPTIONS).orderBy("time").collect()
    expected = pytest.approx([0.0, 10.0, 40.0, 70.0, 0.0, (6600 - 6000.000001) / 60])
    assert [row["minutes_since_start"] for row in rows] == expected
    short = derive(frame, DeriveOptions(gap_us=599_000_000)).orderBy("time").collect()
    assert [row["minutes_since_start"] for row in short[:3]] == [0.0, 0.0, 0.0]


def test_a_stream_gives_the_numbers_of_a_batch_bit_for_bit(spark: "SparkSession", tmp_path: Path) -> None:
    rows = [
        {
            "track": f"t{n % 7}",
            "t": 17.25 * n + (n % 3) * 0.123457 + 2000 * (n // 90),
            "lon": math.sin(n) * 179.9 if n % 20 < 7 else n % 7 + n * 1e-4,
            "lat": math.cos(n * 0.7) * 89.0 if n % 20 < 7 else 0.0,
            "speed_kn": None if n % 5 == 0 else (n * 0.37) % 30,
            "heading_deg": None if n % 4 == 0 else (n * 77.7) % 360,
            "course_deg": (n * 33.3) % 360,
            "nav_status": None if n % 11 == 0 else (n // 20) % 3,
            "mmsi": 200_000_000 + n,
        }
        for n in range(240)
    ]
    frame = positions(spark, *rows)
    folder = tmp_path / "in"
    for part in range(3):
        frame.filter(f"offset >= {part * 80} AND offset < {part * 80 + 80}").coalesce(1).write.mode("append").parquet(
            str(folder)
        )
    stream = spark.readStream.schema(POSITION_SCHEMA).option("maxFilesPerTrigger", 1).parquet(str(folder))
    derived = derive_stream(stream, OPTIONS, buckets=2)
    query = (
        derived.writeStream.format("parquet")
        .option("checkpointLocation", str(tmp_path / "checkpoint"))
        .option("path", str(tmp_path / "out"))
        .trigger(availableNow=True)
        .start()
    )
    query.awaitTermination(120)
    assert query.exception() is None
    streamed = {row["offset"]: row for row in spark.read.parquet(str(tmp_path / "out")).collect()}
    batch = {row["offset"]: row for row in derive(frame, OPTIONS).collect()}
    assert len(streamed) == len(batch) == 240
    assert {row["late_reason"] for row in streamed.values()} == {None}
    columns = [*DERIVED_COLUMNS, "speed_kn", "accelerating", "mmsi", "nav_status", "time"]
    different = [(n, c) for n in batch for c in columns if batch[n][c] != streamed[n][c]]
    assert different == []
    assert sum(row["speed_implied"] for row in batch.values()) > 5
    assert sum(row["minutes_since_start"] == 0 for row in batch.values()) == 7 * 3
    assert sum(row["status_duration_min"] is not None for row in batch.values()) > 100
