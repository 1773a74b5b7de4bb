"""Enrichment on Spark: every strategy gives the same answer, which is shapely's and pyproj's; streams equal batches."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest
import shapely

from foresail.geo import STRATEGIES, Layer, choose, enrich, near_features, publish
from foresail.geo.attributes import attribute_names
from foresail.geo.errors import AttributeClashError, LayersFileError, StrategyError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

pytestmark = pytest.mark.spark
SCHEMA = "lon double, lat double, id long"


def frame(spark: "SparkSession", table: pd.DataFrame) -> "DataFrame":
    """With nulls for NaN in every other row: both must flow."""
    from pyspark.sql import functions as F  # noqa: N812

    events = spark.createDataFrame(table, SCHEMA)
    axes = {
        axis: F.when(F.isnan(axis) & (F.col("id") % 2 == 0), None).otherwise(F.col(axis)) for axis in ("lon", "lat")
    }
    return events.withColumns(axes)


@pytest.fixture(scope="module")
def expected(layers: list[Layer], hard_positions: pd.DataFrame) -> pd.DataFrame:
    """What the kernels say, which their own tests hold against shapely and pyproj."""
    lon, lat = (np.array(hard_positions[axis], float) for axis in ("lon", "lat"))
    out = hard_positions.copy()
    for layer in layers:
        answer, kind = layer.index.answer(lon, lat, layer.spec.distance), layer.spec.kind
        names = np.array([*layer.index.table["name"].to_pylist(), None], dtype=object)
        out[f"in_{kind}"] = np.where(answer.known, answer.inside, None)
        out[f"{kind}_name"] = names[answer.feature]
        if layer.spec.distance:
            out[f"{kind}_distance_m"] = answer.distance_m
    return out


def assert_same(found: pd.DataFrame, expected: pd.DataFrame) -> None:
    assert len(found) == len(expected)
    found = found.sort_values("id").reset_index(drop=True)
    for column in expected.columns:
        if column.endswith("_m"):
            np.testing.assert_allclose(found[column].astype(float), expected[column].astype(float), atol=1e-3, rtol=0)
        elif column not in ("lon", "lat"):
            assert plain(found[column]) == plain(expected[column]), column


def plain(column: "pd.Series[Any]") -> list[Any]:
    return [None if missing else value for value, missing in zip(column, column.isna(), strict=True)]


@pytest.mark.parametrize("strategy", [name for name in STRATEGIES if name != "worker"])
def test_all_strategies_give_the_same_answer(
    spark: "SparkSession", layers: list[Layer], hard_positions: pd.DataFrame, expected: pd.DataFrame, strategy: Any
) -> None:
    chosen = layers if strategy == "auto" else [layers[0], layers[2], layers[4]]
    columns = ["id", *(name for layer in chosen for name in attribute_names(layer.spec) if name in expected)]
    few = slice(None if strategy == "auto" else 1350, None)  # joins take longer per position; the hard ones come last
    found = enrich(frame(spark, hard_positions[few]), chosen, strategy).toPandas()
    assert_same(found, expected[columns][few].reset_index(drop=True))


def test_membership_is_what_shapely_says(
    layers: list[Layer], hard_positions: pd.DataFrame, expected: pd.DataFrame
) -> None:
    import geopandas as gpd

    from foresail.geo.layers.index import in_range, position_shapes

    lon, lat = (np.array(hard_positions[axis], float) for axis in ("lon", "lat"))
    known = in_range(lon, lat)
    shapes = gpd.read_parquet(layers[0].folder / "features.parquet").geometry
    held = np.array([shapely.intersects(position_shapes(lon[known], lat[known]), shape) for shape in shapes])
    assert expected["in_zone"][known].tolist() == held.any(axis=0).tolist()


def test_the_joins_of_sedona_are_readable_in_the_plan(
    spark: "SparkSession", layers: list[Layer], hard_positions: pd.DataFrame
) -> None:
    plans = {}
    for strategy in ("broadcast", "partitioned"):
        enriched = enrich(frame(spark, hard_positions), layers[:1], strategy)
        plans[strategy] = enriched._jdf.queryExecution().toString()
    assert "BroadcastIndexJoin" in plans["broadcast"]
    assert "RangeJoin" in plans["partitioned"]
    assert "BroadcastIndexJoin" not in plans["partitioned"]


def test_the_choice_follows_the_size_and_says_so(layers: list[Layer], monkeypatch: pytest.MonkeyPatch) -> None:
    import foresail.geo.enrichment

    assert {choice.strategy for choice in choose(layers)} == {"worker"}
    monkeypatch.setattr(foresail.geo.enrichment, "WORKER_LIMIT_BYTES", 10)
    assert {choice.strategy for choice in choose(layers)} == {"partitioned"}
    assert "too large for every worker" in choose(layers)[0].reason
    assert {choice.strategy for choice in choose(layers, streaming=True)} == {"worker"}
    with pytest.raises(StrategyError, match="strategy 'quickest': unknown"):
        choose(layers, "quickest")  # type: ignore[arg-type]


def test_events_without_a_position_or_with_the_columns_already_are_refused(
    spark: "SparkSession", layers: list[Layer]
) -> None:
    with pytest.raises(AttributeClashError, match="no column 'lat'"):
        enrich(spark.createDataFrame([(1.0,)], "lon double"), layers)
    with pytest.raises(AttributeClashError, match="already have 'in_zone', which layer 'zones' would add"):
        enrich(spark.createDataFrame([(1.0, 1.0, True)], "lon double, lat double, in_zone boolean"), layers)


def streamed(spark: "SparkSession", folder: Path, build: Callable[["DataFrame"], "DataFrame"], name: str) -> Any:
    source = (
        spark.readStream.schema("lon double, lat double, id long").option("maxFilesPerTrigger", 1).parquet(str(folder))
    )
    writer = build(source).writeStream.format("memory").queryName(name)
    return writer.option("checkpointLocation", str(folder.parent / f"checkpoint_{name}")).start()


def test_a_stream_equals_a_batch_and_takes_up_new_layers_without_a_restart(
    spark: "SparkSession", make_layer: Callable[..., Layer], layers: list[Layer], hard_positions: pd.DataFrame,
    expected: pd.DataFrame, tmp_path: Path,
) -> None:  # fmt: skip
    incoming, shelf = tmp_path / "in", tmp_path / "shelf"
    first, second = hard_positions.iloc[:800], hard_positions.iloc[800:]
    publish(layers[:2], shelf)
    frame(spark, first).coalesce(1).write.parquet(str(incoming))
    query = streamed(spark, incoming, lambda events: enrich(events, layers[:2], shelf=shelf), "enriched")
    try:
        query.processAllAvailable()
        everywhere = make_layer("zone", [shapely.box(-180, -90, 180, 90)])
        publish([everywhere, layers[1]], shelf)
        frame(spark, second).coalesce(1).write.mode("append").parquet(str(incoming))
        query.processAllAvailable()
    finally:
        query.stop()
    found = spark.table("enriched").toPandas().sort_values("id").reset_index(drop=True)
    columns = ["id", "in_zone", "zone_name", "zone_distance_m", "in_port", "port_name", "port_distance_m"]
    assert_same(found.iloc[:800], expected.iloc[:800][columns])
    known = expected["in_port"].iloc[800:].notna().to_numpy()
    assert (found["in_zone"].iloc[800:][known] == True).all()  # noqa: E712 - a column of objects
    assert set(found["zone_name"].iloc[800:][known]) == {"zone a0"}
    assert_same(found.iloc[800:], expected.iloc[800:][["id", "in_port", "port_name", "port_distance_m"]])


def test_a_shelf_does_not_let_the_columns_change(layers: list[Layer], tmp_path: Path) -> None:
    publish(layers[:1], tmp_path)
    with pytest.raises(LayersFileError, match="cannot change its columns"):
        publish(layers[:2], tmp_path)


def test_joins_by_place_are_refused_for_a_stream(spark: "SparkSession", layers: list[Layer], tmp_path: Path) -> None:
    source = spark.readStream.schema(SCHEMA).parquet(str(tmp_path))
    with pytest.raises(StrategyError, match="Use strategy worker"):
        enrich(source, layers, "cells")


def near_rows(found: "DataFrame", kind: str) -> list[tuple[int, str, int]]:
    rows = found.select("id", f"{kind}.name", f"{kind}.number", f"{kind}.distance_m").toPandas()
    assert (rows["distance_m"] >= 0).all()
    return sorted(zip(rows["id"], rows["name"], rows["number"], rows["distance_m"].round(2), strict=True))


def test_near_features_are_the_same_by_workers_and_by_sedona(
    spark: "SparkSession", layers: list[Layer], hard_positions: pd.DataFrame
) -> None:
    kind, layer = "port", layers[1]
    events = frame(spark, hard_positions)
    workers = near_rows(near_features(events, layer, 900_000.0), kind)
    assert len(workers) > 200
    assert workers == near_rows(near_features(events, layer, 900_000.0, strategy="broadcast"), kind)
    assert workers == near_rows(near_features(events, layer, 900_000.0, strategy="partitioned"), kind)
    with pytest.raises(StrategyError, match="too long for a join"):
        near_features(events, layers[0], 900_000.0, strategy="broadcast")


def test_near_features_join_a_stream_with_a_static_layer(
    spark: "SparkSession", layers: list[Layer], hard_positions: pd.DataFrame, tmp_path: Path
) -> None:
    frame(spark, hard_positions).coalesce(1).write.parquet(str(tmp_path / "in"))
    build = lambda events: near_features(events, layers[1], 500_000.0, name="harbour", strategy="broadcast")  # noqa: E731
    query = streamed(spark, tmp_path / "in", build, "near")
    try:
        query.processAllAvailable()
    finally:
        query.stop()
    batch = near_features(frame(spark, hard_positions), layers[1], 500_000.0, name="harbour")
    assert near_rows(spark.table("near"), "harbour") == near_rows(batch, "harbour")


def test_a_feature_name_that_is_taken_is_refused(spark: "SparkSession", layers: list[Layer]) -> None:
    events = spark.createDataFrame([(1.0, 1.0, 1)], "lon double, lat double, port int")
    with pytest.raises(AttributeClashError, match="already have a column 'port'"):
        near_features(events, layers[1], 10.0)
    with pytest.raises(StrategyError, match="holds nothing"):
        near_features(events.drop("port"), layers[1], 0.0)


def test_weather_holds_from_its_begin_until_before_its_end(spark: "SparkSession", weather: Layer) -> None:
    rows = [
        (0.5, 0.5, "2026-01-01T00:00:00"), (0.5, 0.5, "2026-01-01T00:59:59.999999"), (0.5, 0.5, "2026-01-01T01:00:00"),
        (1.5, 0.5, "2026-01-01T03:30:00"), (1.5, 0.5, "2026-01-01T04:00:00"), (0.5, 0.5, "2025-12-31T23:59:59"),
        (5.0, 5.0, "2026-01-01T01:00:00"), (0.5, 0.5, None), (None, 0.5, "2026-01-01T01:00:00"),
    ]  # fmt: skip
    events = spark.createDataFrame(rows, "lon double, lat double, time string").selectExpr(
        "lon", "lat", "timestamp(time) time"
    )
    found = enrich(events, [weather]).collect()
    assert [row["in_weather"] for row in found] == [True, True, True, True, False, False, False, None, None]
    assert [row["weather_ice"] for row in found] == [True, True, False, False, None, None, None, None, None]
    assert [row["weather_wind_kn"] for row in found] == [0.0, 0.0, 1.0, 7.0, None, None, None, None, None]
    assert "weather_distance_m" not in found[0].asDict()
