"""The live line on this machine, broker included: throughput, latency, an order change, and idle tracks.

    .venv/bin/python -m bench.stream [--part throughput|latency|order|idle] [--events N] [--out bench/results]

Six maritime patterns and one forecast model over 5,000 simulated tracks, whose messages carry all attributes (about
400 bytes of JSON each). The broker, the line and, where events come at a rate, their producer share the cores.
"""

import argparse
import json
import shutil
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np
import yaml
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812
from rich.console import Console

from models.counts import count
from models.model import ModelSettings, build
from models.store import ModelStore
from models.suffix_tree import LearnSettings
from patterns.catalog.loader import built_in_catalog
from patterns.compiler import compile_pattern
from pipeline.kafka import create_topics, start_broker, stop_broker
from pipeline.kafka.broker import free_port
from pipeline.progress import SILENT
from pipeline.session import start_spark
from pipeline.settings import Settings, read_settings
from pipeline.stages.policy import Policy
from pipeline.stream.configure import Order, control_message, known_types, send
from pipeline.stream.job import Stream
from pipeline.stream.live_table import live_table

SIX = ("high_speed_near_coast", "anchored", "drifting", "trawling", "search_and_rescue", "loitering")
FORECAST = "drifting"
TRACKS = 5_000
STEP_S = 10
PARTITIONS = 4
FIRST = 1_700_000_000
COLUMNS = {
    "coast_distance_m": "double",
    "port_distance_m": "double",
    "in_anchorage": "boolean",
    "in_fishing": "boolean",
    "drift_deg": "double",
    "change_in_heading": "boolean",
}


@dataclass(frozen=True)
class Bench:
    """A broker, a session, and settings for a line."""

    spark: SparkSession
    settings: Settings
    folder: Path


@contextmanager
def set_up(**stream: Any) -> Iterator[Bench]:
    """A fresh broker and a model store, gone afterwards."""
    folder = Path(tempfile.mkdtemp(prefix="bench-stream-"))
    jars = read_settings(environment={}).jars.directory
    broker = start_broker(folder / "kafka", free_port(), jars)
    values = {
        "spark": {"driver_memory": "4g"},
        "kafka": {"bootstrap_servers": broker.address},
        "stream": {
            "patterns": list(SIX),
            "columns": COLUMNS,
            "derive": False,
            "models": str(folder / "models"),
            "checkpoint": str(folder / "checkpoint"),
            "starting_offsets": "earliest",
            "out_of_order_s": 0.0,
            "episodes": "changes",
            **stream,
        },
    }
    file = folder / "settings.yaml"
    file.write_text(yaml.safe_dump(values), encoding="utf-8")
    settings = read_settings(file, environment={})
    train(folder / "models")
    topics = settings.stream.topics.model_dump()
    create_topics(str(broker.address), [topics.pop("positions")], PARTITIONS)
    create_topics(str(broker.address), topics.values())
    spark = start_spark(settings, "foresail bench")
    try:
        yield Bench(spark, settings, folder)
    finally:
        spark.stop()
        stop_broker(folder / "kafka")
        shutil.rmtree(folder, ignore_errors=True)


def train(folder: Path) -> None:
    """A model of order 2 from simulated symbols, with counts for orders up to 6."""
    entry = next(entry for entry in built_in_catalog("maritime") if entry.name == FORECAST)
    pattern = compile_pattern(entry.spec(), known_types())
    rng, number = np.random.default_rng(1), len(pattern.alphabet.codes)
    symbols = np.repeat(rng.integers(0, number, 60_000), rng.integers(1, 6, 60_000)).astype(np.int32)
    times = np.arange(len(symbols), dtype=np.int64) * STEP_S * 1_000_000
    counts = count(symbols, times, np.array([0, len(symbols)]), pattern, 6)
    store = ModelStore(folder)
    store.keep_counts(counts)
    store.add(build(pattern, counts, ModelSettings(LearnSettings(order=2), horizon=60, within=10, threshold=0.2)))


