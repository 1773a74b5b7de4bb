"""Pairs of tracks in the live line, from Kafka in many micro-batches and over a restart: the rows of a batch."""

import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import jsonschema
import numpy as np
import pandas as pd
import pytest

from foresail.models.counts import count
from foresail.models.model import ModelSettings, build
from foresail.models.store import ModelStore
from foresail.models.suffix_tree import LearnSettings
from foresail.patterns.compiler import compile_pattern
from foresail.pipeline.catalogs import catalog_named
from foresail.pipeline.conditions.spark import attribute_types
from foresail.pipeline.jobs.enrich import EnrichOrder, enrich_events
from foresail.pipeline.jobs.forecast import run_forecast
from foresail.pipeline.jobs.forecast_request import ForecastRequest
from foresail.pipeline.jobs.recognise import run_recognise
from foresail.pipeline.jobs.recognise_request import RecogniseRequest
from foresail.pipeline.progress import SILENT
from foresail.pipeline.settings import Settings, TopicSettings
from foresail.pipeline.stages.policy import Policy
from foresail.pipeline.stream.query.job import prepare_topics
from tests.pipeline.stream.meetings import BEGIN_S, BEHIND, arriving, positions, write_layers
from tests.pipeline.stream.recorded import CATALOG

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from foresail.pipeline.stream.query.job import Stream

pytestmark = [pytest.mark.kafka, pytest.mark.spark]
PAIRS = ("rendezvous", "encounter", "tugging", "collision_risk")
WITHIN_M = 3000.0
PATIENCE_S = 500
ROW = ["match_id", "status", "pattern", "track", "time", "index", "start_time", "first_start_time", "count"]
ALERT_SCHEMA = Path(__file__).resolve().parents[3] / "docs" / "alert.schema.json"

HEARD_LONG = """\
- name: heard_long
  version: 1
  domain: maritime
  says: A vessel has been heard for more than 90 minutes and it is late at night.
  where: {late: "minutes_since_start > 90 and hour(time) < 1 and is_night(time, lon, lat)"}
  pattern: late
  report: episodes
"""


def settings_in(folder: Path, servers: str, **stream: Any) -> Settings:
    values = {
        "topics": {kind: f"pairs-{kind}" for kind in TopicSettings.model_fields},
        "starting_offsets": "earliest",
        "checkpoint": folder / "checkpoint",
        "output": folder / "out",
        "to_kafka": False,
        "pairs_within_m": WITHIN_M,
        "out_of_order_s": 600.0,
        "buckets": 2,
        **stream,
    }
    layers = {"file": folder / "layers.yaml", "directory": folder / "layers"}
    kafka = {"bootstrap_servers": servers}
    return Settings.model_validate({"stream": values, "layers": layers, "kafka": kafka})


@contextmanager
def running(spark: "SparkSession", settings: Settings) -> "Iterator[Stream]":
    """A line that reads files as they arrive, until it is left."""
    from foresail.pipeline.stream.query.job import Stream

    stream = Stream(spark, settings, Policy(), SILENT)
    thread = threading.Thread(target=stream.run, args=(False,))
    thread.start()
    try:
        yield stream
    finally:
        stream.stop()
        thread.join(timeout=PATIENCE_S)
    assert not thread.is_alive()


