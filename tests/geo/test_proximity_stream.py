"""Pairs of a stream are those of a batch, whatever the micro-batches; the memory of places is bounded."""

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import pytest

from foresail.geo import PairSettings, legs_of_previous, pairs, pairs_of_streamed_legs
from foresail.geo.errors import AttributeClashError
from foresail.geo.proximity import BEFORE
from foresail.geo.proximity_stream import meet_others

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SETTINGS = PairSettings(
    distance_m=2000.0, step_s=60, max_gap_s=300, attributes=("speed_kn", "vessel_type", "ship_type")
)
EVENT = (
    "track string, time timestamp, lon double, lat double, speed_kn double, vessel_type string, ship_type int, "
    "offset long"
)
HOUR = pd.Timedelta("1h")


def fleet() -> pd.DataFrame:
    """Twenty vessels that wander in one bay for half an hour; one is silent for ten minutes, some positions are bad."""
    dice = np.random.default_rng(8)
    rows = []
    for number in range(20):
        lon, lat = dice.uniform((-4.52, 48.3), (-4.45, 48.34))
        for second in np.cumsum(dice.uniform(20, 90, 40)):
            lon, lat = lon + dice.normal(0, 0.002), lat + dice.normal(0, 0.002)
            if second < 1800 and not (number == 3 and 400 < second < 1000):
                rows.append((f"v{number:02}", pd.Timestamp("2026-01-01") + pd.Timedelta(seconds=second), lon, lat))
    table = pd.DataFrame(rows, columns=["track", "time", "lon", "lat"]).sort_values("time", ignore_index=True)
    table.loc[table.index % 97 == 5, "lon"] = np.nan
    number = table["track"].str[1:].astype(int)
    return table.assign(
        speed_kn=np.where(table.index % 53 == 7, np.nan, np.arange(len(table)) % 12 / 1.0),
        vessel_type=[("tug", "cargo", None)[rest] for rest in number % 3],
        ship_type=pd.Series([70 if odd else None for odd in number % 2], dtype=object),
        offset=np.arange(len(table)),
    )


@pytest.mark.spark
def test_a_stream_in_micro_batches_finds_the_pairs_of_a_batch(spark: "SparkSession", tmp_path: Path) -> None:
    events = fleet()
    known = events[events["lon"].notna()]
    before = known.groupby("track")[["time", "lon", "lat"]].shift(1).add_prefix("previous_")
    legs, schema = known.join(before), f"{EVENT}, previous_time timestamp, previous_lon double, previous_lat double"
    for number, part in enumerate(np.array_split(np.arange(len(legs)), 3)):
        shuffled = legs.iloc[part].sample(frac=1, random_state=number)
        spark.createDataFrame(shuffled, schema).coalesce(1).write.mode("append").parquet(str(tmp_path / "in"))
    source = spark.readStream.schema(schema).option("maxFilesPerTrigger", 1).parquet(str(tmp_path / "in"))
    found = pairs_of_streamed_legs(legs_of_previous(source), SETTINGS, buckets=3)
    query = found.writeStream.format("memory").queryName("stream_pairs")
    running = query.option("checkpointLocation", str(tmp_path / "checkpoint")).start()
    try:
        running.processAllAvailable()
        assert sum(progress.numInputRows > 0 for progress in running.recentProgress) == 3
    finally:
        running.stop()
    order = ["track", "time"]
    batch = pairs(spark.createDataFrame(events, EVENT), SETTINGS).toPandas().sort_values(order, ignore_index=True)
    assert len(batch) > 300
    streamed = spark.table("stream_pairs").toPandas().sort_values(order, ignore_index=True)
    pd.testing.assert_frame_equal(streamed[batch.columns], batch, check_exact=False, rtol=1e-9)


def positions(*rows: tuple[str, int]) -> pd.DataFrame:
    times = [pd.Timestamp("2026-01-01") + pd.Timedelta(seconds=second) for _, second in rows]
    numbers = np.arange(len(rows), dtype=float)
    return pd.DataFrame({"track": [track for track, _ in rows], "time": times, "lon": numbers, "lat": numbers})


def placed(*rows: tuple[str, int]) -> pd.DataFrame:
    return positions(*rows).assign(cx=0, cy=0, cz=0)


def test_tracks_that_share_a_cube_and_a_time_meet_once_whichever_comes_first() -> None:
    first = meet_others(placed(("b", 60), ("a", 60), ("a", 120)), None, HOUR)
    second = meet_others(placed(("c", 60), ("b", 120)), first.memory, HOUR)
    assert list(zip(first.rows["track_a"], first.rows["track_b"], strict=True)) == [("a", "b")]
    met = sorted(zip(second.rows["track_a"], second.rows["track_b"], second.rows["time_b"].dt.minute, strict=True))
    assert met == [("a", "b", 2), ("a", "c", 1), ("b", "c", 1)]


def test_what_is_older_than_the_lateness_is_forgotten() -> None:
    met = meet_others(placed(("a", 0), ("a", 3601)), None, HOUR)
    assert met.memory["time"].dt.hour.tolist() == [1]


def test_a_clock_that_is_ahead_makes_nobody_else_forgotten() -> None:
    first = meet_others(placed(("a", 60), ("ahead", 40_000)), None, HOUR)
    second = meet_others(placed(("b", 60), ("ahead", 40_060)), first.memory, HOUR)
    assert second.rows["track_a"].tolist() == ["a"]


def test_a_track_that_is_alone_is_not_remembered_for_ever() -> None:
    memory = meet_others(placed(("gone", 0), ("a", 60)), None, HOUR).memory
    for hour in range(1, 100):
        memory = meet_others(placed(("a", hour * 3600)), memory, HOUR).memory
    assert len(memory) == 2


@pytest.mark.spark
def test_positions_that_carry_the_one_before_them_are_legs_already(spark: "SparkSession") -> None:
    carried = spark.createDataFrame(
        [(None, 1.0, 2.0)], "previous_time timestamp, previous_lon double, previous_lat double"
    )
    assert tuple(legs_of_previous(carried).columns) == BEFORE
    with pytest.raises(AttributeClashError, match="no column 'previous_lat'"):
        legs_of_previous(carried.drop("previous_lat"))
