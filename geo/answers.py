"""What layers say of positions, as Arrow columns: for workers of Spark, and for frames that are in this process."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
from numpy.typing import NDArray

from foresail.geo.attributes import attribute_names
from foresail.geo.layers import Answer, Layer, LayerIndex, LayerSpec, open_index

MOST_MOVING = 0.95
"""With more of the positions than this elsewhere than the one before, to look for the others is not worth it."""


@dataclass(frozen=True, slots=True)
class StoredLayer:
    """What a worker must know to open a layer."""

    spec: LayerSpec
    folder: str


def stored(layers: Sequence[Layer]) -> tuple[StoredLayer, ...]:
    """The layers as workers open them."""
    return tuple(StoredLayer(layer.spec, str(layer.folder)) for layer in layers)


def floats(column: Any) -> Any:
    """A writable array of its own: kernels are compiled for that, and Arrow's memory is read-only."""
    return np.array(column, dtype=np.float64)


def answer_columns(layers: Sequence[StoredLayer], lon: Any, lat: Any, time_us: Any = None) -> dict[str, pa.Array]:
    """The columns of all layers for these positions; null where a position is missing or out of range."""
    moves = _moves(lon, lat)
    if time_us is None and moves.sum() < MOST_MOVING * len(moves):
        moved = answer_columns(layers, lon[moves], lat[moves])
        rows = pa.array(np.cumsum(moves) - 1)
        return {name: column.take(rows) for name, column in moved.items()}
    out: dict[str, pa.Array] = {}
    for layer in layers:
        index = open_index(layer.folder)
        answer = _answer(index, layer.spec, lon, lat, time_us)
        unknown = ~answer.known
        chosen = pa.array(answer.feature, mask=answer.feature < 0)
        holding = pa.array(answer.feature, mask=~answer.inside)
        values = [pa.array(answer.inside, mask=unknown), _take(index.table["name"], chosen)]
        if layer.spec.measures_distance:
            values.append(pa.array(answer.distance_m, mask=np.isnan(answer.distance_m)))
        values += [_take(index.table[name], holding) for name in layer.spec.attributes]
        if layer.spec.has_land:
            values.append(pa.array(answer.on_land, mask=~answer.side_known))
        out |= dict(zip(attribute_names(layer.spec), values, strict=True))
    return out


def _moves(lon: Any, lat: Any) -> NDArray[np.bool_]:
    """Which positions are elsewhere than the one before: a still vessel is not measured again."""
    moves = np.ones(len(lon), np.bool_)
    moves[1:] = (lon[1:] != lon[:-1]) | (lat[1:] != lat[:-1])
    return moves


def _answer(index: LayerIndex, spec: LayerSpec, lon: Any, lat: Any, time_us: Any) -> Answer:
    if not spec.holds_by_time:
        return index.answer(lon, lat, spec.distance)
    unknown = pd.isna(time_us).to_numpy()
    return index.answer_at(np.where(unknown, np.nan, lon), lat, time_us.fillna(0).to_numpy(np.int64))


def _take(column: Any, rows: Any) -> Any:
    taken = column.combine_chunks().take(rows)
    return taken.cast(pa.string()) if pa.types.is_large_string(taken.type) else taken
