"""The simulator's measures agree with pyproj and shapely."""

import numpy as np
import shapely
from hypothesis import given, settings
from hypothesis import strategies as st
from pyproj import Geod

from foresail.pipeline.simulator.geometry import (
    along_m,
    bearing_deg,
    distance_m,
    distance_to_line_m,
    inside_polygon,
    moved,
    wrapped_deg,
)

GEOD = Geod(ellps="WGS84")
latitudes = st.floats(-75, 75)
longitudes = st.floats(-179, 179)
offsets = st.floats(-20_000, 20_000)


@settings(max_examples=80, deadline=None)
@given(longitudes, latitudes, offsets, offsets)
def test_distances_and_moves_agree_with_the_geodesic(lon, lat, east, north) -> None:
    to_lon, to_lat = moved(lon, lat, east, north)
    azimuth, _, metres = GEOD.inv(lon, lat, float(to_lon), float(to_lat))
    assert abs(float(distance_m(np.array(lon), np.array(lat), to_lon, to_lat)) - metres) < 0.01 + metres * 1e-5
    assert abs(metres - np.hypot(east, north)) < 1 + metres * 0.02
    if metres > 100:
        course = bearing_deg(np.array([lon]), np.array([lat]), np.array([to_lon]), np.array([to_lat]))
        assert abs(wrapped_deg(course - azimuth)[0]) < 1.0


@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(st.floats(-1, 1), st.floats(49, 51)), min_size=5, max_size=5, unique=True))
def test_points_in_a_ring_agree_with_shapely(points) -> None:
    ring = np.array([[-0.5, 49.5], [0.6, 49.4], [0.7, 50.4], [0.0, 50.1], [-0.6, 50.6], [-0.5, 49.5]])
    lon, lat = np.array(points).T
    assert (inside_polygon(lon, lat, ring) == shapely.contains_xy(shapely.Polygon(ring), lon, lat)).all()


def test_the_distance_to_a_line_is_that_to_its_nearest_point() -> None:
    line = np.array([[0.0, 50.0], [0.1, 50.0], [0.1, 50.1]])
    metres = distance_to_line_m(np.array([0.05, 0.1, 0.2]), np.array([50.01, 50.05, 50.1]), line)
    expected = [GEOD.inv(0.05, 50.01, 0.05, 50.0)[2], 0.0, GEOD.inv(0.2, 50.1, 0.1, 50.1)[2]]
    assert np.allclose(metres, expected, rtol=1e-3, atol=0.01)


def test_metres_along_a_line_add_up() -> None:
    lon, lat = np.array([0.0, 0.1, 0.1]), np.array([50.0, 50.0, 50.1])
    assert np.isclose(along_m(lon, lat)[-1], GEOD.line_length(lon, lat), rtol=1e-5)
