"""From raw CSV to events laid out by track, next to DuckDB, pyarrow and Spark reading the same file in the same run.

    .venv/bin/python -m bench.feeds [--rows 1000000,4000000] [--out bench/results]

Simulated rows in the form of MarineCadastre: 2,000 vessels, one position a minute, a tenth of them lying still. DuckDB
reads the file, sorts it by vessel and time and writes Parquet; foresail also judges every row, settles tracks, derives
attributes and measures the quality. Then the events are enriched with five small layers. Processor seconds are of all
processes, Java and workers included; the clock on the wall is slowed down by other work on the machine.
"""

import argparse
import json
import os
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.csv
from pyspark.sql import SparkSession

from bench.usage import MARK, cpu_seconds, worker_peak_mb
from foresail.pipeline.feeds.reading import read_tables
from foresail.pipeline.jobs.enrich import EnrichOrder, enrich_events
from foresail.pipeline.jobs.ingest import ingest
from foresail.pipeline.jobs.ingest_order import IngestOrder
from foresail.pipeline.runtime.session import cores_of, start_spark
from foresail.pipeline.settings import read_settings
from foresail.pipeline.sinks.output_folder import claim_output
from foresail.pipeline.sources.feeds import find_feed
from foresail.pipeline.stages.policy import Policy

SEED = 24
VESSELS = 2000
CHUNK_ROWS = 500_000
SMALL_ROWS = 100_000
START_S = 1_714_521_600
LAYERS = 5


def write_feed(file: Path, rows: int) -> None:
    """Rows as they come in from a coast: by time, vessel after vessel."""
    dice = np.random.default_rng(SEED)
    lon, lat = dice.uniform(-94, -80, VESSELS), dice.uniform(24, 30, VESSELS)
    course, speed = dice.uniform(0, 360, VESSELS), dice.uniform(2, 16, VESSELS)
    speed[::10] = 0.0
    with file.open("wb") as out:
        for begin in range(0, rows, CHUNK_ROWS):
            number = np.arange(begin, min(begin + CHUNK_ROWS, rows))
            ship, minute = number % VESSELS, number // VESSELS
            way = speed[ship] * minute / 3600
            table = {
                "MMSI": 366_000_000 + ship,
                "BaseDateTime": np.datetime_as_string((START_S + minute * 60).astype("datetime64[s]")),
                "LAT": np.round(lat[ship] + way * np.cos(np.radians(course[ship])), 5),
                "LON": np.round(lon[ship] + way * np.sin(np.radians(course[ship])), 5),
                "SOG": np.round(speed[ship], 1),
                "COG": np.round(course[ship], 1),
                "Heading": np.where(number % 3 == 0, 511, course[ship].astype(int)),
                "VesselName": np.char.add("VESSEL ", ship.astype(str)),
                "IMO": np.char.add("IMO", (9_000_000 + ship).astype(str)),
                "CallSign": np.char.add("W", ship.astype(str)),
                "VesselType": 60 + ship % 30,
                "Status": np.where(speed[ship] > 0, 0, 5),
                "Length": 20 + ship % 300,
                "Width": 5 + ship % 40,
                "Draft": np.round(2 + ship % 10 / 10, 1),
                "Cargo": 60 + ship % 30,
                "TransceiverClass": np.where(ship % 4 == 0, "B", "A"),
            }
            options = pa.csv.WriteOptions(include_header=begin == 0, quoting_style="none")
            pa.csv.write_csv(pa.table(table), out, options)


def write_layers(folder: Path) -> Path:
    """Five layers of points and of zones."""
    dice = np.random.default_rng(SEED)
    entries = []
    for number in range(LAYERS):
        west, south = dice.uniform(-94, -80, 200), dice.uniform(24, 30, 200)
        file = folder / f"layer{number}.csv"
        rows = [f"place {n},{x:.4f},{y:.4f}" for n, (x, y) in enumerate(zip(west, south, strict=True))]
        file.write_text("\n".join(["name,lon,lat", *rows]) + "\n", encoding="utf-8")
        entries.append(f"{{name: layer{number}, kind: place{number}, file: {file.name}, radius_m: 5000}}")
    layers = folder / "layers.yaml"
    layers.write_text(f"layers: [{', '.join(entries)}]\n", encoding="utf-8")
    return layers


def measured(work: Callable[[], Any], rows: int) -> dict[str, Any]:
    cpu, began = cpu_seconds(), time.perf_counter()
    work()
    seconds = time.perf_counter() - began
    return {
        "seconds": round(seconds, 2),
        "cpu_seconds": round(cpu_seconds() - cpu, 2),
        "rows_per_second": round(rows / seconds),
    }


