"""Layers as GeoJSON files beside a layers.yaml, in the form that `foresail enrich` reads."""

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

from foresail.pipeline.simulator.geometry import Floats


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