def as_messages(numbers: DataFrame, number: Column, tracks: int = TRACKS, first: int = FIRST) -> DataFrame:
    """Events of tracks that drift through speeds, drifts and distances, as Kafka records keyed by track."""
    track, step = number % tracks, F.floor(number / tracks)
    phase = track * 0.37

    def wave(period: float, low: float, high: float, shift: float) -> Column:
        return F.round(F.lit(low) + (high - low) * (F.sin(step / period + phase + shift) + 1) / 2, 2)

    event = F.struct(
        (track + 210_000_000).cast("string").alias("track"),
        (track + 210_000_000).alias("mmsi"),
        (F.lit(first) + step * STEP_S).alias("time"),
        wave(400.0, 5.0, 9.0, 0.0).alias("lon"),
        wave(300.0, 53.0, 55.0, 1.0).alias("lat"),
        wave(40.0, 0.0, 14.0, 2.0).alias("speed_kn"),
        wave(90.0, 0.0, 359.0, 3.0).alias("heading_deg"),
        F.when(track % 9 == 0, "fishing").otherwise("cargo").alias("vessel_type"),
        wave(200.0, -500.0, 20_000.0, 4.0).alias("coast_distance_m"),
        wave(150.0, -500.0, 30_000.0, 5.0).alias("port_distance_m"),
        F.lit(False).alias("in_anchorage"),
        (wave(120.0, 0.0, 1.0, 6.0) > 0.8).alias("in_fishing"),
        wave(60.0, -40.0, 50.0, 7.0).alias("drift_deg"),
        (wave(25.0, 0.0, 1.0, 8.0) > 0.9).alias("change_in_heading"),
    )
    return numbers.select((track + 210_000_000).cast("string").alias("key"), F.to_json(event).alias("value"))


