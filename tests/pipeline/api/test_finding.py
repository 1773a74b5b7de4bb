"""`fs.find` on frames of every kind, and on the bad input that people have."""

from collections.abc import Iterator

import geopandas as gpd
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import foresail as fs
from foresail.pipeline.api import notices
from foresail.pipeline.results.match_table import match_schema

STOP = fs.pattern("stop", "slow{3,}", where={"slow": "speed_kn < 1"}, window="2h")


@pytest.fixture(autouse=True)
def _nothing_was_said() -> Iterator[None]:
    notices._said.clear()
    yield
    notices._said.clear()


def ferries(**changed: object) -> pd.DataFrame:
    """Two tracks: `a` is slow on its events 2 to 4, `b` on all of its three."""
    held: dict[str, object] = {
        "track": ["a"] * 5 + ["b"] * 3,
        "time": pd.date_range("2024-01-01", periods=8, freq="10min", tz="UTC"),
        "speed_kn": [5.0, 0.5, 0.2, 0.1, 4.0, 0.3, 0.1, 0.2],
    }
    return pd.DataFrame(held | changed)


def keys(matches: object) -> list[tuple[str, int]]:
    table = matches if isinstance(matches, pa.Table) else None
    if table is None:
        frame = matches.collect() if isinstance(matches, pl.LazyFrame) else matches
        table = frame.to_arrow() if isinstance(frame, pl.DataFrame) else pa.table(dict(frame[["track", "index"]]))
    return sorted(zip(table["track"].to_pylist(), table["index"].to_pylist(), strict=True))


FOUND = [("a", 4), ("b", 3)]


def test_the_five_lines_of_the_readme_find_two_stops() -> None:
    matches = fs.find(ferries(), STOP)
    assert isinstance(matches, pd.DataFrame)
    assert list(matches.columns) == match_schema(places=False).names
    assert keys(matches) == FOUND
    assert matches["start_time"].dt.tz is not None


def test_the_same_kind_comes_out() -> None:
    frame = ferries()
    table = pa.Table.from_pandas(frame, preserve_index=False)
    ids = sorted(fs.find(frame, STOP)["match_id"])
    assert isinstance(fs.find(table, STOP), pa.Table)
    assert sorted(fs.find(table, STOP)["match_id"].to_pylist()) == ids
    assert keys(fs.find(table.to_batches()[0], STOP)) == FOUND
    eager = fs.find(pl.from_pandas(frame), STOP)
    assert isinstance(eager, pl.DataFrame)
    assert sorted(eager["match_id"]) == ids
    lazy = fs.find(pl.from_pandas(frame).lazy(), STOP)
    assert isinstance(lazy, pl.LazyFrame)
    assert keys(lazy) == FOUND


def test_points_of_geopandas_are_places_in_any_reference_system() -> None:
    points = gpd.points_from_xy(np.arange(8) * 0.1, 55 + np.arange(8) * 0.1, crs=4326)
    frame = gpd.GeoDataFrame(ferries(), geometry=points)
    north = fs.pattern("north", "[lat > 55.35] ; slow", where={"slow": "speed_kn < 1"})
    for given in (frame, frame.to_crs(25832)):
        matches = fs.find(given, [STOP, north])
        assert isinstance(matches, gpd.GeoDataFrame)
        assert matches.crs == given.crs
        first = matches[matches["pattern"] == "stop"].sort_values("track").to_crs(4326).geometry.iloc[0]
        assert (first.x, first.y) == pytest.approx((0.3, 55.3))
        assert {"a", "b"} >= set(matches["track"])
    with pytest.raises(fs.InputError, match="no reference system"):
        fs.find(frame.set_crs(None, allow_override=True), north)


def test_other_names_of_track_and_time_are_given() -> None:
    frame = ferries().rename(columns={"track": "mmsi", "time": "ts"})
    assert keys(fs.find(frame, STOP, track="mmsi", time="ts")) == FOUND
    indexed = frame.set_index("ts")
    assert keys(fs.find(indexed, STOP, track="mmsi", time="ts")) == FOUND
    with pytest.raises(fs.InputError, match=r"no column 'track'. Did you mean 'mmsi'\? Say so: track='mmsi'"):
        fs.find(frame, STOP)


def test_order_and_duplicate_times_change_nothing_that_should_not() -> None:
    shuffled = ferries().sample(frac=1, random_state=3)
    assert keys(fs.find(shuffled, STOP)) == FOUND
    same = ferries(time=pd.Timestamp("2024-01-01", tz="UTC"))
    assert keys(fs.find(same, STOP)) == FOUND, "events of one time are read in the order of the frame"


