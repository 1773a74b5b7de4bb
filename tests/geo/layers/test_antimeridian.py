"""Shapes over the 180th meridian and around the poles, however their files write them."""

import numpy as np
import pytest
import shapely

from foresail.geo.layers.antimeridian import cut_at_antimeridian


def cut(shape: shapely.Geometry) -> tuple[shapely.Geometry, bool]:
    shapes, changed = cut_at_antimeridian(np.array([shape], dtype=object))
    return shapes[0], bool(changed[0])


FIJI = {
    "jumping": shapely.Polygon([(177, -20), (-178, -20), (-178, -15), (177, -15)]),
    "going on": shapely.Polygon([(177, -20), (182, -20), (182, -15), (177, -15)]),
    "going back": shapely.Polygon([(-183, -20), (-178, -20), (-178, -15), (-183, -15)]),
}


@pytest.mark.parametrize("way", FIJI)
def test_a_zone_over_the_meridian_is_cut_in_two(way: str) -> None:
    shape, changed = cut(FIJI[way])
    assert changed
    assert shapely.equals(shape, shapely.union(shapely.box(177, -20, 180, -15), shapely.box(-180, -20, -178, -15)))


def test_a_hole_over_the_meridian_stays_a_hole() -> None:
    hole = [(179, -18), (-179, -18), (-179, -17), (179, -17)]
    shape, _ = cut(shapely.Polygon(FIJI["jumping"].exterior.coords, [hole]))
    assert not shapely.intersects_xy(shape, 179.5, -17.5)
    assert not shapely.intersects_xy(shape, -179.5, -17.5)
    assert shapely.intersects_xy(shape, 178.0, -17.5)


@pytest.mark.parametrize("pole", [90.0, -90.0])
def test_a_ring_around_a_pole_holds_the_pole(pole: float) -> None:
    ring = [(lon, pole * 0.8) for lon in (-150.0, -90.0, -30.0, 30.0, 90.0, 150.0)]
    shape, changed = cut(shapely.Polygon(ring))
    assert changed
    assert shape.is_valid
    for lon in (-179.0, -10.0, 100.0, 180.0):
        assert shapely.intersects_xy(shape, lon, pole * 0.95)
        assert not shapely.intersects_xy(shape, lon, pole * 0.7)


def test_a_line_over_the_meridian_is_cut_and_keeps_its_latitude() -> None:
    shape, changed = cut(shapely.LineString([(170, 10), (-170, 30)]))
    assert changed
    assert shapely.equals(shape, shapely.MultiLineString([[(170, 10), (180, 20)], [(-180, 20), (-170, 30)]]))


def test_a_point_beyond_the_meridian_is_wrapped() -> None:
    assert shapely.equals(cut(shapely.Point(190, 5))[0], shapely.Point(-170, 5))


@pytest.mark.parametrize(
    "shape",
    [
        shapely.box(-180, -90, 180, -60),
        shapely.box(-180, -90, 180, 90),
        shapely.MultiPolygon([shapely.box(177, -20, 180, -15), shapely.box(-180, -20, -178, -15)]),
        shapely.box(0, 0, 10, 10),
    ],
)
def test_shapes_within_the_world_stay_as_they_are(shape: shapely.Geometry) -> None:
    same, changed = cut(shape)
    assert not changed
    assert same is shape
