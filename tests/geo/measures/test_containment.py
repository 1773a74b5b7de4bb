"""Zone membership against shapely, exactly: on vertices, on edges, one rounding away from them."""

from itertools import pairwise

import numpy as np
import shapely
from hypothesis import given, settings
from hypothesis import strategies as st

from foresail.geo.layers.antimeridian import edges_of, zones_of
from foresail.geo.measures.containment import OPEN, first_zone

LEAST = 1e-150
"""Shapely's own arithmetic underflows below: of (-5e-324, -5e-324) it says that a triangle holds it which does not."""
COORDINATE = st.one_of(
    st.integers(-6, 6).map(float),
    st.floats(-6, 6, allow_nan=False).filter(lambda value: value == 0 or abs(value) > LEAST),
    st.sampled_from([0.1, 0.2, 0.3, 1 / 3, 1e-100, -1e-100, 0.30000000000000004]),
)
POINT = st.tuples(COORDINATE, COORDINATE)


def answers(polygons: list[shapely.Polygon], points: np.ndarray) -> np.ndarray:
    lon, lat = (np.ascontiguousarray(points[:, axis]) for axis in (0, 1))
    return first_zone(lon, lat, np.ones(len(lon), bool), zones_of(*edges_of(np.array(polygons, dtype=object))))


def lowest_by_shapely(polygons: list[shapely.Polygon], points: np.ndarray) -> np.ndarray:
    held = np.array([shapely.intersects_xy(polygon, points[:, 0], points[:, 1]) for polygon in polygons])
    return np.where(held.any(axis=0), held.argmax(axis=0), -1)


def on_and_beside_edges(polygon: shapely.Polygon) -> list[tuple[float, float]]:
    corners = shapely.get_coordinates(polygon)
    middles = [a + t * (b - a) for a, b in pairwise(corners) for t in (0.5, 1 / 3, 0.1)]
    near = [np.nextafter(point, target) for point in (*corners, *middles) for target in (-np.inf, np.inf)]
    sound = [point for point in (*corners, *middles, *near) if all(v == 0 or abs(v) > LEAST for v in point)]
    return [tuple(point) for point in sound]


@given(st.lists(st.lists(POINT, min_size=3, max_size=9), min_size=1, max_size=4), st.lists(POINT, max_size=40))
@settings(max_examples=300, deadline=None)
def test_membership_equals_shapely_wherever_it_is_settled(rings: list[list], points: list) -> None:
    polygons = [shapely.convex_hull(shapely.MultiPoint(ring)) for ring in rings]
    polygons += [polygon for ring in rings if (polygon := shapely.Polygon(ring)).is_valid]
    polygons = [polygon for polygon in polygons if polygon.geom_type == "Polygon" and not polygon.is_empty]
    if not polygons:
        return
    asked = np.array(points + [point for polygon in polygons for point in on_and_beside_edges(polygon)])
    found, expected = answers(polygons, asked), lowest_by_shapely(polygons, asked)
    settled = found != OPEN
    assert (found[settled] == expected[settled]).all()


def test_almost_every_position_is_settled_without_exact_arithmetic() -> None:
    dice = np.random.default_rng(3)
    turns = np.linspace(0, 2 * np.pi, 61)[:-1]
    rings = [np.column_stack((np.cos(turns), np.sin(turns))) * dice.uniform(0.5, 1, (60, 1)) + centre
             for centre in dice.uniform(-10, 10, (50, 2))]  # fmt: skip
    polygons, points = [shapely.Polygon(ring) for ring in rings], dice.uniform(-11, 11, (100_000, 2))
    found = answers(polygons, points)
    assert (found == lowest_by_shapely(polygons, points)).all()
    assert (found >= 0).mean() > 0.1


def test_a_hole_is_outside_and_its_edge_is_held() -> None:
    ring = shapely.Polygon([(0, 0), (4, 0), (4, 4), (0, 4)], [[(1, 1), (3, 1), (3, 3), (1, 3)]])
    asked = np.array([[0.5, 0.5], [2.0, 2.0], [1.0, 2.0], [4.0, 4.0], [5.0, 2.0]])
    assert answers([ring], asked).tolist() == [0, -1, 0, 0, -1]


def test_of_overlapping_zones_the_first_is_named() -> None:
    squares = [shapely.box(2, 2, 6, 6), shapely.box(0, 0, 4, 4)]
    assert answers(squares, np.array([[3.0, 3.0], [1.0, 1.0], [5.0, 5.0]])).tolist() == [0, 1, 0]


def test_no_zones_hold_nothing() -> None:
    assert answers([], np.array([[0.0, 0.0]])).tolist() == [-1]
