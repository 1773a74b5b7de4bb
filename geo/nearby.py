"""One row per event and feature near it: what a pattern family reads (`for_each`), at the cost of what is near.

The feature comes as one struct column named after the layer's kind, so that `port.distance_m` is a column of the row.
By workers or by Sedona's spatial join on the features' boxes, widened by the radius; the rows are the same.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Literal

import numpy as np
import pandas as pd
import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.pandas.functions import pandas_udf

from foresail.geo.answers import floats
from foresail.geo.attributes import POSITION, check_position
from foresail.geo.cells import piece_structs
from foresail.geo.errors import AttributeClashError, StrategyError
from foresail.geo.joins import metres_to, position_shape, rank_pieces, without_auto_broadcast
from foresail.geo.layers import Layer, open_index
from foresail.geo.layers.index import FEATURES_FILE
from foresail.geo.measures.spheroid import place_in_space
from foresail.geo.worker import on_shelf

NearStrategy = Literal["worker", "broadcast", "partitioned"]
FEATURE_TYPE = "struct<name: string, number: bigint, distance_m: double>"
MOST_PIECES = 200
"""A join measures every piece of a feature for every event in its box: too slow for shapes longer than this."""
METRES_PER_DEGREE = 110_500.0
"""Less than any degree of latitude, and than any degree of longitude at the equator."""


def near_features(
    events: DataFrame,
    layer: Layer,
    radius_m: float,
    name: str | None = None,
    strategy: NearStrategy = "worker",
    shelf: Path | None = None,
) -> DataFrame:
    """Each event once for every feature within `radius_m`, with `name` (the layer's kind): name, number, distance_m."""
    column = name or layer.spec.kind
    check_position(events.columns)
    if column in events.columns:
        msg = f"events: already have a column '{column}'. Give the feature another name."
        raise AttributeClashError(msg)
    if not radius_m > 0:
        msg = f"layer '{layer.spec.name}': a radius of {radius_m} m holds nothing. Give metres above 0."
        raise StrategyError(msg)
    if strategy == "worker":
        return _in_workers(events, layer, radius_m, column, shelf)
    longest = int(np.bincount(layer.index.arrays.pieces.feature).max())
    if longest > MOST_PIECES:
        msg = f"layer '{layer.spec.name}': a feature of {longest:,} pieces is too long for a join. Use strategy worker."
        raise StrategyError(msg)
    return _by_join(events, layer, radius_m, column, strategy)


def _in_workers(events: DataFrame, layer: Layer, radius_m: float, column: str, shelf: Path | None) -> DataFrame:
    folder, wanted = str(layer.folder), layer.spec.name

    def answer(batches: Iterator[tuple[pd.Series, pd.Series]]) -> Iterator[pd.Series]:
        current = folder
        if shelf is not None:
            current = next(kept.folder for kept in on_shelf(shelf) if kept.spec.name == wanted)
        for lon, lat in batches:
            yield pd.Series(pd.arrays.ArrowExtensionArray(near_lists(current, floats(lon), floats(lat), radius_m)))

    asked = pandas_udf(answer, f"array<{FEATURE_TYPE}>")  # type: ignore[call-overload]
    position = [F.col(axis).cast("double") for axis in POSITION]
    return events.select("*", F.explode(asked(*position)).alias(column))


def near_lists(folder: str, lon: np.ndarray, lat: np.ndarray, radius_m: float) -> pa.ListArray:
    """Per position the list of its near features, in the order of the layer."""
    index = open_index(folder)
    row, feature, metres = index.nearby(lon, lat, radius_m)
    names = index.table["name"].combine_chunks().take(pa.array(feature)).cast(pa.string())
    structs = pa.StructArray.from_arrays([names, pa.array(feature), pa.array(metres)], ["name", "number", "distance_m"])
    ends = np.concatenate(([0], np.cumsum(np.bincount(row, minlength=len(lon)))))
    return pa.ListArray.from_arrays(pa.array(ends.astype(np.int32)), structs)


def _by_join(events: DataFrame, layer: Layer, radius_m: float, column: str, strategy: NearStrategy) -> DataFrame:
    spark = events.sparkSession
    if strategy == "partitioned":
        without_auto_broadcast(spark)
    boxes = spark.createDataFrame(_boxes(layer, radius_m)).withColumn(
        "__box", F.expr("ST_PolygonFromEnvelope(west, south, east, north)")
    )
    shapes = spark.read.format("geoparquet").load(str(layer.folder / FEATURES_FILE))
    shapes = shapes.select(F.col("feature").alias("__number"), F.col("name").alias("__name"), "geometry")
    features = boxes.join(shapes, "__number").select("__box", "__number", "__name", "__pieces", "geometry")
    features = F.broadcast(features) if strategy == "broadcast" else features
    positions = events.withColumns({"__lon": F.col("lon").cast("double"), "__lat": F.col("lat").cast("double")}).where(
        "abs(__lon) <= 180 AND abs(__lat) <= 90"
    )
    joined = positions.join(features, F.expr("ST_Intersects(__box, ST_Point(__lon, __lat))"))
    best = F.array_min(rank_pieces(F.col("__pieces"), _space()))
    held = F.expr("ST_Dimension(geometry) = 2") & F.call_function(
        "ST_Intersects", F.col("geometry"), position_shape("__lon", "__lat")
    )
    metres = F.when(held, 0.0).otherwise(metres_to(F.col("__best.lon"), F.col("__best.lat"), "__lon", "__lat"))
    found = joined.withColumn("__best", best).withColumn("__metres", metres).where(F.col("__metres") <= radius_m)
    feature = F.struct(
        F.col("__name").alias("name"), F.col("__number").alias("number"), F.col("__metres").alias("distance_m")
    )
    return found.select(*events.columns, feature.alias(column))


def _space() -> dict[str, object]:
    return dict(zip("xyz", place_in_space(F, F.col("__lon"), F.col("__lat")), strict=True))


def _boxes(layer: Layer, radius_m: float) -> pa.Table:
    """Boxes in degrees that hold everything within the radius of each feature, in two where they cross 180 degrees."""
    pieces = layer.index.arrays.pieces
    order = np.argsort(pieces.feature, kind="stable")
    number, begin = np.unique(pieces.feature[order], return_index=True)
    degrees = pieces.degrees[order]
    west = np.minimum.reduceat(np.minimum(degrees[:, 0], degrees[:, 2]), begin)
    east = np.maximum.reduceat(np.maximum(degrees[:, 0], degrees[:, 2]), begin)
    south = np.minimum.reduceat(np.minimum(degrees[:, 1], degrees[:, 3]), begin) - radius_m / METRES_PER_DEGREE
    north = np.maximum.reduceat(np.maximum(degrees[:, 1], degrees[:, 3]), begin) + radius_m / METRES_PER_DEGREE
    narrowest = np.cos(np.radians(np.minimum(np.maximum(np.abs(south), np.abs(north)), 89.999)))
    # On a sphere the widest meridian gap of a circle is asin(sin r / cos lat); twice the arc bounds it at any latitude.
    widening = np.degrees(np.arcsin(np.minimum(np.radians(radius_m / METRES_PER_DEGREE) / narrowest, 1.0))) * 1.05
    around = (south <= -90.0) | (north >= 90.0) | (east - west + 2 * widening >= 360.0) | (widening >= 85.0)
    west, east = np.where(around, -180.0, west - widening), np.where(around, 180.0, east + widening)
    lists = _piece_lists(order, begin, layer)
    parts = [
        (np.ones(len(number), bool), np.maximum(west, -180.0), np.minimum(east, 180.0)),
        (west < -180.0, west + 360.0, np.full(len(number), 180.0)),
        (east > 180.0, np.full(len(number), -180.0), east - 360.0),
    ]
    tables = []
    for chosen, left, right in parts:
        rows = np.flatnonzero(chosen)
        tables.append(
            pa.table(
                {
                    "__number": number[rows], "west": left[rows], "east": right[rows],
                    "south": south[rows], "north": north[rows], "__pieces": lists.take(pa.array(rows)),
                }
            )
        )  # fmt: skip
    return pa.concat_tables(tables)


def _piece_lists(order: np.ndarray, begin: np.ndarray, layer: Layer) -> pa.ListArray:
    ends = np.concatenate((begin, [len(order)])).astype(np.int32)
    return pa.ListArray.from_arrays(pa.array(ends), piece_structs(order, layer.index))
