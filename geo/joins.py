"""Enrichment by joins inside Spark, with Sedona's functions: for layers too large for a worker, and to compare with.

Each place where positions lie is worked out once, however many events are there, and then joined back. Three ways to
bring a position to its cell: by the cell's number (`cells`), by Sedona's broadcast index on the cells' boxes
(`broadcast`), by Sedona's partitioned spatial join on them (`partitioned`). Zones are joined by ST_Intersects: all
positions, or with `cells` only those in cells that a zone's edge crosses. Batch only.
"""

from collections.abc import Mapping
from typing import Any, Literal, get_args

import geopandas as gpd
import numpy as np
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812

from foresail.geo.attributes import ON_LAND, POSITION
from foresail.geo.cells import CELL_DEG, Cells, cell_size, cell_table
from foresail.geo.errors import StrategyError
from foresail.geo.layers import Layer
from foresail.geo.layers.index import FEATURES_FILE
from foresail.geo.measures.spheroid import place_in_space

JoinStrategy = Literal["cells", "broadcast", "partitioned"]
JOINS: tuple[JoinStrategy, ...] = get_args(JoinStrategy)

MOST_CELLS = 2_000_000


def enrich_by_joins(events: DataFrame, layers: list[tuple[Layer, JoinStrategy]]) -> DataFrame:
    """The events with the layers' columns; rows may come in another order."""
    if events.isStreaming:
        msg = "strategy: joins by place need all positions at once. Use strategy worker (or auto) for a stream."
        raise StrategyError(msg)
    lon, lat = (F.col(name).cast("double") for name in POSITION)
    known = (F.abs(lon) <= 180.0) & (F.abs(lat) <= 90.0)
    places = events.where(known).select(lon.alias("lon"), lat.alias("lat")).distinct().withColumns(_in_space())
    cells = _occupied(places, CELL_DEG)
    for layer, strategy in layers:
        places = _with_layer(places, cells, layer, strategy)
    answers = places.drop("x", "y", "z").withColumnsRenamed({"lon": "__lon", "lat": "__lat"})
    same = (lon == F.col("__lon")) & (lat == F.col("__lat"))
    return events.join(answers, same, "left").drop("__lon", "__lat")


def without_auto_broadcast(spark: SparkSession) -> None:
    """Let Sedona partition small layers too, when that is asked for; joins with a broadcast hint stay as they are."""
    spark.conf.set("sedona.join.autoBroadcastJoinThreshold", "-1")


def _in_space() -> dict[str, Column]:
    x, y, z = place_in_space(F, F.col("lon"), F.col("lat"))
    return {"x": x, "y": y, "z": z}


def _cell(deg: float) -> dict[str, Column]:
    """The numbers of the position's cell of that size; the rim of the map belongs to the last ones."""
    columns, rows = round(360 / deg), round(180 / deg)
    return {
        "column": F.least(F.floor((F.col("lon") + 180.0) / deg), F.lit(columns - 1)).cast("long"),
        "row": F.least(F.floor((F.col("lat") + 90.0) / deg), F.lit(rows - 1)).cast("long"),
    }


def _occupied(places: DataFrame, deg: float) -> Cells:
    numbers = places.withColumns(_cell(deg)).select("column", "row").distinct().limit(MOST_CELLS + 1).toPandas()
    if len(numbers) > MOST_CELLS:
        msg = f"strategy: positions lie in more than {MOST_CELLS:,} cells. Use strategy worker, or fewer positions."
        raise StrategyError(msg)
    return Cells(numbers["column"].to_numpy(np.int64), numbers["row"].to_numpy(np.int64), deg)


