"""Pairs of tracks against a comparison of all with all, at the equator, at 180 degrees and at the pole."""

from datetime import UTC, datetime, timedelta
from itertools import combinations, pairwise
from typing import TYPE_CHECKING

import numpy as np
import pytest
from pyproj import Geod

from foresail.geo import PairSettings, pairs
from foresail.geo.errors import AttributeClashError, StrategyError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

pytestmark = pytest.mark.spark
GEOD = Geod(ellps="WGS84")
BEGIN = datetime(2026, 1, 1, tzinfo=UTC)
STEP = PairSettings(distance_m=1000.0, step_s=60, max_gap_s=300)
EVENT = "track string, time timestamp, lon double, lat double, speed_kn double"


def at(seconds: float) -> datetime:
    return BEGIN + timedelta(seconds=seconds)


def fleet() -> list[tuple[str, datetime, float, float, float]]:
    """Thirty vessels in three crowded places, reporting every 20 to 90 seconds for ten minutes on straight ways."""
    dice = np.random.default_rng(4)
    rows = []
    for number in range(30):
        place = ((0.0, 0.0), (180.0, 10.0), (30.0, 89.99))[number % 3]
        away, bearing, course = dice.uniform(0, 1500), dice.uniform(0, 360), dice.uniform(0, 360)
        lon, lat, _ = GEOD.fwd(*place, bearing, away)
        seconds, speed = dice.uniform(0, 30), dice.uniform(0, 10)
        while seconds < 600:
            x, y, _ = GEOD.fwd(lon, lat, course, speed * seconds * 1852 / 3600)
            rows.append((f"v{number:02}", at(seconds), x, y, speed))
            seconds += dice.uniform(20, 90)
    return rows


def between(before: tuple, after: tuple, when: datetime) -> tuple[float, float]:
    share = (when - before[1]) / (after[1] - before[1])
    azimuth, _, metres = GEOD.inv(before[2], before[3], after[2], after[3])
    return GEOD.fwd(before[2], before[3], azimuth, metres * share)[:2]


def by_all_with_all(rows: list[tuple]) -> dict[tuple[str, datetime], float]:
    tracks: dict[str, list[tuple]] = {}
    for row in rows:
        tracks.setdefault(row[0], []).append(row)
    found = {}
    for minute in range(11):
        when = at(60 * minute)
        places = {
            track: between(a, b, when) for track, own in tracks.items() for a, b in pairwise(own) if a[1] < when <= b[1]
        }
        for a, b in combinations(sorted(places), 2):
            metres = GEOD.inv(*places[a], *places[b])[2]
            if metres <= STEP.distance_m:
                found[f"{a}|{b}", when] = metres
    return found


def test_pairs_are_those_of_comparing_all_with_all(spark: "SparkSession") -> None:
    rows = fleet()
    events = spark.createDataFrame(rows, EVENT)
    found = {
        (row["track"], row["time"].replace(tzinfo=UTC)): row["distance_m"] for row in pairs(events, STEP).collect()
    }
    expected = by_all_with_all(rows)
    assert len(expected) > 200
    assert set(found) == set(expected)
    assert max(abs(found[key] - expected[key]) for key in expected) < 0.5


def crossing(spark: "SparkSession") -> "DataFrame":
    """At the equator a goes east along it from -400 m, b goes north across it 60 s later, both 5 m/s."""
    per_m = 1 / 111_319.49
    rows = [
        ("a", at(0), -400 * per_m, 0.0, 9.7),
        ("a", at(60), -100 * per_m, 0.0, 9.7),
        ("a", at(120), 200 * per_m, 0.0, 9.7),
    ]
    rows += [
        ("b", at(0), 0.0, -600 / 110_574, 9.7),
        ("b", at(60), 0.0, -300 / 110_574, 9.7),
        ("b", at(120), 0.0, 0.0, 9.7),
    ]
    return spark.createDataFrame(rows, EVENT)


def test_the_closest_point_of_approach_of_two_straight_ways(spark: "SparkSession") -> None:
    row = next(row for row in pairs(crossing(spark), STEP).collect() if row["time"].replace(tzinfo=UTC) == at(60))
    assert row["track"] == "a|b"
    assert row["distance_m"] == pytest.approx(np.hypot(100, 300), rel=1e-3)
    assert row["relative_speed_kn"] == pytest.approx(np.hypot(5, 5) * 3600 / 1852, rel=1e-3)
    assert row["time_to_cpa_s"] == pytest.approx(40.0, rel=1e-2)
    assert row["cpa_m"] == pytest.approx(np.hypot(100, 100), rel=1e-2)
    assert (row["track_a"], row["track_b"], row["speed_kn_a"]) == ("a", "b", 9.7)


def test_a_long_silence_is_not_bridged_and_unknown_positions_are_left_out(spark: "SparkSession") -> None:
    rows = [("a", at(0), 0.0, 0.0, 1.0), ("a", at(600), 0.0, 0.0, 1.0), ("b", at(0), 0.0, 0.0, 1.0)]
    rows += [("b", at(60), None, 0.0, 1.0), ("b", at(120), 0.0, 0.0, 1.0), ("c", at(60), 0.0, 95.0, 1.0)]
    found = pairs(spark.createDataFrame(rows, EVENT), STEP).select("track", "time").collect()
    assert [(row["track"], row["time"].replace(tzinfo=UTC)) for row in found] == [("a|b", at(0))]


def test_what_pairs_need_is_told(spark: "SparkSession") -> None:
    with pytest.raises(AttributeClashError, match="no column 'track'"):
        pairs(spark.createDataFrame([(1.0,)], "lon double"))
    with pytest.raises(StrategyError, match="distance_m is 0"):
        PairSettings(distance_m=0)
