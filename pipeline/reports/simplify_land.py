"""Makes `assets/land.geojson.gz` from Natural Earth's 1:50m land.

    python -m foresail.pipeline.reports.simplify_land FILE

FILE is ne_50m_land as GeoJSON, plain or gzip, from naturalearthdata.com (public domain).
"""

import gzip
import json
import sys
from pathlib import Path
from typing import Any

import shapely
import shapely.geometry

from foresail.pipeline.reports.land import LAND_FILE

TOLERANCE_DEG = 0.01
"""About a kilometre, which is what the source itself is good for."""
DIGITS = 3
SOURCE = (
    "Natural Earth 1:50m land (ne_50m_land), public domain, naturalearthdata.com; "
    f"simplified to {TOLERANCE_DEG} degrees by pipeline/reports/simplify_land.py"
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
