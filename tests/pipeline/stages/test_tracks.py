"""Repeats, spikes and jumps: what is taken out of a track, and what is left as it is."""

from typing import TYPE_CHECKING

import pytest

from foresail.pipeline.stages.derive import DeriveOptions
from foresail.pipeline.stages.policy import Policy
from foresail.pipeline.stages.tracks import SettledTracks, settle

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark


def settled(spark: "SparkSession", rows: list[tuple[int, float, float]], policy: Policy, age: int = 1) -> SettledTracks:
    """Each row is (seconds, lon, lat) of one track, in the order received."""
    frame = spark.createDataFrame(
        [("a", t, lon, lat, "s", n, age) for n, (t, lon, lat) in enumerate(rows)],
        "track string, t long, lon double, lat double, source string, offset long, age int",
    ).selectExpr("*", "timestamp_seconds(t) AS time")
    return settle(frame, policy, DeriveOptions())


def taken_out(found: SettledTracks) -> dict[int, str]:
    rows = [*found.repeated.collect(), *found.rejected.collect()]
    return {row["offset"]: row["late_reason"] for row in rows}


PATH = [(60 * n, 0.001 * n, 50.0) for n in range(6)]


def test_the_first_of_an_instant_stays_and_repeats_are_told_apart(spark: "SparkSession") -> None:
    rows = [(0, 1.0, 50.0), (0, 1.0, 50.0), (0, 1.1, 50.0), (60, 1.0, 50.0)]
    assert taken_out(settled(spark, rows, Policy())) == {1: "exact_duplicate", 2: "same_time"}
    assert taken_out(settled(spark, rows, Policy(same_time="keep"))) == {1: "exact_duplicate"}


def test_a_lone_spike_is_rejected_but_alternating_ships_are_not(spark: "SparkSession") -> None:
    spiked = [*PATH[:3], (150, 54.8, 50.0), *PATH[3:]]
    assert taken_out(settled(spark, spiked, Policy())) == {3: "position_spike"}
    assert taken_out(settled(spark, spiked, Policy(spikes="keep"))) == {}
    assert taken_out(settled(spark, spiked, Policy(), age=0)) == {}
    sharing = [(60 * n, 10.0 * (n % 2), 50.0) for n in range(8)]
    assert taken_out(settled(spark, sharing, Policy())) == {}


def test_a_spike_that_fits_with_its_coordinates_swapped_is_mended(spark: "SparkSession") -> None:
    found = settled(spark, [*PATH[:3], (150, 50.0, 0.0025), *PATH[3:]], Policy())
    assert taken_out(found) == {}
    mended = found.kept.filter("offset = 3").first()
    assert mended is not None
    assert (mended["lon"], mended["lat"]) == (0.0025, 50.0)
    assert found.mended.count() == 1


PLAINS = [(60 * n, -101.5 + 0.001 * n, 40.0) for n in range(6)]


def test_a_latitude_beyond_the_pole_is_swapped_back_where_the_track_vouches_for_it(spark: "SparkSession") -> None:
    for policy in (Policy(), Policy(spikes="keep")):
        found = settled(spark, [*PLAINS[:3], (150, 40.0, -101.4975), (155, 40.0, -101.4975), *PLAINS[3:]], policy)
        assert taken_out(found) == {}
        assert {row["offset"] for row in found.mended.collect()} == {3, 4}
        assert all(abs(row["lon"] + 101.5) < 0.1 and row["lat"] == 40.0 for row in found.kept.collect())


@pytest.mark.parametrize(
    "rows",
    [
        [*PATH[:3], (150, 0.0025, -101.5), *PATH[3:]],  # elsewhere, whichever way round
        [*PLAINS, (400, 40.0, -101.4)],  # nothing comes after it
        [(0, 40.0, -101.5), (60, 40.0, -101.5), (120, 40.0, -101.5)],  # only its like are around it
        [PLAINS[0], (90_000, 40.0, -101.5), (180_000, -101.5, 40.0)],  # a day away, any place can be reached
    ],
)
def test_a_latitude_beyond_the_pole_is_rejected_where_the_track_is_silent(
    spark: "SparkSession", rows: list[tuple[int, float, float]]
) -> None:
    found = settled(spark, rows, Policy())
    beyond = [number for number, (_, _, lat) in enumerate(rows) if abs(lat) > 90]
    assert taken_out(found) == dict.fromkeys(beyond, "position_out_of_range")
    assert found.mended.count() == 0


def test_jumps_cut_a_track_or_stray_pieces_are_rejected(spark: "SparkSession") -> None:
    rows = [*PATH, (400, 20.0, 50.0), (460, 20.001, 50.0), (520, 0.006, 50.0), (580, 0.007, 50.0), (640, 0.007, 50.0)]
    tracks = {row["offset"]: row["track"] for row in settled(spark, rows, Policy(jumps="split")).kept.collect()}
    assert [tracks[n] for n in (0, 5, 6, 7, 8, 10)] == ["a", "a", "a#2", "a#2", "a#3", "a#3"]
    assert taken_out(settled(spark, rows, Policy(jumps="reject"))) == {6: "position_jump", 7: "position_jump"}
