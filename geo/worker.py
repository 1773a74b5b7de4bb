"""Enrichment inside Python workers: only the position crosses over, all layers answer in one call per Arrow batch.

Workers map the layers' arrays from the cache folder, which every machine must see at the same path. With a shelf
(a folder whose `current.json` names the layers in force) each task looks once which version is current, so that a
stream takes up new layers with its next micro-batch.
"""

import json
import os
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pandas as pd
from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.pandas.functions import pandas_udf

from foresail.geo.answers import StoredLayer, answer_columns, floats, stored
from foresail.geo.attributes import POSITION, attribute_names, attribute_schema
from foresail.geo.errors import LayersFileError
from foresail.geo.layers import Layer, LayerSpec

CURRENT = "current.json"
_ANSWER = "__answer"


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
