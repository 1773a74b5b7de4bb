"""Layers as the map draws them: simplified to what a screen can show, and few enough to be part of a page."""

from collections.abc import Iterator, Sequence
from typing import Any

import geopandas as gpd
import numpy as np
import shapely

from foresail.geo import Layer
from foresail.geo.layers.index import FEATURES_FILE
from foresail.pipeline.reports.map_view import Box, MapLayer, Shape

MOST_SHAPES = 400
MOST_POINTS = 30_000
FINEST = 1500
"""A screen that shows the whole extent parts no two points nearer than this fraction of it."""


def map_layers(layers: Sequence[Layer], box: Box) -> tuple[tuple[MapLayer, ...], tuple[str, ...]]:
    """The features that touch `box`, simplified, and sentences about those that are not drawn."""
    drawn, left_out = [], []
    for layer in layers:
        if layer.spec.holds_by_time:
            left_out.append(f"The layer {layer.spec.name} changes with time and is not drawn.")
            continue
        shapes, more = _shapes(layer, box)
        if more:
            left_out.append(
                f"Of the layer {layer.spec.name} the {len(shapes):,} largest features are drawn, {more:,} are not."
            )
        if shapes:
            drawn.append(MapLayer(layer.spec.name, shapes))
    return tuple(drawn), tuple(left_out)


def _shapes(layer: Layer, box: Box) -> tuple[tuple[Shape, ...], int]:
    features = gpd.read_parquet(layer.folder / FEATURES_FILE, columns=["name", "geometry"])
    west, south, east, north = box
    margin = max(east - west, north - south) * 0.1
    frame = shapely.box(west - margin, south - margin, east + margin, north + margin)
    near = features[shapely.intersects(features.geometry.to_numpy(), frame)]
    size = shapely.length(near.geometry.to_numpy())
    chosen = near.iloc[np.sort(np.argsort(-size, kind="stable")[:MOST_SHAPES])]
    step = max(east - west, north - south) / FINEST
    simple = _light(shapely.clip_by_rect(chosen.geometry.to_numpy(), *frame.bounds), step)
    names = [None if name != name else name for name in chosen["name"].tolist()]  # noqa: PLR0124 - NaN is no name
    shapes = [shape for geometry, name in zip(simple, names, strict=True) for shape in _parts(geometry, name)]
    return tuple(shapes), len(near) - len(chosen)


def _light(geometries: Any, step: float) -> Any:
    """The geometries with no more points than a page can hold."""
    simple = shapely.simplify(geometries, step)
    while shapely.get_num_coordinates(simple).sum() > MOST_POINTS:
        step *= 2
        simple = shapely.simplify(simple, step)
    return simple


def _parts(geometry: Any, name: str | None) -> Iterator[Shape]:
    for part in shapely.get_parts(geometry):
        if part.is_empty:
            continue
        match part.geom_type:
            case "Point":
                yield Shape("point", ((_places(part)[0],),), name)
            case "Polygon":
                yield Shape("polygon", (_places(part.exterior), *(_places(ring) for ring in part.interiors)), name)
            case "LineString" | "LinearRing":
                yield Shape("line", (_places(part),), name)


def _places(geometry: Any) -> tuple[tuple[float, float], ...]:
    return tuple((float(lon), float(lat)) for lon, lat in shapely.get_coordinates(geometry))