def fill(bench: Bench, events: int, tracks: int = TRACKS, first: int = FIRST) -> float:
    """Put events into the topic, each of two writers those of half the tracks in order; seconds it took."""
    began = time.monotonic()
    half, at = events // 2, F.col("id") % (events // 2)
    step, of_writer = F.floor(at / (tracks // 2)), F.floor(F.col("id") / half)
    number = step * tracks + 2 * (at % (tracks // 2)) + of_writer
    numbers = bench.spark.range(0, 2 * half, 1, 2)
    _write(as_messages(numbers, number.cast("long"), tracks, first).write.format("kafka"), bench).save()
    return time.monotonic() - began


def _write(writer: Any, bench: Bench) -> Any:
    servers = bench.settings.kafka.bootstrap_servers
    return writer.options(
        **{"kafka.bootstrap.servers": servers, "topic": bench.settings.stream.topics.positions, "kafka.linger.ms": "20"}
    )


class Running:
    """A line that runs in the background."""

    def __init__(self, bench: Bench) -> None:
        self.stream = Stream(bench.spark, bench.settings, Policy(), SILENT)
        began = time.monotonic()
        self.stream.warm_up()
        self.warm_up_s = time.monotonic() - began
        self._thread = threading.Thread(target=self.stream.run, args=(False,), daemon=True)
        self._thread.start()

    def progress(self) -> list[dict[str, Any]]:
        query = self.stream.query
        return [json.loads(p.json) for p in query.recentProgress] if query is not None else []

    def until_events(self, events: int, patience_s: float) -> None:
        deadline = time.monotonic() + patience_s
        while self.stream.metrics.totals["events_total", ""] < events and time.monotonic() < deadline:
            time.sleep(0.2)

    def stop(self) -> None:
        self.stream.stop()
        self._thread.join()


def batches(progress: list[dict[str, Any]], least_rows: int = 1) -> list[tuple[int, int, float]]:
    """Number, rows and seconds of the micro-batches that had events."""
    found = [(p["batchId"], p["numInputRows"], p["durationMs"]["triggerExecution"] / 1000) for p in progress]
    return [row for row in found if row[1] >= least_rows]


def throughput(events: int) -> dict[str, Any]:
    """A full topic worked off: events per second once warm, and where the time of a micro-batch goes."""
    with set_up(most_events=300_000) as bench:
        filled_s = fill(bench, events)
        line = Running(bench)
        began = time.monotonic()
        line.until_events(events, 300)
        done = line.progress()
        show(line, time.monotonic() - began)
        line.stop()
        full = batches(done, 150_000)[1:]
        rows, seconds = sum(row[1] for row in full), sum(row[2] for row in full)
        small = [p["durationMs"] for p in done if p["numInputRows"] < 100]
        return {
            "events": line.stream.metrics.totals["events_total", ""],
            "producer_events_per_second": round(events / filled_s),
            "events_per_second": round(rows / seconds) if seconds else None,
            "batches": full,
            "warm_up_s": round(line.warm_up_s, 1),
            "empty_batch_s": round(float(np.median([d["triggerExecution"] for d in small])) / 1000, 2)
            if small
            else None,
            "last_durations_ms": done[-1]["durationMs"],
            "matches": sum(v for (n, _), v in line.stream.metrics.totals.items() if n == "matches_total"),
        }


def show(line: Running, seconds: float) -> None:
    """The live table as a terminal shows it."""
    console = Console(width=76)
    line.stream.metrics.hear_progress(line.progress()[-1])
    console.print(live_table(line.stream.metrics, seconds))


def paced(bench: Bench, rate: int) -> Any:
    """Events at a rate, by a query beside the line."""
    source = bench.spark.readStream.format("rate").option("rowsPerSecond", rate).option("numPartitions", 1).load()
    rows = as_messages(source, F.col("value"))
    writer = _write(rows.writeStream.format("kafka"), bench).option("checkpointLocation", str(bench.folder / "paced"))
    return writer.trigger(processingTime="200 milliseconds").start()


def latency(rate: int, seconds: float) -> dict[str, Any]:
    """At a steady rate: seconds from the append of an event to the append of the alert it makes."""
    with set_up() as bench:
        line = Running(bench)
        producer = paced(bench, rate)
        time.sleep(seconds)
        change = order_change(bench, line) if seconds >= 60 else None
        producer.stop()
        done = line.progress()
        line.stop()
        waits = alert_waits(bench, settle_s=20)
        steady = batches(done)[5:]
        return {
            "rate": rate,
            "alerts": len(waits),
            "p50_s": round(float(np.percentile(waits, 50)), 2) if waits else None,
            "p99_s": round(float(np.percentile(waits, 99)), 2) if waits else None,
            "median_batch_s": round(float(np.median([row[2] for row in steady])), 2) if steady else None,
            "lag_at_end": line.stream.metrics.gauges.get(("lag_messages", "")),
            "order_change": change,
        }


def alert_waits(bench: Bench, settle_s: float) -> list[float]:
    """Seconds from the append of the event to that of its alert, without those of the first seconds."""
    rows = bench.spark.read.format("kafka").options(
        **{
            "kafka.bootstrap.servers": bench.settings.kafka.bootstrap_servers,
            "subscribe": bench.settings.stream.topics.alerts,
        }
    )
    found = []
    for row in rows.load().select(F.col("value").cast("string"), F.unix_micros("timestamp")).collect():
        arrived = json.loads(row[0]).get("arrived")
        if arrived:
            found.append((row[1] / 1e6, row[1] / 1e6 - datetime.fromisoformat(arrived).timestamp()))
    first = min((at for at, _ in found), default=0.0)
    return [wait for at, wait in found if at - first > settle_s]


def order_change(bench: Bench, line: Running) -> dict[str, Any]:
    """Order 2 to 5 under load: throughput while it is built, and micro-batches until it holds."""
    before = batches(line.progress())[-8:]
    began = time.monotonic()
    text = control_message(bench.settings, Order(FORECAST, order=5), SILENT)
    built_s = time.monotonic() - began
    at = line.progress()[-1]["batchId"]
    reply = send(bench.settings, text, 60)
    during = [row for row in batches(line.progress()) if row[0] > before[-1][0]]
    return {
        "built_s": round(built_s, 2),
        "rate_before": round(_rate(before)),
        "rate_during": round(_rate(during)),
        "micro_batches_until_it_holds": reply["batch"] - at,
        "accepted": reply["accepted"],
    }


def _rate(some: list[tuple[int, int, float]]) -> float:
    return sum(row[1] for row in some) / max(sum(row[2] for row in some), 1e-9)


def idle(tracks: int, events: int) -> dict[str, Any]:
    """Batch time with and without a million tracks at rest."""
    results = {}
    for resting in (0, tracks):
        with set_up(most_events=100_000, rest_after_s=600.0, forget_after_s=10_000_000.0) as bench:
            if resting:
                fill(bench, resting, resting, FIRST - 100_000)
            fill(bench, events)
            line = Running(bench)
            line.until_events(resting + events, 400)
            done = batches(line.progress(), 50_000)[-6:]
            line.stop()
            results[resting] = {
                "batch_s": round(float(np.median([row[2] for row in done])), 2),
                "tracks_at_hand": line.stream.metrics.gauges.get(("tracks", "")),
            }
    ratio = results[tracks]["batch_s"] / results[0]["batch_s"]
    return {"without": results[0], "with": results[tracks], "resting": tracks, "ratio": round(ratio, 2)}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--part", choices=["throughput", "latency", "idle"], default="throughput")
    parser.add_argument("--events", type=int, default=3_000_000)
    parser.add_argument("--rate", type=int, default=20_000)
    parser.add_argument("--seconds", type=float, default=90)
    parser.add_argument("--tracks", type=int, default=1_000_000)
    parser.add_argument("--out", type=Path, default=Path("bench/results"))
    given = parser.parse_args()
    match given.part:
        case "throughput":
            result = throughput(given.events)
        case "latency":
            result = latency(given.rate, given.seconds)
        case _:
            result = idle(given.tracks, given.events)
    given.out.mkdir(parents=True, exist_ok=True)
    (given.out / f"stream-{given.part}.json").write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    print(json.dumps(result, indent=1))


if __name__ == "__main__":
    main()
