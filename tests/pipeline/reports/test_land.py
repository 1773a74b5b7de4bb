"""The land under the maps: a small file of the package whose source is named, and what a page takes of it."""

import gzip
import json
from pathlib import Path

import pytest
import shapely

from foresail.pipeline.reports.land import LAND_FILE, MOST_POINTS, land_around, packed, simplified


def on_land(box: tuple[float, float, float, float], lon: float, lat: float) -> bool:
    polygons = [shapely.make_valid(shapely.Polygon(rings[0], rings[1:])) for rings in land_around(box)]
    return any(polygon.contains(shapely.Point(lon, lat)) for polygon in polygons)


def test_the_file_is_small_and_names_its_source() -> None:
    assert LAND_FILE.stat().st_size < 400_000
    land = json.loads(gzip.decompress(LAND_FILE.read_bytes()))
    assert "Natural Earth" in land["source"]
    assert "public domain" in land["source"]


def test_it_is_what_the_script_makes_of_natural_earth(shared_data: Path) -> None:
    source = json.loads(gzip.decompress((shared_data / "layers" / "ne_50m_land.geojson.gz").read_bytes()))
    assert gzip.decompress(packed(simplified(source))) == gzip.decompress(LAND_FILE.read_bytes())


@pytest.mark.parametrize(
    ("box", "land", "sea"),
    [
        ((-6.0, 47.0, -3.0, 49.0), (-3.5, 48.2), (-5.8, 48.0)),
        ((9.8, 57.4, 9.9, 57.5), (9.85, 57.35), (9.0, 57.6)),
        ((-180.0, -60.0, 180.0, 75.0), (-100.0, 40.0), (-30.0, 40.0)),
    ],
)
def test_land_is_land_near_and_far_and_a_page_can_hold_it(
    box: tuple[float, float, float, float], land: tuple[float, float], sea: tuple[float, float]
) -> None:
    assert on_land(box, *land)
    assert not on_land(box, *sea)
    assert on_land(box, 134.0, -25.0), "far away too: the map can be zoomed out"
    points = sum(len(ring) for polygon in land_around(box) for ring in polygon)
    assert points < 2 * MOST_POINTS
