"""Where simulated fleets move: boxes of longitude and latitude, by name or as four numbers.

Layers as GeoJSON files beside a layers.yaml, in the form that `foresail enrich` reads.
"""

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import yaml

from foresail.pipeline.errors import SettingsError
from foresail.pipeline.simulator.geometry import Floats


@dataclass(frozen=True, slots=True)
class Region:
    """A box, and the town in it around which vehicles drive."""

    name: str
    west: float
    south: float
    east: float
    north: float
    town: tuple[float, float]

    def holds(self, lon: float, lat: float) -> bool:
        """Whether the point lies in the box."""
        return self.west <= lon <= self.east and self.south <= lat <= self.north


REGIONS = {
    region.name: region
    for region in (
        Region("brittany", -6.5, 46.5, 3.0, 51.5, town=(-4.49, 48.41)),
        Region("skagerrak", 6.0, 54.0, 14.0, 60.0, town=(10.21, 56.16)),
        Region("biscay", -10.0, 42.8, 0.0, 49.0, town=(-1.68, 48.11)),
        Region("gulf-of-finland", 18.0, 58.0, 30.0, 61.5, town=(24.94, 60.19)),
        Region("gulf-coast", -98.0, 25.0, -82.0, 31.0, town=(-95.37, 29.76)),
    )
}


def region_of(text: str) -> Region:
    """The region of that name, or the box `west,south,east,north` in degrees."""
    if text in REGIONS:
        return REGIONS[text]
    if "," in text:
        return _box(text)
    near = get_close_matches(text, REGIONS, n=1)
    hint = f"Did you mean '{near[0]}'? " if near else ""
    msg = f"--region: unknown region '{text}'. {hint}Known: {', '.join(REGIONS)}, or west,south,east,north in degrees."
    raise SettingsError(msg)


def _box(text: str) -> Region:
    try:
        west, south, east, north = (float(part) for part in text.split(","))
    except ValueError:
        msg = f"--region: '{text}' is not four numbers. Write west,south,east,north in degrees, as -6.5,46.5,3,51.5."
        raise SettingsError(msg) from None
    ordered = -180 <= west < east <= 180 and -80 <= south < north <= 80
    if not ordered or math.isnan(west + south + east + north):
        msg = (
            f"--region: '{text}' is not a box. Write west < east within -180..180 and south < north within -80..80 "
            "(a box across the antimeridian is not supported)."
        )
        raise SettingsError(msg)
    return Region(text, west, south, east, north, town=((west + east) / 2, (south + north) / 2))


def point(lon: float, lat: float, **properties: Any) -> dict[str, Any]:
    """A point feature."""
    return _feature("Point", [round(lon, 6), round(lat, 6)], properties)


def line(points: Floats, **properties: Any) -> dict[str, Any]:
    """A line feature."""
    return _feature("LineString", _rounded(points), properties)


def polygon(ring: Floats, **properties: Any) -> dict[str, Any]:
    """A polygon feature from its closed outer ring."""
    return _feature("Polygon", [_rounded(ring)], properties)


def write_layer(file: Path, features: Iterable[Mapping[str, Any]]) -> None:
    """Write a feature collection; the same features give the same bytes."""
    collection = {"type": "FeatureCollection", "features": list(features)}
    file.write_text(json.dumps(collection, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def write_index(folder: Path, layers: Sequence[Mapping[str, Any]]) -> None:
    """Write layers.yaml, which names each layer's kind and file."""
    text = yaml.safe_dump({"layers": [dict(layer) for layer in layers]}, sort_keys=False)
    note = "# Layers of a simulation. Ports are real (searoute); all else is simulated.\n"
    (folder / "layers.yaml").write_text(note + text, encoding="utf-8")


def _feature(kind: str, coordinates: Any, properties: Mapping[str, Any]) -> dict[str, Any]:
    return {"type": "Feature", "properties": dict(properties), "geometry": {"type": kind, "coordinates": coordinates}}


def _rounded(points: Floats) -> list[list[float]]:
    return [[round(float(lon), 6), round(float(lat), 6)] for lon, lat in points]
