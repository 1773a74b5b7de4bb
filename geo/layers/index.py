"""A layer as a worker holds it: arrays mapped from files, and one question, asked of many positions at once."""

import dataclasses
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any, TypeVar, get_type_hints

import geopandas as gpd
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import shapely
from numpy.typing import NDArray

from foresail.geo.layers.antimeridian import edges_of, shortened, zones_of
from foresail.geo.layers.land import LAND_FILE, NO_LAND, Land
from foresail.geo.measures.containment import NONE, OPEN, Zones, first_zone
from foresail.geo.measures.nearest import Pieces, build_pieces, nearby, nearest
from foresail.geo.measures.validity import NO_RECORDS, Records, holding

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Booleans = NDArray[np.bool_]
Arrays = TypeVar("Arrays")

FEATURES_FILE = "features.parquet"
RECORDS_FILE = "records.parquet"


@dataclass(frozen=True, slots=True)
class Answer:
    """Per position: the feature that holds it or is nearest, its distance, whether it holds, whether one was asked."""

    feature: Integers
    distance_m: Floats
    inside: Booleans
    known: Booleans
    on_land: Booleans
    side_known: Booleans
    """Whether it is known that the position is on land, or that it is not."""


@dataclass(frozen=True, slots=True)
class IndexArrays:
    """All arrays of a layer; `reaching` has boxes widened by each feature's radius and is empty if all are alike."""

    radius_m: Floats
    pieces: Pieces
    reaching: Pieces
    zones: Zones
    records: Records = NO_RECORDS
    land: Land = NO_LAND


def build_arrays(features: gpd.GeoDataFrame, records: Records = NO_RECORDS, land: Land = NO_LAND) -> IndexArrays:
    """The arrays of a layer's checked features."""
    radius = np.array(features["radius_m"], float)
    edges, owner, of_polygon = edges_of(features.geometry.to_numpy())
    zones = zones_of(edges, owner, of_polygon)
    short, short_owner = shortened(edges, owner)
    varied = len(np.unique(radius)) > 1
    chosen = slice(None) if varied else slice(0, 0)
    reaching = build_pieces(short[chosen], short_owner[chosen], radius[short_owner[chosen]])
    return IndexArrays(radius, build_pieces(short, short_owner), reaching, zones, records, land)


class LayerIndex:
    """Answers where positions are, with respect to one layer. Read-only; made once per worker and layer version."""

    def __init__(self, arrays: IndexArrays, features_file: Path) -> None:
        self.arrays = arrays
        self._file = features_file

    @cached_property
    def table(self) -> pa.Table:
        """Names and attributes of the features (or of their records in time), in their order."""
        file = self._file.with_name(RECORDS_FILE) if self.holds_by_time else self._file
        return pq.read_table(file, columns=[name for name in pq.read_schema(file).names if name != "geometry"])

    @property
    def holds_by_time(self) -> bool:
        """Whether features hold only for a while."""
        return bool(self.arrays.records.valid_from_us.size)

    @cached_property
    def _polygons(self) -> tuple[Any, Integers]:
        return _tree(self._file, self.arrays.zones)

    @cached_property
    def _land(self) -> tuple[Any, Integers]:
        return _tree(self._file.with_name(LAND_FILE), self.arrays.land.zones)

    def answer(self, lon: Floats, lat: Floats, distance: bool = True) -> Answer:
        """What the layer says of each position; nothing where a coordinate is missing or out of range."""
        known = in_range(lon, lat)
        feature = self._zone(lon, lat, known, self.arrays.zones)
        inside = feature != NONE
        metres = np.where(inside, 0.0, np.nan)
        rest = known & ~inside
        if self.arrays.reaching.feature.size:
            self._fill_holders(lon, lat, rest, feature, metres, inside)
            rest &= ~inside
        if distance or not self.arrays.zones.feature.size or self.arrays.radius_m.any():
            found = nearest(lon, lat, rest, self.arrays.pieces)
            feature, metres = np.where(rest, found.feature, feature), np.where(rest, found.distance_m, metres)
            inside |= rest & (metres <= self.arrays.radius_m[feature])
        return self._with_side(lon, lat, Answer(feature, metres, inside, known, *_no_side(lon)), distance)

    def _with_side(self, lon: Floats, lat: Floats, answer: Answer, distance: bool) -> Answer:
        """The answer with its side of the coast, and distances below 0 on land, also from within a zone to its edge."""
        land = self.arrays.land
        if not land.is_known:
            return answer
        on_land = self._zone(lon, lat, answer.known, land.zones) != NONE
        metres = answer.distance_m
        if distance:
            within = on_land & (metres == 0.0)
            away = np.where(within, nearest(lon, lat, within, self.arrays.pieces).distance_m, metres)
            metres = np.where(on_land, -away, away) + 0.0  # no -0.0
        settled = on_land | (answer.known & land.settled[0])
        return dataclasses.replace(answer, distance_m=metres, on_land=on_land, side_known=settled)

    def answer_at(self, lon: Floats, lat: Floats, time_us: Integers) -> Answer:
        """The same at a time each, of the records in force; `feature` counts records."""
        where = self.answer(lon, lat, distance=False)
        record = holding(np.where(where.inside, where.feature, NONE), time_us, self.arrays.records)
        return Answer(record, np.full(len(lon), np.nan), record != NONE, where.known, *_no_side(lon))

    def nearby(self, lon: Floats, lat: Floats, radius_m: float) -> tuple[Integers, Integers, Floats]:
        """Row, feature and distance of every feature within `radius_m`, in order of row and feature."""
        lon, lat = (np.require(axis, requirements="W") for axis in (lon, lat))  # Arrow's own arrays are read-only
        known = in_range(lon, lat)
        reach = np.full(len(self.arrays.radius_m), float(radius_m))
        found = nearby(lon, lat, known, self.arrays.pieces, reach)
        rows, features = self._all_zones(lon, lat, known)
        near = np.isin(found.row * len(reach) + found.feature, rows * len(reach) + features, invert=True)
        row = np.concatenate((found.row[near], rows))
        feature = np.concatenate((found.feature[near], features))
        order = np.lexsort((feature, row))
        metres = np.concatenate((found.distance_m[near], np.zeros(len(rows))))
        return row[order], feature[order], metres[order]

    def _zone(self, lon: Floats, lat: Floats, known: Booleans, zones: Zones) -> Integers:
        feature = first_zone(lon, lat, known, zones)
        unsettled = np.flatnonzero(feature == OPEN)
        if len(unsettled):
            feature[unsettled] = NONE
            shapes = self._polygons if zones is self.arrays.zones else self._land
            rows, holders = _exact(lon[unsettled], lat[unsettled], *shapes)
            lowest = np.full(len(unsettled), np.iinfo(np.int64).max)
            np.minimum.at(lowest, rows, holders)
            feature[unsettled] = np.where(lowest == np.iinfo(np.int64).max, NONE, lowest)
        return feature

    def _all_zones(self, lon: Floats, lat: Floats, known: Booleans) -> tuple[Integers, Integers]:
        held = np.flatnonzero(self._zone(lon, lat, known, self.arrays.zones) != NONE)
        if not len(held):
            return held, held
        rows, features = _exact(lon[held], lat[held], *self._polygons)
        return held[rows], features

    def _fill_holders(
        self, lon: Floats, lat: Floats, wanted: Booleans, feature: Integers, metres: Floats, inside: Booleans
    ) -> None:
        found = nearby(lon, lat, wanted, self.arrays.reaching, self.arrays.radius_m, widened=True)
        order = np.lexsort((found.feature, np.round(found.distance_m, 3), found.row))
        rows, firsts = np.unique(found.row[order], return_index=True)
        feature[rows], metres[rows] = found.feature[order][firsts], found.distance_m[order][firsts]
        inside[rows] = True


