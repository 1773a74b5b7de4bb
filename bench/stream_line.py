"""What the benchmark of the live line runs: a broker, a session, a model, and messages of simulated tracks."""

import json
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import yaml
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812

from foresail.models.counts import count
from foresail.models.model import ModelSettings, build
from foresail.models.store import ModelStore
from foresail.models.suffix_tree import LearnSettings
from foresail.patterns.catalog.loader import built_in_catalog
from foresail.patterns.compiler import compile_pattern
from foresail.pipeline.kafka import create_topics, start_broker, stop_broker
from foresail.pipeline.kafka.broker import free_port
from foresail.pipeline.progress import SILENT
from foresail.pipeline.runtime.session import start_spark
from foresail.pipeline.settings import Settings, read_settings
from foresail.pipeline.stages.policy import Policy
from foresail.pipeline.stream.control.configure import known_types
from foresail.pipeline.stream.query.job import Stream

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
    settings_file: Path


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
        yield Bench(spark, settings, folder, file)
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
    key, value = (track + 210_000_000).cast("string").alias("key"), F.to_json(event).alias("value")
    return numbers.select(key, value)


def fill(bench: Bench, events: int, tracks: int = TRACKS, first: int = FIRST) -> float:
    """Put events into the topic, each of two writers those of half the tracks in order; seconds it took."""
    began = time.monotonic()
    half, at = events // 2, F.col("id") % (events // 2)
    step, of_writer = F.floor(at / (tracks // 2)), F.floor(F.col("id") / half)
    number = step * tracks + 2 * (at % (tracks // 2)) + of_writer
    numbers = bench.spark.range(0, 2 * half, 1, 2)
    to_topic(as_messages(numbers, number.cast("long"), tracks, first).write.format("kafka"), bench).save()
    return time.monotonic() - began


def to_topic(writer: Any, bench: Bench) -> Any:
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
        while self.stream.metrics.totals["events_total",] < events and time.monotonic() < deadline:
            time.sleep(0.2)

    def stop(self) -> None:
        self.stream.stop()
        self._thread.join()


def record(bench: Bench, events: int) -> Path:
    """Events made beforehand, in order, so that sending them costs little; the folder."""
    folder = bench.folder / "recorded"
    numbers = bench.spark.range(0, events, 1, 8)
    as_messages(numbers, F.col("id")).write.parquet(str(folder))
    return folder


class Sender:
    """A process that sends what was recorded at a rate."""

    def __init__(self, bench: Bench, folder: Path, rate: int) -> None:
        topic, servers = bench.settings.stream.topics.positions, bench.settings.kafka.bootstrap_servers
        command = [sys.executable, "-m", "bench.stream_producer", str(servers), topic, str(folder), str(rate)]
        self._process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        self.sent: list[tuple[float, int]] = [(0.0, 0)]
        """Seconds, and messages sent until then."""
        self._thread = threading.Thread(target=self._listen)
        self._thread.start()

    def _listen(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            seconds, messages = line.split()
            self.sent.append((float(seconds), int(messages)))

    @property
    def is_alive(self) -> bool:
        return self._process.poll() is None

    def wait(self) -> None:
        self._process.wait()
        self._thread.join()