def until(check: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while not check():
        assert time.monotonic() < deadline
        time.sleep(0.1)


def send(servers: str, topic: str, messages: list[str], stream: "Stream") -> None:
    """Have messages arrive, and wait until a micro-batch has read them."""
    from kafka import KafkaProducer

    def read() -> int:
        """How many messages of the topic have been read."""
        said = stream.query.lastProgress if stream.query is not None else None
        ends = [source["endOffset"] for source in json.loads(said.json)["sources"]] if said is not None else []
        return sum(sum(end[topic].values()) for end in ends if isinstance(end, dict) and topic in end)

    until(lambda: stream.query is not None and stream.query.lastProgress is not None)
    before = read()
    producer = KafkaProducer(bootstrap_servers=servers)
    for text in messages:
        producer.send(topic, text.encode(), key=str(json.loads(text).get("track", "")).encode())
    producer.close()
    until(lambda: read() >= before + len(messages) or not stream.query.isActive)


def in_parts(lines: list[str], parts: int) -> list[list[str]]:
    """Parts of random sizes; one begins when the vessel that is far behind is heard again after its silence."""
    places = np.random.default_rng(5).choice(np.arange(1, len(lines)), parts - 2, replace=False)
    times = [json.loads(line)["time"] if f'"{BEHIND}"' in line else 0 for line in lines]
    again = next(n for n, at in enumerate(times) if at > BEGIN_S + 91 * 60)
    return [part.tolist() for part in np.split(np.array(lines, dtype=object), np.sort([*places, again]))]


def store_with_model(folder: Path, known: Any) -> None:
    """A store with a model of rendezvous, from made-up counts."""
    (entry,) = catalog_named(["rendezvous"], "maritime", {})
    pattern = compile_pattern(entry.spec(), known)
    symbols = np.random.default_rng(0).integers(0, len(pattern.alphabet.codes), 4000).astype(np.int32)
    counts = count(symbols, np.arange(4000, dtype=np.int64) * 60_000_000, np.array([0, 4000]), pattern, 3)
    store = ModelStore(folder)
    store.keep_counts(counts)
    settings = ModelSettings(learn=LearnSettings(order=2), horizon=30, within=5, threshold=0.3)
    store.add(build(pattern, counts, settings))


def batch(spark: "SparkSession", folder: Path, rows: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Matches and forecasts as the commands make them: pairs made and enriched, then recognised and forecast."""
    from pyspark.sql import functions as F  # noqa: N812

    from foresail.pipeline.schemas import POSITION_COLUMNS
    from foresail.pipeline.stages.derive import DeriveOptions, derive

    plain = rows.drop(columns="behind_s").assign(offset=range(len(rows)))
    plain = plain.astype(object).where(plain.notna(), None)
    kinds = {name: kind.simpleString() for name, kind in POSITION_COLUMNS.items() if name in plain.columns}
    frame = spark.createDataFrame(plain, ", ".join(f"{n} {kinds[n] if n != 'time' else 'long'}" for n in plain.columns))
    frame = frame.withColumn("time", F.timestamp_seconds("time"))
    missing = {name: F.lit(None).cast(kind) for name, kind in POSITION_COLUMNS.items() if name not in frame.columns}
    derive(frame.withColumns(missing), DeriveOptions()).write.parquet(str(folder / "batch" / "events"))
    order = EnrichOrder(
        str(folder / "batch"), folder / "layers.yaml", folder / "pairs", folder / "layers", pairs_within_m=WITHIN_M
    )
    enrich_events(spark, order)
    store_with_model(folder / "models", attribute_types(spark.read.parquet(str(folder / "pairs" / "events")).schema))
    matches = []
    for events, names in (("batch", [str(folder / "patterns.yaml")]), ("pairs", list(PAIRS))):
        request = RecogniseRequest(
            [str(folder / events)], catalog_named(names, "maritime", {}), folder / f"found_{events}"
        )
        run_recognise(spark, request, SILENT)
        matches.append(spark.read.parquet(str(folder / f"found_{events}" / "matches")).toPandas())
    forecast = ForecastRequest(
        [str(folder / "pairs")],
        catalog_named(["rendezvous"], "maritime", {}),
        folder / "models",
        folder / "forecast",
        emission="all",
    )
    run_forecast(spark, forecast, SILENT)
    return pd.concat(matches), spark.read.parquet(str(folder / "forecast" / "forecasts")).toPandas()


def told(spark: "SparkSession", folder: Path, kind: str) -> pd.DataFrame:
    return spark.read.parquet(str(folder / "out" / kind)).toPandas()


def keys(rows: pd.DataFrame, columns: list[str]) -> set[tuple[Any, ...]]:
    plain = rows[columns].astype(object).where(rows[columns].notna(), None)
    return set(plain.itertuples(index=False, name=None))


def test_pairs_of_a_stream_are_recognised_and_forecast_as_in_a_batch(
    spark: "SparkSession", broker: str, tmp_path: Path
) -> None:
    rows = positions()
    write_layers(tmp_path)
    (tmp_path / "patterns.yaml").write_text(CATALOG + HEARD_LONG, encoding="utf-8")
    expected, forecasts = batch(spark, tmp_path, rows)
    assert set(expected["pattern"]) == {"stays", "hurries", "gathers_way", "heard_long", *PAIRS}
    settings = settings_in(
        tmp_path, broker, patterns=[str(tmp_path / "patterns.yaml"), *PAIRS], models=tmp_path / "models", emission="all"
    )
    prepare_topics(settings, 2)
    topics = settings.stream.topics
    parts = in_parts(arriving(rows, jitter_s=120.0), 6)
    with running(spark, settings) as stream:
        for part in parts[:3]:
            send(broker, topics.positions, part, stream)
    with running(spark, settings) as stream:
        for part in parts[3:]:
            send(broker, topics.positions, part, stream)
        send(broker, topics.control, ['{"id": "end", "flush": true}'], stream)
        turned = {"id": "knob", "pattern": "rendezvous", "threshold": 0.4}
        send(broker, topics.control, [json.dumps(turned)], stream)
        summary = stream._summary(1.0)
    agree(expected, told(spark, tmp_path, "matches"))
    live = told(spark, tmp_path, "forecasts")
    assert list(live.columns.drop("batch")) == list(forecasts.columns)
    assert keys(live, list(forecasts.columns)) == keys(forecasts, list(forecasts.columns))
    assert len(live) == live["forecast_id"].nunique()
    assert summary["late"] == 0
    replies = [json.loads(line) for file in sorted((tmp_path / "out" / "replies").iterdir()) for line in file.open()]
    assert [(reply["id"], reply["accepted"], reply["buckets"]) for reply in replies] == [
        ("end", True, 4),
        ("knob", True, 4),
    ]
    alerts_are_of_both_tracks([json.loads(text) for text in told(spark, tmp_path, "alerts")["payload"]])


def agree(expected: pd.DataFrame, live: pd.DataFrame) -> None:
    """Every row of batch and no other, each once, but for episodes that the clock closed after a track's last event."""
    wanted, there = keys(expected, ROW), keys(live, ROW)
    beyond = {row for row in there - wanted if row[1] == "timed_out"}
    assert wanted - there == set()
    assert there - wanted - beyond == set()
    assert len(live) == len(there)
    # a vessel that is behind by more than out_of_order_s is timed out too early; a pair with it is not
    ended = expected[expected["status"].isin(["closed", "timed_out"]) & expected["pattern"].isin(PAIRS)]["match_id"]
    assert not {row[0] for row in beyond} & set(ended)


def alerts_are_of_both_tracks(alerts: list[dict[str, Any]]) -> None:
    schema = json.loads(ALERT_SCHEMA.read_text(encoding="utf-8"))
    for alert in alerts:
        jsonschema.validate(alert, schema)
    told = next(a for a in alerts if a["pattern"] == "rendezvous" and a["kind"] == "match")
    assert "|" in told["track"]
    assert told["lon"] is not None
    assert told["arrived"] is not None
    assert "distance_m" in told["reason"]
