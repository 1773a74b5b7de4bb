"""The cells of the earth that positions occupy: each knows the pieces that can be nearest and the zone that settles it.

Positions repeat in space, so there are few such cells; what is worked out for a cell serves all positions in it.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import shapely
from numpy.typing import NDArray

from foresail.geo.layers.index import LayerIndex
from foresail.geo.measures.candidates import candidates
from foresail.geo.measures.spheroid import EQUATOR_RADIUS_M, points_in_space

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]

CELL_DEG = 5.625 / 256
"""Width and height of the largest cells, about 2.4 km; a binary fraction, so that its multiples are exact."""
PIECES_WANTED = 16
MOST_HALVINGS = 4
PIECE_FIELDS = ("feature", "lon", "lat", "to_lon", "to_lat", "x", "y", "z", "ux", "uy", "uz", "length2")
_ROUNDING_DEG = 1e-9


@dataclass(frozen=True, slots=True)
class Cells:
    """Cells by column (from 180 degrees west) and row (from the south pole), `deg` wide and high."""

    column: Integers
    row: Integers
    deg: float = CELL_DEG

    @property
    def west(self) -> Floats:
        """Longitudes of the western edges."""
        return np.asarray(self.column * self.deg - 180.0)

    @property
    def south(self) -> Floats:
        """Latitudes of the southern edges."""
        return np.asarray(self.row * self.deg - 90.0)

    def middle(self) -> Floats:
        """The cells' middles in space."""
        return points_in_space(self.west + self.deg / 2, self.south + self.deg / 2)

    def radius_m(self) -> Floats:
        """No place of a cell is farther from its middle than a corner on its side towards the equator would be."""
        towards = np.minimum(np.abs(self.south), np.abs(self.south + self.deg))
        half = EQUATOR_RADIUS_M * 1.01 * np.radians(self.deg / 2)  # the spheroid is nowhere flatter by a hundredth
        return np.asarray(half * np.sqrt(1.0 + np.cos(np.radians(towards)) ** 2))

    def chosen(self, which: NDArray[np.bool_]) -> "Cells":
        """Some of the cells."""
        return Cells(self.column[which], self.row[which], self.deg)


def cell_size(cells: Cells, index: LayerIndex) -> float:
    """How wide cells should be for this layer: halved until one knows few pieces, as Spark measures each of them."""
    ends, _ = _pieces_of(cells, index)
    mean = ends[-1] / max(len(cells.column), 1)
    halvings = np.ceil(np.log(max(mean / PIECES_WANTED, 1.0)) / np.log(4.0))
    return float(cells.deg / 2 ** min(int(halvings), MOST_HALVINGS))


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
            "east": cells.west + cells.deg,
            "north": cells.south + cells.deg,
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
    west, south, size = cells.west - _ROUNDING_DEG, cells.south - _ROUNDING_DEG, cells.deg + 2 * _ROUNDING_DEG
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
    ends = np.concatenate(([0], np.cumsum(counts))).astype(np.int32)
    return pa.ListArray.from_arrays(pa.array(ends), piece_structs(listed, index))


def piece_structs(which: Integers, index: LayerIndex) -> pa.StructArray:
    """Pieces as Spark measures them: where each begins in degrees and in space, and how it goes on."""
    pieces = index.arrays.pieces
    begin, end = pieces.space[which, :3], pieces.space[which, 3:]
    way = end - begin
    length2 = way[:, 0] * way[:, 0] + way[:, 1] * way[:, 1] + way[:, 2] * way[:, 2]
    columns = [pieces.feature[which], *pieces.degrees[which].T, *begin.T, *way.T, length2]
    return pa.StructArray.from_arrays([pa.array(column) for column in columns], list(PIECE_FIELDS))
