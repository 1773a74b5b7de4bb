"""What a layer says of positions, against shapely and pyproj: edges, 180 degrees, poles, radii, lines, nothing."""

from pathlib import Path

import geopandas as gpd
import numpy as np
import pyarrow as pa
import pytest
import shapely
from hypothesis import given, settings
from hypothesis import strategies as st
from pyproj import Geod

from foresail.geo.layers.check import check_features
from foresail.geo.layers.index import LayerIndex, build_arrays, position_shapes
from foresail.geo.layers.spec import LayerSpec

GEOD = Geod(ellps="WGS84")


def index_of(folder: Path, shapes: list, **more: object) -> LayerIndex:
    raw = gpd.GeoDataFrame(geometry=shapes, crs="EPSG:4326")
    spec = LayerSpec(name="zones", kind="zone", file=Path("zones.geojson"), **more)
    features, _ = check_features(raw, spec)
    features.to_parquet(folder / "features.parquet")
    return LayerIndex(build_arrays(features), folder / "features.parquet")


def ask(index: LayerIndex, points: list, **more: bool):
    asked = np.array(points, float)
    return index.answer(asked[:, 0].copy(), asked[:, 1].copy(), **more)


def dense_distance_m(point: tuple[float, float], line: shapely.LineString) -> float:
    """The least geodesic to any of many places along a line that is straight in degrees, then around the best."""
    places = shapely.get_coordinates(shapely.segmentize(line, 1.0))
    for step in (0.02, 0.0002):
        best = int(GEOD.inv(*_repeated(point, len(places)), places[:, 0], places[:, 1])[2].argmin())
        around = shapely.LineString(places[max(best - 1, 0) : best + 2])
        places = shapely.get_coordinates(shapely.segmentize(around, step))
    return float(GEOD.inv(*_repeated(point, len(places)), places[:, 0], places[:, 1])[2].min())


def _repeated(point: tuple[float, float], times: int) -> list[np.ndarray]:
    return [np.full(times, value) for value in point]


WORLD = [
    shapely.Polygon([(170, -20), (-170, -20), (-170, -10), (170, -10)]),
    shapely.Polygon([(lon, 75) for lon in range(-180, 180, 20)]),
    shapely.box(-180, -90, 180, -80),
    shapely.box(0, 80, 30, 90),
    shapely.box(150, 40, 180, 50),
    shapely.box(10, 10, 20, 20).difference(shapely.box(12, 12, 15, 15)),
    shapely.Point(100, 10).buffer(3),
]
ADVERSARIAL = st.one_of(
    st.tuples(st.floats(-180, 180), st.floats(-90, 90)),
    st.tuples(st.sampled_from([-180.0, 180.0, 170.0, -170.0]), st.floats(-90, 90)),
    st.tuples(st.floats(-180, 180), st.sampled_from([-90.0, 90.0, 75.0, -80.0, -10.0, -20.0, 80.0])),
    st.tuples(st.sampled_from([10.0, 12.0, 15.0, 20.0]), st.sampled_from([10.0, 12.0, 15.0, 20.0, 11.0])),
    st.sampled_from([tuple(xy) for xy in shapely.get_coordinates(WORLD[6])]),
)


@given(st.lists(ADVERSARIAL, min_size=1, max_size=60))
@settings(max_examples=60, deadline=None)
def test_membership_is_what_shapely_says_everywhere_on_earth(
    tmp_path_factory: pytest.TempPathFactory, points: list
) -> None:
    index = world(tmp_path_factory)
    shapes = gpd.read_parquet(index._file).geometry.to_numpy()
    asked = np.array(points)
    held = np.array([shapely.intersects(position_shapes(asked[:, 0], asked[:, 1]), shape) for shape in shapes])
    answer = ask(index, points)
    assert (answer.inside == held.any(axis=0)).all()
    assert (answer.feature[answer.inside] == held.argmax(axis=0)[answer.inside]).all()
    assert (answer.distance_m[answer.inside] == 0.0).all()
    assert (answer.distance_m[~answer.inside] > 0.0).all()


_WORLD_INDEX: list[LayerIndex] = []


def world(tmp_path_factory: pytest.TempPathFactory) -> LayerIndex:
    if not _WORLD_INDEX:
        _WORLD_INDEX.append(index_of(tmp_path_factory.mktemp("world"), WORLD))
    return _WORLD_INDEX[0]


def test_one_place_has_one_answer_under_all_its_coordinates(tmp_path: Path) -> None:
    index = index_of(tmp_path, WORLD)
    meridian = ask(index, [(180.0, 45.0), (-180.0, 45.0), (180.0, 0.0), (-180.0, 0.0)])
    assert meridian.feature[0] == meridian.feature[1] == 4
    assert meridian.inside.tolist() == [True, True, False, False]
    assert abs(meridian.distance_m[2] - meridian.distance_m[3]) < 1e-6
    shapes = position_shapes(np.array([-180.0, 180.0, 179.0]), np.array([5.0, 6.0, 7.0]))
    assert [shapely.get_coordinates(shape).tolist() for shape in shapes] == [
        [[-180.0, 5.0], [180.0, 5.0]],
        [[-180.0, 6.0], [180.0, 6.0]],
        [[179.0, 7.0]],
    ]
    pole = ask(index, [(lon, 90.0) for lon in (-180.0, -77.0, 0.0, 15.0, 180.0)])
    assert set(pole.feature) == {1}
    assert pole.inside.all()


