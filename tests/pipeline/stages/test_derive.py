"""Derived attributes: their definitions in a batch, and the same numbers in arrays, as a stream makes them."""

import math
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest

from foresail.pipeline.schemas import DERIVED_COLUMNS, POSITION_SCHEMA
from foresail.pipeline.stages.derive import DeriveOptions, derive, derived_arrays, options_of
from foresail.pipeline.stages.policy import Policy
from foresail.pipeline.stages.track_memory import empty_memory, meet
from foresail.pipeline.stream.bucket.deriving import nullable_columns, plain_columns
from foresail.pipeline.stream.bucket.input_rows import with_status

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


def random_tracks(seed: int, number: int = 600) -> list[dict[str, Any]]:
    """Positions with unknown values, gaps, still stretches, jumps, and steps over the antimeridian."""
    rng = np.random.default_rng(seed)
    track, step = rng.integers(0, 7, number), rng.choice([0.25, 17.123457, 60.0, 1800.0, 2400.0], number)
    time = 1_700_000_000 + pd.Series(step).groupby(track).cumsum().to_numpy()
    lon = np.where(rng.random(number) < 0.1, rng.uniform(-180, 180, number), rng.choice([-179.999, 179.999], number))
    near = np.where(track < 3, 8 + np.cumsum(rng.choice([0.0, 1e-7, 0.004], number)), lon)
    some: dict[str, list[Any]] = {
        "speed_kn": unknown_among(rng, np.round(rng.uniform(0, 30, number), 1), 0.4),
        "heading_deg": unknown_among(rng, rng.integers(0, 360, number).astype(float), 0.3),
        "course_deg": unknown_among(rng, rng.uniform(0, 360, number), 0.2),
        "nav_status": unknown_among(rng, np.repeat(rng.integers(0, 3, number // 4), 4), 0.1),
        "engine": unknown_among(rng, rng.choice(["idle", "moving"], number), 0.9),
        "accelerating": unknown_among(rng, rng.random(number) < 0.5, 0.8),
    }
    some["speed_kmh"] = [None if knots is None else knots * 1.852 for knots in some["speed_kn"]]
    lat = np.where(track < 4, 54 + np.cumsum(rng.choice([0.0, 1e-4], number)), rng.uniform(-60, 60, number).round(1))
    some |= {"lon": near.tolist(), "lat": lat.tolist()}
    some |= {"t": time.round(6).tolist(), "track": [f"t{n}" for n in track]}
    return [{name: values[n] for name, values in some.items()} for n in range(number)]


def unknown_among(rng: np.random.Generator, values: np.ndarray[Any, Any], share: float) -> list[Any]:
    return [None if rng.random() < share else value for value in values.tolist()]


OF_THE_WAY = ("distance_m", "implied_speed_kn", "speed_kn", "speed_kmh")
"""What is made of sines, cosines and arcsines."""


@pytest.mark.parametrize("seed", [1, 2])
def test_arrays_give_the_numbers_of_spark(spark: "SparkSession", seed: int) -> None:
    frame = positions(spark, *random_tracks(seed))
    options = DeriveOptions(fill_speeds=("speed_kn", "speed_kmh"))
    columns = [*DERIVED_COLUMNS, "speed_kn", "speed_kmh", "accelerating"]
    expected = {row["offset"]: row for row in derive(frame, options).collect()}
    arrived = with_status(frame.toPandas())
    ordered = arrived.sort_values(["time", "offset"], kind="stable", ignore_index=True)
    memory, made = empty_memory(), []
    for part in np.array_split(np.arange(len(ordered)), 5):  # as a stream has them, in any cut
        met = meet(ordered.iloc[part], memory, gap_us=options.gap_us)
        memory = met.memory
        read = met.positions[met.positions["late_reason"].isna()]
        derived = derived_arrays(nullable_columns(read), options)
        made.append(pd.DataFrame({"offset": read["offset"].to_numpy(), **plain_columns(derived, len(read))}))
    got = pd.concat(made).set_index("offset")
    assert len(got) == len(expected) == 600
    for name in columns:
        for offset, value in got[name].items():
            want = expected[offset][name]
            same = want is None if pd.isna(value) else want == value
            if not same and name in OF_THE_WAY and want is not None:
                same = want == pytest.approx(value, rel=1e-14)
            assert same, (name, offset, value, want)
    assert got["speed_implied"].sum() > 50
    assert (got["position_jump"].sum() > 50) & (got["distance_m"] < 300).any()
    assert got[["status_duration_min", "turn_deg", "acceleration"]].isna().any().all()