def test_times_without_a_zone_are_utc_and_said_once() -> None:
    naive = ferries(time=pd.date_range("2024-01-01", periods=8, freq="10min"))
    with pytest.warns(fs.NaiveTimeWarning, match="column 'time' has times without a zone") as said:
        ids = [sorted(fs.find(naive, STOP)["match_id"]) for _ in range(2)]
    assert len(said) == 1
    assert ids == [sorted(fs.find(ferries(), STOP)["match_id"])] * 2


@pytest.mark.parametrize("missing", [np.nan, None, pd.NA])
def test_nan_none_and_na_are_alike(missing: object) -> None:
    values = [5.0, 0.5, missing, 0.1, 4.0, 0.3, 0.1, 0.2]
    for kind in (object, "Float64"):
        frame = ferries(speed_kn=pd.Series(values, dtype=object).astype(kind))
        assert keys(fs.find(frame, STOP)) == [("b", 3)]
    known = fs.pattern("silent", "u", where={"u": "speed_kn is unknown"})
    assert keys(fs.find(ferries(speed_kn=pd.Series(values, dtype=object)), known)) == [("a", 3)]


def test_mixed_types_are_told_with_the_row() -> None:
    frame = ferries(speed_kn=pd.Series([5.0, "0.5", 0.2, 0.1, 4.0, 0.3, 0.1, 0.2], dtype=object))
    with pytest.raises(
        fs.InputError, match=r"'speed_kn' mixes types: float \(first in row 0\), str \(first in row 1\)"
    ):
        fs.find(frame, STOP)


def test_an_empty_frame_and_a_single_event() -> None:
    nothing = fs.find(ferries().iloc[:0], STOP)
    assert len(nothing) == 0
    assert list(nothing.columns) == match_schema(places=False).names
    assert len(fs.find(ferries().iloc[:1], STOP)) == 0
    one = fs.pattern("one", "[speed_kn > 4]")
    assert keys(fs.find(ferries().iloc[:1], one)) == [("a", 1)]


def test_rows_that_are_no_events_are_left_out_and_told() -> None:
    frame = ferries(track=["a", None, "a", "a", "a", "b", "b", ""])
    with pytest.warns(fs.ForesailWarning, match="2 rows of 8 left out: 2 without a track"):
        assert keys(fs.find(frame, STOP)) == []


def test_the_attribute_of_a_layer_that_is_not_there_leads_to_enrich() -> None:
    waiting = fs.pattern("waiting", "[port_distance_m < 500]{2,}")
    with pytest.raises(fs.InputError, match=r"comes from a layer of the kind 'port'. Run fs.enrich"):
        fs.find(ferries(), waiting)


def test_an_unknown_attribute_is_told_with_the_nearest() -> None:
    with pytest.raises(fs.PatternError, match=r"unknown attribute 'sped_kn'. Did you mean 'speed_kn'"):
        fs.find(ferries(), fs.pattern("p", "[sped_kn < 1]"))


def test_patterns_that_do_not_fit_can_be_left_out() -> None:
    with pytest.warns(fs.ForesailWarning, match="not looked for: "):
        found = fs.find(ferries(), [STOP, *fs.catalog("maritime")], skip_unfit=True)
    assert keys(found[found["pattern"] == "stop"]) == FOUND
    with pytest.raises(fs.InputError, match=r"unknown attribute .port_distance_m.: it comes from a layer"):
        fs.find(ferries(), fs.catalog("maritime"))


def test_times_that_are_numbers_need_a_unit() -> None:
    frame = ferries(time=np.arange(8) * 600)
    with pytest.raises(fs.InputError, match="Say which: time_unit='s'"):
        fs.find(frame, STOP)
    assert keys(fs.find(frame, STOP, time_unit="s")) == FOUND
    assert keys(fs.find(frame, STOP, time_unit="ms")) == FOUND


def test_episodes_can_be_told_without_their_updates() -> None:
    stay = fs.pattern("stay", "slow", where={"slow": "speed_kn < 1"}, report="episodes")
    assert set(fs.find(ferries(), stay)["status"]) == {"opened", "updated", "closed"}
    assert set(fs.find(ferries(), stay, episodes="changes")["status"]) == {"opened", "closed"}


def test_what_is_no_frame_is_refused() -> None:
    with pytest.raises(fs.InputError, match=r"a list is no table. Give a frame of pandas, GeoPandas"):
        fs.find([1, 2], STOP)


def test_a_column_that_is_there_twice_is_refused() -> None:
    frame = pd.concat([ferries(), ferries()[["speed_kn"]]], axis=1)
    with pytest.raises(fs.InputError, match="several columns 'speed_kn'"):
        fs.find(frame, STOP)
