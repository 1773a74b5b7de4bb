"""The nearest feature and its distance against a search of everything with pyproj."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from pyproj import Geod

from foresail.geo.measures.nearest import build_pieces, nearby, nearest

GEOD = Geod(ellps="WGS84")
LON = st.one_of(st.floats(-180, 180), st.sampled_from([-180.0, 180.0, 179.99, -179.99, 0.0]))
LAT = st.one_of(st.floats(-90, 90), st.sampled_from([-90.0, 90.0, 89.9, -89.9, 0.0]))
PLACES = st.lists(st.tuples(LON, LAT), min_size=1, max_size=40)


def pieces_of(places: np.ndarray):
    return build_pieces(np.hstack((places, places)), np.arange(len(places), dtype=np.int64))


def by_pyproj(points: np.ndarray, places: np.ndarray) -> np.ndarray:
    rows, columns = np.indices((len(points), len(places))).reshape(2, -1)
    lengths = GEOD.inv(points[rows, 0], points[rows, 1], places[columns, 0], places[columns, 1])[2]
    return lengths.reshape(len(points), len(places))


@given(PLACES, PLACES)
@settings(max_examples=150, deadline=None)
def test_no_other_place_is_nearer_by_more_than_half_a_percent(points: list, places: list) -> None:
    asked, there = np.array(points), np.array(places)
    found = nearest(asked[:, 0].copy(), asked[:, 1].copy(), np.ones(len(asked), bool), pieces_of(there))
    lengths = by_pyproj(asked, there)
    chosen = lengths[np.arange(len(asked)), found.feature]
    assert np.abs(found.distance_m - chosen).max() < 1e-3
    assert (chosen <= lengths.min(axis=1) * 1.005 + 1e-3).all()


def test_within_a_thousand_kilometres_the_nearest_is_the_nearest() -> None:
    dice = np.random.default_rng(11)
    asked, there = dice.uniform((-20, 30), (20, 70), (2000, 2)), dice.uniform((-20, 30), (20, 70), (300, 2))
    found = nearest(asked[:, 0].copy(), asked[:, 1].copy(), np.ones(len(asked), bool), pieces_of(there))
    lengths = by_pyproj(asked, there)
    assert (found.feature == lengths.argmin(axis=1)).all()


@given(PLACES, PLACES, st.sampled_from([10.0, 1e5, 3e6, 1.5e7]))
@settings(max_examples=80, deadline=None)
def test_nearby_lists_exactly_the_places_within_the_radius(points: list, places: list, radius_m: float) -> None:
    asked, there = np.array(points), np.array(places)
    lon, lat, wanted = asked[:, 0].copy(), asked[:, 1].copy(), np.ones(len(asked), bool)
    found = nearby(lon, lat, wanted, pieces_of(there), np.full(len(there), radius_m))
    lengths = by_pyproj(asked, there)
    listed = np.zeros(lengths.shape, bool)
    listed[found.row, found.feature] = True
    assert (listed | (lengths > radius_m - 0.01)).all()
    assert (~listed | (lengths <= radius_m + 0.01)).all()
    assert np.abs(found.distance_m - lengths[found.row, found.feature]).max(initial=0) < 0.01


def test_equal_distances_are_settled_by_the_order_of_the_features() -> None:
    places = np.array([[1.0, 0.0], [-1.0, 0.0], [0.0, 5.0], [1.0, 0.0]])
    found = nearest(np.zeros(1), np.zeros(1), np.ones(1, bool), pieces_of(places))
    assert found.feature.tolist() == [0]


def test_unwanted_positions_have_no_answer() -> None:
    found = nearest(np.zeros(2), np.zeros(2), np.array([True, False]), pieces_of(np.zeros((1, 2))))
    assert found.feature.tolist() == [0, -1]
    assert np.isnan(found.distance_m[1])
