"""Enrichment inside Python workers: only the position crosses over, all layers answer in one call per Arrow batch.

Workers map the layers' arrays from the cache folder, which every machine must see at the same path. With a shelf
(a folder whose `current.json` names the layers in force) each task looks once which version is current, so that a
stream takes up new layers with its next micro-batch.
"""

import json
import os
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.pandas.functions import pandas_udf

from foresail.geo.attributes import POSITION, attribute_names, attribute_schema
from foresail.geo.errors import LayersFileError
from foresail.geo.layers import Answer, Layer, LayerIndex, LayerSpec, open_index, read_layers

CURRENT = "current.json"
_ANSWER = "__answer"


@dataclass(frozen=True, slots=True)
class StoredLayer:
    """What a worker must know to open a layer."""

    spec: LayerSpec
    folder: str


def stored(layers: Sequence[Layer]) -> tuple[StoredLayer, ...]:
    """The layers as workers open them."""
    return tuple(StoredLayer(layer.spec, str(layer.folder)) for layer in layers)


def publish(layers: Sequence[Layer], shelf: Path) -> None:
    """Make `layers` the ones in force for every stream that reads `shelf`; their columns must stay the same."""
    shelf.mkdir(parents=True, exist_ok=True)
    if (shelf / CURRENT).exists():
        _check_same_columns(on_shelf(shelf), layers, shelf)
    rows = [{"spec": layer.spec.model_dump(mode="json"), "folder": str(layer.folder)} for layer in layers]
    handle, staging = tempfile.mkstemp(dir=shelf, prefix=f".{CURRENT}.")
    with os.fdopen(handle, "w", encoding="utf-8") as file:
        json.dump({"layers": rows, "versions": {layer.spec.name: layer.version for layer in layers}}, file)
    Path(staging).replace(shelf / CURRENT)


def reload_layers(file: Path, cache: Path, shelf: Path) -> tuple[Layer, ...]:
    """Read the layers that `file` declares anew and publish them on `shelf`: what a running stream is asked to do.

    A layer that did not change is found in the cache. If one of them is refused, those in force stay.
    """
    layers = read_layers(file, cache)
    publish(layers, shelf)
    return layers


def on_shelf(shelf: Path) -> tuple[StoredLayer, ...]:
    """The layers in force."""
    try:
        rows = json.loads((shelf / CURRENT).read_text(encoding="utf-8"))["layers"]
    except OSError as error:
        msg = f"{shelf}: no layers are published there ({error.strerror}). Publish them before the stream starts."
        raise LayersFileError(msg) from None
    return tuple(StoredLayer(LayerSpec.model_validate(row["spec"]), row["folder"]) for row in rows)


def _check_same_columns(old: Sequence[StoredLayer], new: Sequence[Layer], shelf: Path) -> None:
    before = [attribute_names(layer.spec) for layer in old]
    after = [attribute_names(layer.spec) for layer in new]
    if before != after:
        msg = f"{shelf}: a running stream cannot change its columns. Keep kinds, order and attributes, or restart it."
        raise LayersFileError(msg)


def enrich_in_workers(events: DataFrame, layers: Sequence[Layer], shelf: Path | None = None) -> DataFrame:
    """The events with every layer's columns, from the layers as they are or as the shelf has them at the time."""
    schema = attribute_schema(layers)
    fixed = stored(layers)
    source: Callable[[], tuple[StoredLayer, ...]] = (lambda: fixed) if shelf is None else (lambda: on_shelf(shelf))

    def answer(batches: Iterator[tuple[pd.Series, ...]]) -> Iterator[pd.DataFrame]:
        current = source()
        for lon, lat, *time in batches:
            columns = answer_columns(current, floats(lon), floats(lat), *time)
            yield pd.DataFrame({name: pd.Series(pd.arrays.ArrowExtensionArray(c)) for name, c in columns.items()})

    asked = pandas_udf(answer, schema)  # type: ignore[call-overload]
    position = [F.col(name).cast("double") for name in POSITION]
    timed = any(layer.spec.holds_by_time for layer in layers)
    time = [F.unix_micros(F.col("time").cast("timestamp"))] if timed else []
    return events.withColumn(_ANSWER, asked(*position, *time)).select("*", f"{_ANSWER}.*").drop(_ANSWER)


def floats(column: Any) -> Any:
    """A writable array of its own: kernels are compiled for that, and Arrow's memory is read-only."""
    return np.array(column, dtype=np.float64)


def answer_columns(layers: Sequence[StoredLayer], lon: Any, lat: Any, time_us: Any = None) -> dict[str, pa.Array]:
    """The columns of all layers for these positions; null where a position is missing or out of range."""
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


def _answer(index: LayerIndex, spec: LayerSpec, lon: Any, lat: Any, time_us: Any) -> Answer:
    if not spec.holds_by_time:
        return index.answer(lon, lat, spec.distance)
    unknown = pd.isna(time_us).to_numpy()
    return index.answer_at(np.where(unknown, np.nan, lon), lat, time_us.fillna(0).to_numpy(np.int64))


def _take(column: Any, rows: Any) -> Any:
    taken = column.combine_chunks().take(rows)
    return taken.cast(pa.string()) if pa.types.is_large_string(taken.type) else taken
