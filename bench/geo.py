"""Points per second per core of enrichment, next to geopandas on the same machine in the same run.

    .venv/bin/python -m bench.geo [--points N] [--out bench/results]

Simulated positions: tracks that wander in a sea of 6 by 5 degrees. Three layers: 220 ports, 5,000 polygons of 60
vertices, a coastline of 500,000 vertices. The kernels run on one core, and so does geopandas: both by processor time.
Then the same through Spark, by the clock on the wall, which other work on the machine slows down.
"""

import argparse
import json
import os
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import geopandas as gpd
import numpy as np
import pandas as pd
import shapely

from foresail.geo import Layer, LayerSpec, Strategy, enrich, read_layer

SEED = 20
METRES = "EPSG:3035"

STRATEGIES_COMPARED: tuple[Strategy, ...] = ("worker", "cells", "broadcast", "partitioned")


def positions(count: int) -> np.ndarray:
    """Tracks of 500 positions each, some 300 m from one to the next."""
    dice = np.random.default_rng(SEED)
    tracks = -(-count // 500)
    starts = dice.uniform((-6.0, 45.0), (0.0, 50.0), (tracks, 1, 2))
    steps = dice.normal(0, 0.003, (tracks, 500, 2)).cumsum(axis=1)
    return np.clip(starts + steps, (-7, 44), (1, 51)).reshape(-1, 2)[:count]


def ports() -> list[Any]:
    return list(shapely.points(np.random.default_rng(SEED).uniform((-6, 45), (0, 50), (220, 2))))


def polygons() -> list[Any]:
    dice = np.random.default_rng(SEED)
    turns = np.linspace(0, 2 * np.pi, 60, endpoint=False)
    rings = np.stack((np.cos(turns), np.sin(turns)), axis=1) * 0.05 * dice.uniform(0.5, 1, (5000, 60, 1))
    return [shapely.Polygon(ring) for ring in rings + dice.uniform((-6, 45), (0, 50), (5000, 1, 2))]


def coastline() -> list[Any]:
    """Five thousand ragged lines of 100 vertices each: pieces as coastline files have them, and kind to any index."""
    dice = np.random.default_rng(SEED)
    ways = dice.normal(0, 0.002, (5000, 100, 2)).cumsum(axis=1) + dice.uniform((-6, 45), (0, 50), (5000, 1, 2))
    return [shapely.LineString(way) for way in ways]


LAYERS: dict[str, Callable[[], list[Any]]] = {"port": ports, "zone": polygons, "coast": coastline}
TITLES = {
    "port": "nearest of 220 ports",
    "zone": "which of 5,000 polygons of 60 vertices holds it",
    "coast": "nearest of a coastline of 500,000 vertices",
}


def rate(work: Callable[[], Any], points: int, clock: Callable[[], float] = time.process_time) -> float:
    """Points per second of the better of two runs, after one to warm up; by processor time where one thread works."""
    work()
    best = min(_seconds(work, clock) for _ in range(2))
    return points / best


def _seconds(work: Callable[[], Any], clock: Callable[[], float]) -> float:
    began = clock()
    work()
    return clock() - began


def by_geopandas(kind: str, shapes: list[Any], xy: np.ndarray) -> Callable[[], Any]:
    """`sjoin` for zones; `sjoin_nearest` for distances, which is planar and so needs metres first."""
    features = gpd.GeoDataFrame({"name": [str(n) for n in range(len(shapes))]}, geometry=shapes, crs=4326)
    if kind == "zone":
        return lambda: gpd.GeoDataFrame(geometry=gpd.points_from_xy(*xy.T), crs=4326).sjoin(features, how="left")
    flat = features.to_crs(METRES)

    def nearest() -> Any:
        points = gpd.GeoDataFrame(geometry=gpd.points_from_xy(*xy.T), crs=4326).to_crs(METRES)
        return points.sjoin_nearest(flat, how="left", distance_col="metres")

    return nearest


def measure(kind: str, points: int, slow_points: int, folder: Path) -> tuple[dict[str, Any], Layer]:
    shapes = LAYERS[kind]()
    file = folder / f"{kind}.parquet"
    gpd.GeoDataFrame({"name": [f"{kind} {n}" for n in range(len(shapes))]}, geometry=shapes, crs=4326).to_parquet(file)
    began = time.perf_counter()
    layer = read_layer(LayerSpec(name=kind, kind=kind, file=file, distance=kind != "zone"), folder / "cache")
    built = time.perf_counter() - began
    xy = positions(points)
    lon, lat = (np.ascontiguousarray(axis) for axis in xy.T)
    kernel = rate(lambda: layer.index.answer(lon, lat, layer.spec.distance), points)
    geopandas = rate(by_geopandas(kind, shapes, xy[:slow_points]), slow_points)
    row = {"layer": kind, "task": TITLES[kind], "built_s": round(built, 2), "kernel_points_per_s": round(kernel)}
    return row | {"geopandas_points_per_s": round(geopandas), "ratio": round(kernel / geopandas, 1)}, layer


def through_spark(layers: list[Layer], points: int, join_points: int) -> dict[str, dict[str, int]]:
    """Points per second per core of the whole stage, by layer and strategy: Parquet in, all columns kept."""
    from foresail.pipeline.runtime.session import cores_of, start_spark  # noqa: PLC0415 - a run without Spark does not start it
    from foresail.pipeline.settings import read_settings  # noqa: PLC0415

    settings = read_settings(environment={})
    cores = cores_of(settings.spark.master) or 1
    spark = start_spark(settings)
    rates: dict[str, dict[str, int]] = {}
    with tempfile.TemporaryDirectory() as folder:
        for count in {points, join_points}:
            xy = positions(count)
            table = pd.DataFrame({"track": np.arange(count) // 500, "lon": xy[:, 0], "lat": xy[:, 1]})
            spark.createDataFrame(table).repartition(2 * cores).write.parquet(f"{folder}/{count}")
        for layer in layers:
            rates[layer.spec.kind] = {}
            for strategy in STRATEGIES_COMPARED:
                count = points if strategy == "worker" else join_points
                speed = stage_rate(spark.read.parquet(f"{folder}/{count}"), layer, strategy, count)
                rates[layer.spec.kind][strategy] = round(speed / cores)
                print(f"{layer.spec.kind}, {strategy}: {rates[layer.spec.kind][strategy]:,}", file=sys.stderr)
    spark.stop()
    return rates


def stage_rate(events: Any, layer: Layer, strategy: Strategy, points: int) -> float:
    """Points per second of a second run: the first one lets Java compile. Joins look at the positions when planned."""
    for _ in range(2):
        began = time.perf_counter()
        enrich(events, [layer], strategy).write.format("noop").mode("overwrite").save()
        seconds = time.perf_counter() - began
    return points / seconds


def as_table(rows: list[dict[str, Any]], rates: dict[str, dict[str, int]]) -> str:
    lines = ["| task | kernel, points/s per core | geopandas, points/s per core | ratio |", "|---|---:|---:|---:|"]
    for row in rows:
        measured = f"{row['kernel_points_per_s']:,} | {row['geopandas_points_per_s']:,} | {row['ratio']}"
        lines.append(f"| {row['task']} | {measured} |")
    if rates:
        names = [f"{name}, points/s per core" for name in STRATEGIES_COMPARED]
        lines += ["", f"| through Spark | {' | '.join(names)} | geopandas |", "|---|" + "---:|" * (len(names) + 1)]
        for row in rows:
            cells = [f"{rates[row['layer']][name]:,}" for name in STRATEGIES_COMPARED]
            lines.append(f"| {row['task']} | {' | '.join(cells)} | {row['geopandas_points_per_s']:,} |")
    return "\n".join(lines) + "\n"


def draw(rows: list[dict[str, Any]], file: Path) -> None:
    import matplotlib  # noqa: PLC0415 - its backend is chosen before pyplot is loaded

    matplotlib.use("Agg")
    from matplotlib import pyplot  # noqa: PLC0415

    figure, axes = pyplot.subplots(figsize=(8, 3))
    at = np.arange(len(rows))
    axes.barh(at - 0.2, [row["kernel_points_per_s"] for row in rows], 0.4, label="foresail kernel")
    axes.barh(at + 0.2, [row["geopandas_points_per_s"] for row in rows], 0.4, label="geopandas")
    axes.set(yticks=at, yticklabels=[row["layer"] for row in rows], xlabel="points per second, one core", xscale="log")
    axes.legend()
    figure.tight_layout()
    figure.savefig(file, dpi=120)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--points", type=int, default=1_000_000)
    parser.add_argument("--slow-points", type=int, default=50_000, help="points for geopandas")
    parser.add_argument("--spark-points", type=int, default=2_000_000, help="points for workers in Spark")
    parser.add_argument("--join-points", type=int, default=100_000, help="points for the joins in Spark")
    parser.add_argument("--out", type=Path, default=Path("bench/results"))
    parser.add_argument("--no-spark", action="store_true", help="leave out the run through Spark")
    asked = parser.parse_args()
    asked.out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        measured = [measure(kind, asked.points, asked.slow_points, Path(folder)) for kind in LAYERS]
        rows = [row for row, _ in measured]
        layers = [layer for _, layer in measured]
        rates = {} if asked.no_spark else through_spark(layers, asked.spark_points, asked.join_points)
    result = {
        "points": asked.points,
        "load_average": round(os.getloadavg()[0], 1),
        "cores": os.cpu_count(),
        "rows": rows,
        "spark_points": asked.spark_points,
        "join_points": asked.join_points,
        "spark_points_per_s_by_strategy": rates,
    }
    (asked.out / "geo.json").write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    (asked.out / "geo.md").write_text(as_table(rows, rates), encoding="utf-8")
    draw(rows, asked.out / "geo.png")
    print(as_table(rows, rates))
    print(json.dumps(result))


if __name__ == "__main__":
    main()