def _with_layer(places: DataFrame, cells: Cells, layer: Layer, strategy: JoinStrategy) -> DataFrame:
    spark = places.sparkSession
    if strategy == "partitioned":
        without_auto_broadcast(spark)
    shapes = gpd.read_parquet(layer.folder / FEATURES_FILE, columns=["geometry"]).geometry.to_numpy()
    zoned = bool(layer.index.arrays.zones.feature.size)
    measured = layer.spec.distance or not zoned or bool(layer.index.arrays.radius_m.any())
    deg = cell_size(cells, layer.index) if measured else cells.deg
    cells = cells if deg == cells.deg else _occupied(places, deg)
    table: DataFrame = spark.createDataFrame(cell_table(cells, layer.index, shapes, measured))
    found = _to_cells(places.withColumns(_cell(deg)), table, strategy)
    if zoned:
        found = _with_zone(found, layer, strategy)
    return _named(_measured(found, layer), layer)


def _to_cells(places: DataFrame, cells: DataFrame, strategy: JoinStrategy) -> DataFrame:
    facts = ["crossed", "holder", "pieces"]
    if strategy == "cells":
        return places.join(F.broadcast(cells.select("column", "row", *facts)), ["column", "row"])
    box = F.expr("ST_PolygonFromEnvelope(west, south, east, north)")
    boxes = cells.select(box.alias("box"), F.col("column").alias("__c"), F.col("row").alias("__r"), *facts)
    boxes = F.broadcast(boxes) if strategy == "broadcast" else boxes
    meets = F.expr("ST_Intersects(box, ST_Point(lon, lat))")
    own = (F.col("__c") == F.col("column")) & (F.col("__r") == F.col("row"))  # a position on an edge meets several
    return places.join(boxes, meets).where(own).drop("box", "__c", "__r")


def position_shape(lon: str = "lon", lat: str = "lat") -> Column:
    """The position in degrees: a point; both of its points at 180 degrees; the whole rim at a pole."""
    ends = f"ST_Point(-180D, {lat}), ST_Point(180D, {lat})"
    return F.expr(
        f"CASE WHEN abs({lat}) = 90 THEN ST_MakeLine({ends})"
        f" WHEN abs({lon}) = 180 THEN ST_Collect({ends}) ELSE ST_Point({lon}, {lat}) END"
    )


def zone_shapes(places: DataFrame, layer: Layer) -> DataFrame:
    """The layer's zones as Sedona geometries, from its GeoParquet."""
    features = places.sparkSession.read.format("geoparquet").load(str(layer.folder / FEATURES_FILE))
    return features.where("ST_Dimension(geometry) = 2").select(F.col("feature").alias("zone"), "geometry")


def _with_zone(places: DataFrame, layer: Layer, strategy: JoinStrategy) -> DataFrame:
    """`holder` is the first zone that holds the place, from its cell or by Sedona's join."""
    zones = zone_shapes(places, layer)
    asked = places.where("crossed") if strategy == "cells" else places
    points = asked.select(F.col("lon").alias("__x"), F.col("lat").alias("__y"), position_shape().alias("shape"))
    joined = points.join(
        zones if strategy == "partitioned" else F.broadcast(zones), F.expr("ST_Intersects(geometry, shape)")
    )
    held = joined.groupBy("__x", "__y").agg(F.min("zone").alias("zone"))
    same = (F.col("lon") == F.col("__x")) & (F.col("lat") == F.col("__y"))
    settled = F.coalesce("zone", "holder") if strategy == "cells" else F.col("zone")
    return places.join(held, same, "left").withColumn("holder", settled).drop("__x", "__y", "zone")


def _measured(places: DataFrame, layer: Layer) -> DataFrame:
    """`feature`, `metres` and `inside`: the holder at distance 0, else the best of the cell's pieces."""
    varied = bool(layer.index.arrays.reaching.feature.size)
    radii = layer.index.arrays.radius_m
    if varied:
        table = places.sparkSession.createDataFrame([(radii.tolist(),)], "radii array<double>")
        places = places.crossJoin(F.broadcast(table))

    def radius(feature: Column) -> Column:
        return F.get("radii", feature.cast("int")) if varied else F.lit(float(radii[0]))

    here = {axis: F.col(axis) for axis in "xyz"}
    ranked = rank_pieces(F.col("pieces"), here, radius if varied else None)
    # a list of one, taken apart, is worked out once; a mere column would be once more wherever it is read
    best = places.withColumn("best", F.explode_outer(F.array(F.when(F.col("holder").isNull(), F.array_min(ranked)))))
    metres = metres_to(F.col("best.lon"), F.col("best.lat"))
    measured = best.withColumns(
        {
            "feature": F.coalesce("holder", "best.feature"),
            "metres": F.when(F.col("holder").isNotNull(), 0.0).otherwise(F.when(F.col("best").isNotNull(), metres)),
        }
    )
    within = F.coalesce(F.col("metres") <= radius(F.col("feature")), F.lit(False))
    return measured.withColumn("inside", F.col("holder").isNotNull() | within).drop(
        "best", "crossed", "holder", "pieces", "radii", "column", "row"
    )


