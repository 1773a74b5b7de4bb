"""Distances against pyproj's geodesic, everywhere: the equator, the poles, the 180th meridian, the other side."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from pyproj import Geod

from foresail.geo.measures.spheroid import distance_m, points_in_space

GEOD = Geod(ellps="WGS84")
LON = st.one_of(st.floats(-180, 180), st.sampled_from([-180.0, 180.0, 0.0, 179.9999999, -179.9999999]))
LAT = st.one_of(st.floats(-90, 90), st.sampled_from([-90.0, 90.0, 0.0, 89.9999999]))


@given(LON, LAT, LON, LAT)
@settings(max_examples=400)
def test_a_distance_is_the_geodesic(lon: float, lat: float, to_lon: float, to_lat: float) -> None:
    expected = GEOD.inv(lon, lat, to_lon, to_lat)[2]
    (found,) = distance_m(*(np.array([value]) for value in (lon, lat, to_lon, to_lat)))
    assert abs(found - expected) <= 1e-3


def test_many_distances_agree_with_pyproj_to_a_tenth_of_a_millimetre() -> None:
    dice = np.random.default_rng(5)
    lon, to_lon = dice.uniform(-180, 180, (2, 200_000))
    lat, to_lat = np.degrees(np.arcsin(dice.uniform(-1, 1, (2, 200_000))))
    assert np.abs(distance_m(lon, lat, to_lon, to_lat) - GEOD.inv(lon, lat, to_lon, to_lat)[2]).max() < 1e-4


def test_both_names_of_the_180th_meridian_are_one_place() -> None:
    ends = [np.array([value]) for value in (-180.0, 12.0, 180.0, 12.0)]
    assert distance_m(*ends)[0] < 1e-6


def test_a_missing_coordinate_has_no_distance() -> None:
    assert np.isnan(distance_m(*(np.array([value]) for value in (np.nan, 0.0, 1.0, 1.0))))[0]


def test_all_longitudes_meet_at_a_pole() -> None:
    north = points_in_space(np.array([0.0, 77.0, -180.0]), np.full(3, 90.0))
    assert np.ptp(north, axis=0).max() < 1e-6
