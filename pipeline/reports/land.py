"""The land under a map: Natural Earth, simplified to what the page can show, fine where something happens.

The file is made by `foresail.pipeline.reports.land`.

Makes `assets/land.geojson.gz` from Natural Earth's 1:50m land.

    python -m foresail.pipeline.reports.land FILE

FILE is ne_50m_land as GeoJSON, plain or gzip, from naturalearthdata.com (public domain).
"""

import gzip
import json
import sys
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import shapely
import shapely.geometry

from foresail.pipeline.reports.map_view import Box, Place, Ring

LAND_FILE = Path(__file__).parent / "assets" / "land.geojson.gz"
SAID = "Land: Natural Earth 1:50m (public domain), simplified; shores can be a kilometre or two off."
FINEST = 1500
"""A screen that shows the whole extent parts no two points nearer than this fraction of it."""
MOST_POINTS = 8_000
AROUND = 1.0
"""How far beyond the box, in its own size, land is as fine as inside."""
FAR_DEG = 0.4
"""Farther off land is only seen from far above."""


def land_around(box: Box) -> tuple[tuple[Ring, ...], ...]:
    """Polygons of land, each as its rings: fine around `box`, coarse in the rest of the world."""
    west, south, east, north = box
    size = max(east - west, north - south)
    margin = size * AROUND
    frame = shapely.box(
        max(west - margin, -180), max(south - margin, -90), min(east + margin, 180), min(north + margin, 90)
    )
    near = _light(shapely.intersection(_near(frame), frame), size / FINEST)
    far = shapely.difference(_coarse(), frame)
    return tuple(_rings(polygon) for polygon in (*_polygons(near), *_polygons(far)))


@cache
def _land() -> Any:
    """All land, one polygon an entry."""
    polygons: Any = shapely.get_parts(shapely.from_geojson(gzip.decompress(LAND_FILE.read_bytes()).decode()))
    return np.where(shapely.is_valid(polygons), polygons, shapely.make_valid(polygons))


@cache
def _coarse() -> Any:
    seen = _land()[shapely.area(_land()) > FAR_DEG**2]
    return shapely.make_valid(shapely.simplify(seen, FAR_DEG))


def _near(frame: Any) -> Any:
    return _land()[shapely.intersects(_land(), frame)]


def _light(polygons: Any, step: float) -> Any:
    simple = shapely.simplify(polygons[shapely.area(polygons) > step**2], step)
    while shapely.get_num_coordinates(simple).sum() > MOST_POINTS:
        step *= 1.6
        simple = shapely.simplify(simple, step)
    return simple


def _polygons(geometries: Any) -> list[Any]:
    """The areas among the geometries: cutting also leaves points and lines behind."""
    parts = shapely.get_parts(shapely.get_parts(geometries))
    return [part for part in parts if part.geom_type == "Polygon" and not part.is_empty]


def _rings(polygon: Any) -> tuple[Ring, ...]:
    return tuple(_places(ring) for ring in (polygon.exterior, *polygon.interiors))


def _places(ring: Any) -> tuple[Place, ...]:
    return tuple((float(lon), float(lat)) for lon, lat in shapely.get_coordinates(ring))


TOLERANCE_DEG = 0.01
"""About a kilometre, which is what the source itself is good for."""
DIGITS = 3
SOURCE = (
    "Natural Earth 1:50m land (ne_50m_land), public domain, naturalearthdata.com; "
    f"simplified to {TOLERANCE_DEG} degrees by pipeline/reports/land.py"
)


def simplified(collection: dict[str, Any]) -> dict[str, Any]:
    """The polygons of a feature collection as one, with fewer points and the source named."""
    whole = shapely.get_parts([shapely.geometry.shape(feature["geometry"]) for feature in collection["features"]])
    light = [polygon for polygon in shapely.simplify(whole, TOLERANCE_DEG) if polygon.area > TOLERANCE_DEG**2]
    rings = [[_ring(ring) for ring in (polygon.exterior, *polygon.interiors)] for polygon in light]
    return {"type": "MultiPolygon", "source": SOURCE, "coordinates": rings}


def _ring(ring: Any) -> list[list[float]]:
    return [[round(lon, DIGITS), round(lat, DIGITS)] for lon, lat in ring.coords]


def packed(land: dict[str, Any]) -> bytes:
    """The file's bytes, the same for the same land."""
    return gzip.compress(json.dumps(land, separators=(",", ":")).encode(), mtime=0)


def main(source: Path, target: Path = LAND_FILE) -> None:
    """Read the source and write the file of the package."""
    raw = source.read_bytes()
    text = gzip.decompress(raw) if source.suffix == ".gz" else raw
    target.write_bytes(packed(simplified(json.loads(text))))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