def rank_pieces(pieces: Column, here: Mapping[str, Any], radius: Any = None) -> Column:
    """Smallest is best: held by its radius, straight distance in millimetres, feature, exact distance; then where.

    Spark interprets these expressions, each as often as it is written: a list of its own for each intermediate result
    makes them ten times quicker.
    """
    along = F.transform(pieces, lambda piece: F.struct(piece.alias("piece"), _along(piece, here).alias("along")))
    measured = F.transform(along, lambda found: _measured_piece(found["piece"], found["along"], here))

    def ranked(found: Column) -> Column:
        outside = F.lit(False) if radius is None else metres_to(found["lon"], found["lat"]) > radius(found["feature"])
        millimetres = F.floor(F.sqrt(found["d2"]) * 1000.0 + 0.5)
        rest = [found[name].alias(name) for name in ("feature", "d2", "lon", "lat")]
        return F.struct(outside.alias("outside"), millimetres.alias("mm"), *rest)

    return F.transform(measured, ranked)


def _along(piece: Column, here: Mapping[str, Any]) -> Column:
    """How far along the piece its nearest place is, from 0 to 1."""
    ahead = sum((piece[f"u{axis}"] * (here[axis] - piece[axis]) for axis in "xyz"), F.lit(0.0)) / piece["length2"]
    return F.when(piece["length2"] > 0, F.greatest(F.lit(0.0), F.least(F.lit(1.0), ahead))).otherwise(0.0)


def _measured_piece(piece: Column, along: Column, here: Mapping[str, Any]) -> Column:
    away = [here[axis] - piece[axis] - along * piece[f"u{axis}"] for axis in "xyz"]
    lon, lat = (piece[name] + along * (piece[f"to_{name}"] - piece[name]) for name in ("lon", "lat"))
    d2 = away[0] * away[0] + away[1] * away[1] + away[2] * away[2]
    return F.struct(piece["feature"].alias("feature"), d2.alias("d2"), lon.alias("lon"), lat.alias("lat"))


def metres_to(lon: Column, lat: Column, from_lon: str = "lon", from_lat: str = "lat") -> Column:
    """Geodesic from the row's position."""
    here = F.call_function("ST_Point", F.col(from_lon), F.col(from_lat))
    return F.call_function("ST_DistanceSpheroid", here, F.call_function("ST_Point", lon, lat))


def _named(places: DataFrame, layer: Layer) -> DataFrame:
    """The layer's columns, in place of the numbers."""
    spec, spark = layer.spec, places.sparkSession
    names = layer.index.table.select(["name", *spec.attributes])
    features: DataFrame = spark.createDataFrame(names.append_column("__feature", [np.arange(len(names))]))
    joined = places.join(F.broadcast(features), F.col("feature") == F.col("__feature"), "left")
    columns = {f"in_{spec.kind}": F.col("inside"), f"{spec.kind}_name": F.col("name")}
    if spec.measures_distance:
        columns[f"{spec.kind}_distance_m"] = F.col("metres")
    columns |= {f"{spec.kind}_{name}": F.when(F.col("inside"), F.col(name)) for name in spec.attributes}
    if spec.has_land:  # a layer that knows of land is asked by workers
        columns[ON_LAND] = F.lit(None).cast("boolean")
    return joined.select(
        *[name for name in places.columns if name not in ("feature", "metres", "inside")],
        *[column.alias(name) for name, column in columns.items()],
    )
