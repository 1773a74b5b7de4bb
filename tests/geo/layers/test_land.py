"""Land and sea on either side of a coast, however the coast is drawn."""

from pathlib import Path
from typing import Any

import geopandas as gpd
import numpy as np
import pytest
import shapely
from pyproj import Geod

from foresail.geo.answers import answer_columns, stored
from foresail.geo.errors import LayerReadError
from foresail.geo.layers import Answer, Layer, LayerSpec, read_layer

GEOD = Geod(ellps="WGS84")
MAINLAND = shapely.box(0, 0, 10, 10)
LAKE, SEA, BEACH = (5.0, 5.0), (-2.0, 5.0), (0.0, 5.0)
CASPIAN = shapely.box(2, 2, 4, 4)


def coast(folder: Path, *shapes: Any, **more: Any) -> Layer:
    file = folder / "coast.parquet"
    gpd.GeoDataFrame({"name": [f"c{n}" for n in range(len(shapes))]}, geometry=list(shapes), crs=4326).to_parquet(file)
    return read_layer(LayerSpec(name="coast", kind="coast", file=file, **more), folder / "cache")


def ask(layer: Layer, *points: tuple[float, float]) -> Answer:
    asked = np.array(points)
    return layer.index.answer(asked[:, 0].copy(), asked[:, 1].copy())


def metres(one: tuple[float, float], other: tuple[float, float]) -> float:
    return float(GEOD.inv(*one, *other)[2])


DRAWN = {
    "a ring": [MAINLAND.exterior],
    "a ring in two lines": [
        shapely.LineString([(0, 0), (10, 0), (10, 10)]),
        shapely.LineString([(0, 0), (0, 10), (10, 10)]),
    ],
    "a ring with a small opening": [shapely.LineString([(0, 0.5), (0, 10), (10, 10), (10, 0), (0, 0)])],
    "a polygon": [MAINLAND],
}


@pytest.mark.parametrize("how", DRAWN)
def test_a_lake_is_on_land_and_its_distance_below_zero(tmp_path: Path, how: str) -> None:
    answer = ask(coast(tmp_path, *DRAWN[how]), LAKE, SEA, BEACH, (np.nan, 0.0))
    assert answer.on_land.tolist() == [True, False, True, False]
    assert answer.side_known.tolist() == [True, True, True, False]
    assert answer.distance_m[0] == pytest.approx(-metres(LAKE, (10.0, 5.0)), rel=0.005)
    assert answer.distance_m[1] == pytest.approx(metres(SEA, BEACH), rel=0.005)
    assert 0.0 <= answer.distance_m[2] < 2.0 or -2.0 < answer.distance_m[2] <= 0.0


def test_a_ring_within_a_ring_is_water_and_one_within_that_an_island(tmp_path: Path) -> None:
    island = shapely.box(2.5, 2.5, 3.5, 3.5)
    layer = coast(tmp_path, MAINLAND.exterior, CASPIAN.exterior, island.exterior)
    assert ask(layer, LAKE, (2.2, 2.2), (3.0, 3.0), SEA).on_land.tolist() == [True, False, True, False]


def test_lines_that_were_cut_at_180_degrees_are_closed_there_or_over_the_pole(tmp_path: Path) -> None:
    east = shapely.LineString([(180.0, 60), (170, 60), (170, 70), (179.9999, 70)])
    west = shapely.LineString([(-179.9999, 60), (-170, 60), (-170, 70), (-180, 70)])
    antarctica = shapely.LineString([(-180, -70), (0, -65), (180, -70)])
    layer = coast(tmp_path, east, west, antarctica)
    points = [(175.0, 65.0), (-175.0, 65.0), (0.0, -80.0), (77.0, -90.0), (165.0, 65.0), (0.0, -60.0), (180.0, 65.0)]
    answer = ask(layer, *points)
    assert answer.on_land.tolist() == [True, True, True, True, False, False, True]
    assert answer.side_known.all()
    assert layer.report.remarks == ()