def by_duckdb(file: Path, out: Path, cores: int) -> Callable[[], Any]:
    def work() -> None:
        with duckdb.connect(config={"threads": cores}) as connection:
            wanted = f"SELECT * FROM read_csv('{file}') ORDER BY MMSI, BaseDateTime"
            connection.execute(f"COPY ({wanted}) TO '{out}' (FORMAT parquet, COMPRESSION zstd)")

    return work


def compare(spark: SparkSession, rows: int, folder: Path, cores: int) -> dict[str, Any]:
    file, out, feed = folder / f"{rows}.csv", folder / f"out{rows}", find_feed("noaa")
    write_feed(file, rows)
    result: dict[str, Any] = {"rows": rows, "megabytes": round(file.stat().st_size / 1e6)}
    order = IngestOrder(feed, (str(file),), claim_output(out, "ingest"), Policy(), datetime.now(UTC))
    made = []
    result["ingest"] = measured(lambda: made.append(ingest(spark, order)), rows)
    assert made[0].rows_in == rows == made[0].rows_out + made[0].rejected + made[0].duplicates
    result["duckdb_sorted"] = measured(by_duckdb(file, folder / f"{rows}.parquet", cores), rows)
    pa.set_cpu_count(cores)
    result["pyarrow_read"] = measured(lambda: pa.csv.read_csv(file), rows)
    noop = spark.read.option("header", "true").csv(str(file)).write.format("noop").mode("overwrite")
    result["spark_noop_read"] = measured(noop.save, rows)
    enrich = EnrichOrder(
        str(out), write_layers(folder), claim_output(folder / f"rich{rows}", "enrich"), folder / "cache"
    )
    told = []
    result["enrich"] = measured(lambda: told.append(enrich_events(spark, enrich)), made[0].rows_out)
    result["enrich"]["job"] = {key: asdict(told[0])[key] for key in ("events", "seconds", "events_per_second")}
    result["times_duckdb"] = round(result["ingest"]["seconds"] / result["duckdb_sorted"]["seconds"], 2)
    result["worker_peak_mb"] = worker_peak_mb()
    return result


def small(folder: Path) -> dict[str, Any]:
    """A hundred thousand rows in this process, as `fs.read_feed` reads them."""
    file = folder / "small.csv"
    write_feed(file, SMALL_ROWS)
    return measured(lambda: read_tables(find_feed("noaa"), [str(file)]), SMALL_ROWS)


STEPS = ("ingest", "duckdb_sorted", "pyarrow_read", "spark_noop_read", "enrich")


def as_table(runs: list[dict[str, Any]]) -> str:
    lines = [
        "| rows | step | seconds | processor seconds | rows/s |",
        "|---:|---|---:|---:|---:|",
    ]
    for run in runs:
        for step in STEPS:
            took = run[step]
            lines.append(
                f"| {run['rows']:,} | {step.replace('_', ' ')} | {took['seconds']} | {took['cpu_seconds']} | "
                f"{took['rows_per_second']:,} |"
            )
    return "\n".join(lines) + "\n"


def draw(runs: list[dict[str, Any]], file: Path) -> None:
    import matplotlib  # noqa: PLC0415 - its backend is chosen before pyplot is loaded

    matplotlib.use("Agg")
    from matplotlib import pyplot  # noqa: PLC0415

    figure, axes = pyplot.subplots(figsize=(7, 4))
    for step in STEPS:
        axes.plot([run["rows"] for run in runs], [run[step]["seconds"] for run in runs], "o-", label=step)
    axes.set(xlabel="rows", ylabel="seconds", xscale="log", yscale="log")
    axes.legend()
    figure.tight_layout()
    figure.savefig(file, dpi=120)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", default="1000000,4000000", help="sizes, with commas between")
    parser.add_argument("--out", type=Path, default=Path("bench/results"))
    asked = parser.parse_args()
    asked.out.mkdir(parents=True, exist_ok=True)
    os.environ[MARK] = str(os.getpid())
    settings = read_settings(environment={})
    cores = cores_of(settings.spark.master) or 1
    runs: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory() as name:
        in_process = small(Path(name))
        spark = start_spark(settings)
        warm = compare(spark, SMALL_ROWS, Path(name), cores)
        for rows in map(int, asked.rows.split(",")):
            runs.append(compare(spark, rows, Path(name), cores))
            print(json.dumps(runs[-1]), file=sys.stderr)
        spark.stop()
    result = {
        "load_average": round(os.getloadavg()[0], 1),
        "cores": cores,
        "in_process_100000": in_process,
        "first_100000": warm,
        "runs": runs,
    }
    (asked.out / "feeds.json").write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    (asked.out / "feeds.md").write_text(as_table([warm, *runs]), encoding="utf-8")
    draw([warm, *runs], asked.out / "feeds.png")
    print(as_table([warm, *runs]))


if __name__ == "__main__":
    main()