@given(st.lists(st.tuples(st.floats(-180, 180), st.floats(-90, 90)), min_size=1, max_size=5))
@settings(max_examples=25, deadline=None)
def test_distances_to_edges_agree_with_pyproj_within_half_a_percent(
    tmp_path_factory: pytest.TempPathFactory, points: list
) -> None:
    index = world(tmp_path_factory)
    rings = shapely.get_rings(shapely.get_parts(gpd.read_parquet(index._file).geometry.to_numpy()))
    answer = ask(index, points)
    for point, metres, inside in zip(points, answer.distance_m, answer.inside, strict=True):
        if not inside:
            expected = min(dense_distance_m(point, ring) for ring in rings)
            assert metres <= expected * 1.005 + 2.0
            assert metres >= expected * 0.995 - 15.0  # the comparison steps by 0.0002 degrees, 22 m


@pytest.mark.parametrize("lat", [0.0, 30.0, 60.0, 80.0, 89.0])
def test_a_long_edge_is_straight_in_degrees_not_a_great_circle(tmp_path: Path, lat: float) -> None:
    index = index_of(tmp_path, [shapely.LineString([(0, lat), (90, lat)])])
    north = ask(index, [(45.0, lat + 0.01), (45.0, lat)])
    assert abs(north.distance_m[0] - GEOD.inv(45, lat, 45, lat + 0.01)[2]) < 2.0
    assert north.distance_m[1] < 2.0


def test_a_radius_makes_a_point_a_zone_and_the_distance_is_to_its_middle(tmp_path: Path) -> None:
    index = index_of(tmp_path, [shapely.Point(0, 0), shapely.Point(1, 0)], radius_m=5000)
    answer = ask(index, [(0.04, 0.0), (0.05, 0.0), (0.0, 0.0)])
    assert answer.inside.tolist() == [True, False, True]
    assert answer.feature.tolist() == [0, 0, 0]
    assert answer.distance_m[0] == pytest.approx(GEOD.inv(0, 0, 0.04, 0)[2])


def test_a_radius_around_a_zone_reaches_beyond_its_edge(tmp_path: Path) -> None:
    index = index_of(tmp_path, [shapely.box(0, 0, 1, 1)], radius_m=2000)
    assert ask(index, [(1.01, 0.5), (1.03, 0.5), (0.5, 0.5)]).inside.tolist() == [True, False, True]


def test_the_feature_that_holds_a_position_goes_before_a_nearer_one_that_does_not(tmp_path: Path) -> None:
    raw = gpd.GeoDataFrame({"reach": [50_000.0, 10.0]}, geometry=[shapely.Point(0, 0), shapely.Point(0.3, 0)], crs=4326)
    spec = LayerSpec(name="z", kind="z", file=Path("z.geojson"), radius_column="reach")
    features, _ = check_features(raw, spec)
    features.to_parquet(tmp_path / "features.parquet")
    answer = ask(LayerIndex(build_arrays(features), tmp_path / "features.parquet"), [(0.29, 0.0), (0.6, 0.0)])
    assert answer.feature.tolist() == [0, 1]
    assert answer.inside.tolist() == [True, False]


def test_positions_off_the_earth_have_no_answer(tmp_path: Path) -> None:
    index = index_of(tmp_path, [shapely.box(-180, -90, 180, 90)])
    answer = ask(index, [(np.nan, 0), (0, np.nan), (180.1, 0), (0, 90.1), (np.inf, 0), (0, 0)])
    assert answer.known.tolist() == [False] * 5 + [True]
    assert answer.inside.tolist() == [False] * 5 + [True]
    assert answer.feature[:5].tolist() == [-1] * 5
    assert np.isnan(answer.distance_m[:5]).all()


def test_without_distances_only_holding_zones_are_named(tmp_path: Path) -> None:
    index = index_of(tmp_path, [shapely.box(0, 0, 1, 1)])
    assert ask(index, [(0.5, 0.5), (2, 2)], distance=False).feature.tolist() == [0, -1]


def test_nearby_lists_zones_that_hold_and_features_around_once_each(tmp_path: Path) -> None:
    index = index_of(tmp_path, [shapely.box(0, 0, 1, 1), shapely.box(0.5, 0.5, 2, 2), shapely.Point(1.2, 0.6)])
    rows, features, metres = index.nearby(np.array([0.7, 50.0, np.nan]), np.array([0.7, 50.0, 0.0]), 100_000.0)
    assert rows.tolist() == [0, 0, 0]
    assert features.tolist() == [0, 1, 2]
    assert metres[:2].tolist() == [0.0, 0.0]
    assert metres[2] == pytest.approx(GEOD.inv(0.7, 0.7, 1.2, 0.6)[2])


def test_arrays_that_belong_to_arrow_can_be_asked_about(tmp_path: Path) -> None:
    index = index_of(tmp_path, [shapely.Point(1.0, 50.0)])
    lon, lat = (pa.array([value]).to_numpy() for value in (1.0, 50.01))
    assert not lon.flags.writeable
    assert index.nearby(lon, lat, 5000.0)[1].tolist() == [0]
