"""Which side of a coast is land: the distance to a coast alone cannot tell a lake from the open sea.

Land is what polygons hold: those of the layer itself or of a file of its own. Lines are land within their rings; where
some do not close, only the inside of those that do is known.
"""

from dataclasses import dataclass
from typing import Any

import geopandas as gpd
import numpy as np
import shapely
from numpy.typing import NDArray

from foresail.geo.errors import LayerReadError
from foresail.geo.layers.antimeridian import edges_of, zones_of
from foresail.geo.layers.check import check_features
from foresail.geo.layers.formats import DEGREES, read_features, where
from foresail.geo.layers.spec import LayerSpec
from foresail.geo.measures.containment import Zones

LAND_FILE = "land.parquet"
POLYGON, LINE = 2, 1
EDGE_LON, POLE_LAT = 180.0, 90.0
NEAR_EDGE = 0.01
"""Real coastlines are cut so near to 180 degrees, not always on it."""
OPENING = 0.1
"""A line whose ends are nearer to each other than this share of its length goes around something."""
NO_ZONES = zones_of(np.empty((0, 4)), np.empty(0, np.int64), np.empty(0, np.bool_))


@dataclass(frozen=True, slots=True)
class Land:
    """The polygons of land of a layer; `settled` unless what lies outside of them may be land as well."""

    zones: Zones
    settled: NDArray[np.bool_]
    """One truth, as an array, as all that an index holds; none where nothing is known of land."""

    @property
    def is_known(self) -> bool:
        """Whether anything is known of land and sea."""
        return bool(self.zones.feature.size)


NO_LAND = Land(NO_ZONES, np.empty(0, np.bool_))


@dataclass(frozen=True, slots=True)
class LandShapes:
    """Land as it was read, and how many lines of the coast do not close."""

    shapes: NDArray[Any]
    open_lines: int = 0

    @property
    def table(self) -> gpd.GeoDataFrame:
        """The shapes as they are stored."""
        return gpd.GeoDataFrame(geometry=self.shapes, crs=DEGREES)

    @property
    def remarks(self) -> tuple[str, ...]:
        """What a run says of it."""
        if not self.open_lines:
            return ()
        return (
            f"{self.open_lines} of its lines do not close, so that land and sea are not told apart beyond those that "
            "do: name the polygons of land with land_file, or write land: false",
        )


def read_land(features: gpd.GeoDataFrame, spec: LayerSpec) -> LandShapes:
    """The land of a layer that has a land side."""
    if spec.land_file is not None:
        return LandShapes(_polygons_of_file(spec))
    shapes = features.geometry.to_numpy()
    parts = shapely.get_parts(shapes)
    polygons = parts[shapely.get_dimensions(parts) == POLYGON]
    if len(polygons):
        return LandShapes(polygons)
    lines = parts[shapely.get_dimensions(parts) == LINE]
    if not len(lines) and spec.land is None:
        return LandShapes(lines)
    if not len(lines):
        msg = f"{where(spec)}: points have no land side. Name its polygons with land_file, or write land: false."
        raise LayerReadError(msg)
    return _within_rings(lines)


def build_land(land: LandShapes) -> Land:
    """The arrays of it."""
    if not len(land.shapes):
        return NO_LAND
    return Land(zones_of(*edges_of(land.shapes)), np.array([not land.open_lines]))


def _polygons_of_file(spec: LayerSpec) -> NDArray[Any]:
    assert spec.land_file is not None
    own = LayerSpec(name=f"{spec.name}: land_file", kind="land", file=spec.land_file, invalid=spec.invalid)
    features, _ = check_features(read_features(own), own)
    parts = shapely.get_parts(features.geometry.to_numpy())
    polygons: NDArray[Any] = parts[shapely.get_dimensions(parts) == POLYGON]
    if not len(polygons):
        msg = f"{where(own)}: holds no polygons. Name a file with the polygons of land."
        raise LayerReadError(msg)
    return polygons


def _within_rings(lines: NDArray[Any]) -> LandShapes:
    """What the rings hold: a ring within a ring is water, as the Caspian, and one within that an island."""
    merged = shapely.get_parts(shapely.line_merge(shapely.multilinestrings(lines)))
    closed = np.array([_closed(line) for line in merged], dtype=object)
    rings = closed[shapely.is_closed(closed)]
    area = shapely.build_area(shapely.multilinestrings(rings)) if len(rings) else None
    parts = shapely.get_parts(area) if area is not None and not area.is_empty else np.empty(0, dtype=object)
    return LandShapes(parts, len(closed) - len(rings))


def _closed(line: Any) -> Any:
    """The line as a ring, where it is one but for a small opening, or but for a cut at 180 degrees.

    What was cut is closed along that meridian, or over the pole that it goes around.
    """
    xy = shapely.get_coordinates(line)
    begin, end = xy[0], xy[-1]
    if shapely.is_closed(line):
        return line
    if np.hypot(*(end - begin)) <= OPENING * line.length:
        return shapely.LineString([*xy, begin])
    if min(abs(begin[0]), abs(end[0])) < EDGE_LON - NEAR_EDGE:
        return line
    (begin_lon, begin_lat), (end_lon, end_lat) = ((np.copysign(EDGE_LON, lon), lat) for lon, lat in (begin, end))
    over = []
    if begin_lon != end_lon:
        pole = np.copysign(POLE_LAT, begin_lat + end_lat)
        over = [(end_lon, pole), (begin_lon, pole)]
    return shapely.LineString([(begin_lon, begin_lat), *xy, (end_lon, end_lat), *over, (begin_lon, begin_lat)])