def _tree(file: Path, zones: Zones) -> tuple[Any, Integers]:
    """The polygons of a stored file that are zones, for exact questions, and their numbers."""
    shapes = gpd.read_parquet(file, columns=["geometry"]).geometry.to_numpy()
    return shapely.STRtree(shapes[zones.feature]), zones.feature


def _exact(lon: Floats, lat: Floats, tree: Any, numbers: Integers) -> tuple[Integers, Integers]:
    rows, found = tree.query(position_shapes(lon, lat), predicate="intersects")
    return rows, numbers[found]


def _no_side(lon: Floats) -> tuple[Booleans, Booleans]:
    return np.zeros(len(lon), np.bool_), np.zeros(len(lon), np.bool_)


def in_range(lon: Floats, lat: Floats) -> Booleans:
    """Which positions are on earth; a missing coordinate (NaN) is not."""
    return np.asarray((np.abs(lon) <= 180.0) & (np.abs(lat) <= 90.0))


def position_shapes(lon: Floats, lat: Floats) -> NDArray[Any]:
    """Positions as shapes in degrees: a point; both of its points at 180 degrees; the whole top edge at a pole."""
    shapes: NDArray[Any] = shapely.points(lon, lat)
    for row in np.flatnonzero(np.abs(lon) == 180.0):
        shapes[row] = shapely.MultiPoint([(-180.0, lat[row]), (180.0, lat[row])])
    for row in np.flatnonzero(np.abs(lat) == 90.0):
        shapes[row] = shapely.LineString([(-180.0, lat[row]), (180.0, lat[row])])
    return shapes


def save_arrays(value: Any, folder: Path, name: str = "index") -> None:
    """Write every array of a nest of dataclasses as one file each."""
    if dataclasses.is_dataclass(value):
        for field in dataclasses.fields(value):
            save_arrays(getattr(value, field.name), folder, f"{name}.{field.name}")
    else:
        np.save(folder / f"{name}.npy", value)


def load_arrays(kind: type[Arrays], folder: Path, name: str = "index") -> Arrays:
    """The nest of dataclasses again, its arrays mapped from the files and so shared by all workers of a machine."""
    parts: dict[str, Any] = {}
    for field, hint in get_type_hints(kind).items():
        inner = f"{name}.{field}"
        if dataclasses.is_dataclass(hint):
            parts[field] = load_arrays(hint, folder, inner)  # type: ignore[arg-type]
        else:
            parts[field] = np.asarray(np.load(folder / f"{inner}.npy", mmap_mode="c"))
    return kind(**parts)


@lru_cache(maxsize=16)
def open_index(folder: str) -> LayerIndex:
    """The index stored in `folder`, opened once per process."""
    return LayerIndex(load_arrays(IndexArrays, Path(folder)), Path(folder) / FEATURES_FILE)
