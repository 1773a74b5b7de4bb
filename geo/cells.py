"""The cells of the earth that positions occupy: each knows the pieces that can be nearest and the zone that settles it.

Positions repeat in space, so there are few such cells; what is worked out for a cell serves all positions in it.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import shapely
from numpy.typing import NDArray

from geo.layers.index import LayerIndex
from geo.measures.candidates import candidates
from geo.measures.spheroid import EQUATOR_RADIUS_M, points_in_space

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]

CELL_DEG = 5.625 / 256
"""Width and height of a cell, about 2.4 km; a binary fraction, so that its multiples are exact."""
PIECE_FIELDS = ("feature", "lon", "lat", "to_lon", "to_lat", "x", "y", "z", "to_x", "to_y", "to_z")
_ROUNDING_DEG = 1e-9


@dataclass(frozen=True, slots=True)
class Cells:
    """Cells by column (from 180 degrees west) and row (from the south pole)."""

    column: Integers
    row: Integers

    @property
    def west(self) -> Floats:
        """Longitudes of the western edges."""
        return np.asarray(self.column * CELL_DEG - 180.0)

    @property
    def south(self) -> Floats:
        """Latitudes of the southern edges."""
        return np.asarray(self.row * CELL_DEG - 90.0)

    def middle(self) -> Floats:
        """The cells' middles in space."""
        return points_in_space(self.west + CELL_DEG / 2, self.south + CELL_DEG / 2)

    def radius_m(self) -> Floats:
        """No place of a cell is farther from its middle: half a cell along the meridian, half along the equator."""
        return np.full(len(self.column), EQUATOR_RADIUS_M * 1.01 * np.radians(CELL_DEG))

    def chosen(self, which: NDArray[np.bool_]) -> "Cells":
        """Some of the cells."""
        return Cells(self.column[which], self.row[which])


def cell_table(cells: Cells, index: LayerIndex, shapes: NDArray[Any], distance: bool) -> pa.Table:
    """Per cell: its edges, whether a zone's edge runs through, the first zone that holds all of it, its pieces."""
    zones = index.arrays.zones.feature
    crossed, holder = _zone_facts(cells, shapes[zones], zones)
    seeks = (holder < 0) & distance
    counts = np.zeros(len(holder), np.int64)
    ends, listed = _pieces_of(cells.chosen(seeks), index)
    counts[seeks] = np.diff(ends)
    return pa.table(
        {
            "column": cells.column,
            "row": cells.row,
            "west": cells.west,
            "south": cells.south,
            "east": cells.west + CELL_DEG,
            "north": cells.south + CELL_DEG,
            "crossed": crossed,
            "holder": pa.array(holder, mask=holder < 0),
            "pieces": _lists(counts, listed, index),
        }
    )


def _zone_facts(cells: Cells, zones: NDArray[Any], numbers: Integers) -> tuple[NDArray[np.bool_], Integers]:
    count = len(cells.column)
    crossed, holder = np.zeros(count, bool), np.full(count, -1, np.int64)
    if not len(zones):
        return crossed, holder
    west, south, size = cells.west - _ROUNDING_DEG, cells.south - _ROUNDING_DEG, CELL_DEG + 2 * _ROUNDING_DEG
    _, cell = shapely.STRtree(shapely.box(west, south, west + size, south + size)).query(
        shapely.boundary(zones), predicate="intersects"
    )
    crossed[cell] = True
    # At the rim of the map one place has several coordinates: a zone on its other side may hold it.
    crossed |= (west <= -180.0) | (west + size >= 180.0) | (south <= -90.0) | (south + size >= 90.0)
    middles = shapely.STRtree(shapely.points(west + size / 2, south + size / 2))
    zone, cell = middles.query(zones, predicate="contains")
    none = np.iinfo(np.int64).max
    lowest = np.full(count, none)
    np.minimum.at(lowest, cell, numbers[zone])
    settled = ~crossed & (lowest < none)
    holder[settled] = lowest[settled]
    return crossed, holder


def _pieces_of(cells: Cells, index: LayerIndex) -> tuple[Integers, Integers]:
    if not len(cells.column):
        return np.zeros(1, np.int64), np.zeros(0, np.int64)
    radius = index.arrays.radius_m
    reach = radius if index.arrays.reaching.feature.size else np.zeros(len(radius))
    return candidates(cells.middle(), cells.radius_m(), index.arrays.pieces, reach)


def _lists(counts: Integers, listed: Integers, index: LayerIndex) -> pa.ListArray:
    pieces = index.arrays.pieces
    columns = [pieces.feature[listed], *pieces.degrees[listed].T, *pieces.space[listed].T]
    structs = pa.StructArray.from_arrays([pa.array(column) for column in columns], list(PIECE_FIELDS))
    return pa.ListArray.from_arrays(pa.array(np.concatenate(([0], np.cumsum(counts))).astype(np.int32)), structs)