def test_where_lines_do_not_close_only_islands_are_known(tmp_path: Path) -> None:
    shore = shapely.LineString([(0, 0), (0, 10)])
    layer = coast(tmp_path, shore, shapely.box(-5, 4, -4, 5).exterior)
    answer = ask(layer, LAKE, (-4.5, 4.5), SEA)
    assert answer.on_land.tolist() == [False, True, False]
    assert answer.side_known.tolist() == [False, True, False]
    assert (answer.distance_m[[0, 2]] > 0).all(), "a distance without a side is what it always was"
    assert "1 of its lines do not close" in layer.report.remarks[0]


def test_a_file_of_land_tells_the_side_of_lines_that_do_not_close(tmp_path: Path) -> None:
    land = tmp_path / "land.geojson"
    gpd.GeoDataFrame(geometry=[MAINLAND], crs=4326).to_file(land)
    shore = shapely.LineString([(0, 0), (0, 10)])
    layer = coast(tmp_path, shore, land_file=land)
    answer = ask(layer, LAKE, SEA)
    assert answer.on_land.tolist() == [True, False]
    assert answer.distance_m[0] == pytest.approx(-metres(LAKE, BEACH), rel=0.005)
    version = layer.version
    gpd.GeoDataFrame(geometry=[shapely.box(0, 0, 4, 4)], crs=4326).to_file(land)
    again = coast(tmp_path, shore, land_file=land)
    assert again.version != version
    assert ask(again, LAKE).on_land.tolist() == [False]


def test_land_that_is_none_is_refused_with_the_way_out(tmp_path: Path) -> None:
    with pytest.raises(LayerReadError, match=r"points have no land side\. Name its polygons with land_file"):
        coast(tmp_path, shapely.Point(0, 0), land=True)
    lines = tmp_path / "lines.geojson"
    gpd.GeoDataFrame(geometry=[MAINLAND.exterior], crs=4326).to_file(lines)
    with pytest.raises(LayerReadError, match="holds no polygons"):
        coast(tmp_path, MAINLAND.exterior, land_file=lines)


def test_a_coast_may_go_without(tmp_path: Path) -> None:
    layer = coast(tmp_path, MAINLAND, land=False)
    assert ask(layer, LAKE).distance_m.tolist() == [0.0]
    assert "on_land" not in answer_columns(stored([layer]), np.array([5.0]), np.array([5.0]))


def test_events_learn_whether_they_are_on_land(tmp_path: Path) -> None:
    layer = coast(tmp_path, shapely.LineString([(0, 0), (0, 10)]), shapely.box(-5, 4, -4, 5).exterior)
    columns = answer_columns(stored([layer]), np.array([-4.5, -2.0, np.nan]), np.array([4.5, 5.0, 0.0]))
    assert list(columns) == ["in_coast", "coast_name", "coast_distance_m", "on_land"]
    assert columns["on_land"].to_pylist() == [True, None, None]


@pytest.mark.shared_data
def test_real_lakes_are_on_land_and_real_seas_are_not(tmp_path: Path, shared_data: Path) -> None:
    file = shared_data / "layers" / "ne_50m_coastline.geojson.gz"
    layer = read_layer(LayerSpec(name="coast", kind="coast", file=file), tmp_path / "cache")
    lakes = [(33.0, -1.0), (-87.0, 43.5), (-87.0, 47.7), (2.35, 48.85), (0.0, -85.0), (-179.0, 66.5)]
    seas = [(-30.0, 40.0), (51.0, 41.0), (0.0, 50.2), (20.0, 58.0), (180.0, 0.0), (0.0, 90.0)]
    answer = ask(layer, *lakes, *seas)
    assert answer.on_land.tolist() == [True] * 6 + [False] * 6
    assert answer.side_known.all()
    assert answer.distance_m[0] < -700_000
