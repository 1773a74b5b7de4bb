"""The whole line with a real broker and real processes: killed, poisoned, reconfigured, and still as a batch."""

import json
import os
import random
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import jsonschema
import numpy as np
import pandas as pd
import pytest

from foresail.models.counts import count
from foresail.models.model import ModelSettings, build
from foresail.models.store import ModelStore
from foresail.models.suffix_tree import LearnSettings
from foresail.patterns.catalog.loader import read_catalog
from foresail.patterns.compiler import compile_pattern
from foresail.pipeline.progress import SILENT
from foresail.pipeline.settings import Settings, read_settings
from foresail.pipeline.stream.control.configure import Order, control_message, known_types, send
from tests.pipeline.stream.recorded import Message, messages, poison, positions, settings_file

pytestmark = [pytest.mark.kafka, pytest.mark.spark]
ROOT = Path(__file__).resolve().parents[3]
PATIENCE_S = 300


STARTED: list["subprocess.Popen[bytes]"] = []


@pytest.fixture(scope="module", autouse=True)
def nothing_left_running() -> Iterator[None]:
    """Whatever fails, no line goes on without its test."""
    yield
    for process in STARTED:
        if process.poll() is None:
            kill(process)


def start(settings: Path, log: Path) -> "subprocess.Popen[bytes]":
    """The command, as a user starts it."""
    with log.open("ab") as out:
        process = subprocess.Popen(
            [str(Path(sys.executable).with_name("foresail")), "stream", "--settings", str(settings), "--json"],
            cwd=ROOT,
            stdout=out,
            stderr=out,
            start_new_session=True,
        )
    STARTED.append(process)
    return process


def kill(process: "subprocess.Popen[bytes]") -> None:
    """Kill -9, with its Java process and its workers, as a power cut would."""
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()


class Broker:
    """Producing and reading through kafka-python."""

    def __init__(self, servers: str, settings: Settings) -> None:
        self.servers, self.topics = servers, settings.stream.topics

    def produce(self, sent: list[Message]) -> None:
        from kafka import KafkaProducer

        producer = KafkaProducer(bootstrap_servers=self.servers, max_request_size=20_000_000)
        for message in sent:
            producer.send(self.topics.positions, message.value, key=message.key.encode())
        producer.flush()
        producer.close()

    def read(self, topic: str) -> list[Any]:
        from kafka import KafkaConsumer, TopicPartition

        consumer = KafkaConsumer(bootstrap_servers=self.servers)
        partitions = [TopicPartition(topic, number) for number in consumer.partitions_for_topic(topic) or ()]
        consumer.assign(partitions)
        consumer.seek_to_beginning(*partitions)
        ends = consumer.end_offsets(partitions)
        values: list[Any] = []
        while any(consumer.position(partition) < end for partition, end in ends.items()):
            values += [json.loads(r.value) for records in consumer.poll(500).values() for r in records]
        consumer.close()
        return values


def until(check: Callable[[], bool], process: "subprocess.Popen[bytes]", log: Path) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while not check():
        assert process.poll() is None, log.read_text(encoding="utf-8", errors="replace")[-3000:]
        assert time.monotonic() < deadline, log.read_text(encoding="utf-8", errors="replace")[-3000:]
        time.sleep(0.5)


def store_with_model(folder: Path, catalog: Path) -> None:
    """A store with a model of order 2 of the pattern `stays`, from counts up to order 6."""
    entry = next(entry for entry in read_catalog([catalog]) if entry.name == "stays")
    pattern = compile_pattern(entry.spec(), known_types())
    rng = np.random.default_rng(0)
    symbols = rng.integers(0, len(pattern.alphabet.codes), 4000).astype(np.int32)
    times = np.arange(4000, dtype=np.int64) * 60_000_000
    counts = count(symbols, times, np.array([0, 4000]), pattern, 6)
    store = ModelStore(folder)
    store.keep_counts(counts)
    learn = LearnSettings(order=2)
    store.add(build(pattern, counts, ModelSettings(learn=learn, horizon=30, within=5, threshold=0.3)))


@dataclass
class Scenario:
    """Everything that came out."""

    matches: list[Any] = field(default_factory=list)
    forecasts: list[Any] = field(default_factory=list)
    alerts: list[Any] = field(default_factory=list)
    rejected: list[Any] = field(default_factory=list)
    late: list[Any] = field(default_factory=list)
    dead: list[Any] = field(default_factory=list)
    replies: dict[str, Any] = field(default_factory=dict)
    summary: dict[str, Any] = field(default_factory=dict)
    batch_when_sent: int = 0
    rows: pd.DataFrame = field(default_factory=pd.DataFrame)


def run_scenario(folder: Path, servers: str, prefix: str, kills: int) -> Scenario:
    from foresail.pipeline.kafka import create_topics

    file = settings_file(
        folder,
        servers,
        prefix,
        models=str(folder / "models"),
        emission="all",
        metrics_port=0,
        online={"score_share": 1},
    )
    settings = read_settings(file, environment={})
    store_with_model(folder / "models", folder / "patterns.yaml")
    wide(servers, settings.stream.topics.positions)
    create_topics(servers, settings.stream.topics.model_dump().values())
    broker, log, chance = Broker(servers, settings), folder / "log", random.Random(kills)
    scenario = Scenario(rows=positions())
    sent = messages(scenario.rows)
    parts = np.array_split(np.arange(len(sent)), kills + 2)
    topics = settings.stream.topics

    def produce(part: int) -> None:
        broker.produce([sent[n] for n in parts[part]])

    produce(0)
    broker.produce(list(poison()))
    process = start(file, log)
    for part in range(1, kills + 1):
        before = len(broker.read(topics.matches))
        until(lambda before=before: len(broker.read(topics.matches)) > before, process, log)
        time.sleep(chance.uniform(0, 2))
        kill(process)
        produce(part)
        process = start(file, log)
    scenario.replies["threshold"] = ask(settings, Order("stays", knobs={"threshold": 0.6}))
    before = {row["model_version"] for row in broker.read(topics.forecasts)}
    scenario.batch_when_sent = scenario.replies["threshold"]["batch"]
    scenario.replies["order"] = ask(settings, Order("stays", order=5))
    scenario.replies["kind"] = ask(settings, Order("stays", knobs={"kind": "interval", "horizon": 20}))
    scenario.replies["bad"] = send(settings, '{"id": "bad", "pattern": "nobody", "threshold": 0.1}', PATIENCE_S)
    scenario.replies["text"] = send(settings, "not a message", PATIENCE_S)
    produce(len(parts) - 1)
    until(lambda: bool({r["model_version"] for r in broker.read(topics.forecasts)} - before), process, log)
    kill(process)
    process = start(file, log)
    scenario.replies["flush"] = ask(settings, Order(flush=True))
    time.sleep(1)
    process.send_signal(signal.SIGTERM)
    assert process.wait(timeout=PATIENCE_S) == 0, log.read_text(encoding="utf-8", errors="replace")[-3000:]
    scenario.summary = json.loads(log.read_text(encoding="utf-8", errors="replace").strip().splitlines()[-1])
    scenario.matches, scenario.forecasts = broker.read(topics.matches), broker.read(topics.forecasts)
    scenario.alerts, scenario.rejected = broker.read(topics.alerts), broker.read(topics.rejected)
    scenario.late, scenario.dead = broker.read(topics.late), broker.read(topics.dead_letters)
    return scenario


def ask(settings: Settings, order: Order) -> dict[str, Any]:
    return send(settings, control_message(settings, order, SILENT), PATIENCE_S)


def wide(servers: str, topic: str) -> None:
    """A topic of three partitions that takes messages of 12 MB."""
    from kafka import KafkaAdminClient

    admin = KafkaAdminClient(bootstrap_servers=servers)
    configs = {"max.message.bytes": "12000000"}
    admin.create_topics(
        {topic: {"num_partitions": 3, "replication_factor": 1, "configs": configs}}, wait_for_metadata=True
    )
    admin.close()


@pytest.fixture(scope="module")
def scenario(tmp_path_factory: pytest.TempPathFactory, broker: str) -> Scenario:
    return run_scenario(tmp_path_factory.mktemp("live"), broker, "live", kills=1)


def expected(spark: Any, rows: pd.DataFrame, catalog: Path) -> set[tuple[Any, ...]]:
    """What batch says of the same positions: derived by windows, recognised at once."""
    from pyspark.sql import functions as F  # noqa: N812
    from pyspark.sql import types as T  # noqa: N812

    from foresail.patterns.spec import without_features
    from foresail.pipeline.conditions.spark import attribute_types
    from foresail.pipeline.schemas import POSITION_COLUMNS
    from foresail.pipeline.stages.derive import DeriveOptions, derive
    from foresail.pipeline.stages.recognise import Recognise

    frame = spark.createDataFrame(rows.assign(offset=range(len(rows))))
    frame = frame.withColumn("time", F.timestamp_seconds("time"))
    missing = {n: k for n, k in POSITION_COLUMNS.items() if n not in frame.columns}
    assert all(isinstance(kind, T.DataType) for kind in missing.values())
    frame = frame.withColumns({name: F.lit(None).cast(kind) for name, kind in missing.items()})
    events = derive(frame, DeriveOptions())
    known = attribute_types(events.schema)
    patterns = tuple(compile_pattern(without_features(e.spec()), known) for e in read_catalog([catalog]))
    return {row_key(row.asDict()) for row in Recognise(patterns)(events).collect()}


def row_key(row: dict[str, Any]) -> tuple[Any, ...]:
    times = (
        pd.Timestamp(row[name]).tz_localize(None)
        if pd.Timestamp(row[name]).tz is None
        else pd.Timestamp(row[name]).tz_convert(None)
        for name in ("time", "start_time", "first_start_time")
    )
    return (row["match_id"], row["status"], row["pattern"], row["track"], row["index"], row["count"], *times)


def agrees(scenario: Scenario, batch: set[tuple[Any, ...]], last_alone: bool = False) -> None:
    """Every row of batch and no other, but for episodes that the clock closed after a track's last position.

    With `last_alone` only the last row of each id and status is looked for.
    """
    live = {row_key(row) for row in scenario.matches}
    if last_alone:
        batch = set({row[:2]: row for row in sorted(batch, key=lambda row: (row[4], row[6]))}.values())
    last = scenario.rows.groupby("track")["time"].max()
    beyond = {
        row for row in live - batch if row[1] == "timed_out" and row[6] == pd.Timestamp(int(last[row[3]]), unit="s")
    }
    assert batch - live == set()
    assert live - batch - beyond == set()


def test_whatever_was_killed_the_rows_are_those_of_batch(scenario: Scenario, spark: Any, tmp_path: Path) -> None:
    from tests.pipeline.stream.recorded import CATALOG

    catalog = tmp_path / "patterns.yaml"
    catalog.write_text(CATALOG, encoding="utf-8")
    batch = expected(spark, scenario.rows, catalog)
    assert {row[2] for row in batch} == {"stays", "hurries", "turns", "gathers_way"}
    agrees(scenario, batch)


def test_poison_goes_to_rejected_with_a_reason_and_the_line_goes_on(scenario: Scenario) -> None:
    reasons = {(row["source"], row["line"]): row["reason"] for row in scenario.rejected}
    assert sorted(reasons.values()) == ["line_too_long", "no_position", "no_time", "unreadable", "unreadable"]
    longest = max(scenario.rejected, key=lambda row: row["raw_characters"])
    assert longest["raw_characters"] > 10_000_000
    assert len(longest["raw"]) == 100_000


def test_a_second_event_of_an_instant_is_set_aside_and_none_is_late(scenario: Scenario) -> None:
    assert {row["reason"] for row in scenario.late} == {"same_time"}


def test_control_messages_are_answered_and_bad_ones_buried(scenario: Scenario) -> None:
    assert scenario.replies["threshold"]["accepted"]
    assert scenario.replies["order"]["message"]["order"] == 5
    assert not scenario.replies["bad"]["accepted"]
    assert "unknown pattern 'nobody'" in scenario.replies["bad"]["reason"]
    assert "not JSON" in scenario.replies["text"]["reason"]
    assert {row["reason"] for row in scenario.dead} == {
        scenario.replies["bad"]["reason"],
        scenario.replies["text"]["reason"],
    }


def test_a_new_order_serves_forecasts_and_a_restart_comes_back_as_it_was(scenario: Scenario) -> None:
    holds = scenario.replies["flush"]["configuration"]["turned"]["stays"]
    version = scenario.replies["order"]["message"]["model_version"]
    assert holds["model_version"] == version
    assert (holds["threshold"], holds["kind"], holds["horizon"]) == (0.6, "interval", 20)
    made = {row["model_version"] for row in scenario.forecasts}
    assert len(made) == 2
    assert version in made
    late_ones = [row for row in scenario.forecasts if row["model_version"] == version]
    assert {row["kind"] for row in late_ones} <= {"interval", "within"}
    assert min(row["index"] for row in late_ones) > 1, "tracks went on with their history"


def test_alerts_fit_their_schema_and_say_why(scenario: Scenario) -> None:
    schema = json.loads((ROOT / "docs" / "alert.schema.json").read_text(encoding="utf-8"))
    assert {alert["status"] for alert in scenario.alerts} >= {"opened", "closed"}
    for alert in scenario.alerts:
        jsonschema.validate(alert, schema)
    told = next(a for a in scenario.alerts if a["pattern"] == "stays" and a["kind"] == "match")
    assert re.match(r"speed_kn [\d.]+ \(<", told["reason"])
    assert told["lon"] is not None
    assert told["severity"] == "warning"


@pytest.mark.soak
def test_killed_five_times_nothing_is_lost_and_nothing_extra(tmp_path: Path, broker: str, spark: Any) -> None:
    scenario = run_scenario(tmp_path, broker, "soak", kills=5)
    agrees(scenario, expected(spark, scenario.rows, tmp_path / "patterns.yaml"))


@pytest.mark.soak
def test_a_broker_that_is_gone_for_a_while_is_waited_for(tmp_path: Path, spark: Any) -> None:
    from foresail.pipeline.kafka import create_topics, start_broker, stop_broker
    from foresail.pipeline.kafka.broker import free_port

    jars, port, home = read_settings(environment={}).jars.directory, free_port(), tmp_path / "kafka"
    servers = str(start_broker(home, port, jars).address)
    file = settings_file(tmp_path, servers, "gone")
    settings, log = read_settings(file, environment={}), tmp_path / "log"
    create_topics(servers, settings.stream.topics.model_dump().values())
    broker, scenario = Broker(servers, settings), Scenario(rows=positions())
    sent = messages(scenario.rows)
    broker.produce(sent[: len(sent) // 2])
    process = start(file, log)
    until(lambda: bool(broker.read(settings.stream.topics.matches)), process, log)
    stop_broker(home)
    time.sleep(30)
    start_broker(home, port, jars)
    broker.produce(sent[len(sent) // 2 :])
    ask(settings, Order(flush=True))
    time.sleep(5)
    ask(settings, Order(flush=True))
    process.send_signal(signal.SIGTERM)
    assert process.wait(timeout=PATIENCE_S) == 0
    scenario.matches = broker.read(settings.stream.topics.matches)
    stop_broker(home)
    agrees(scenario, expected(spark, scenario.rows, tmp_path / "patterns.yaml"))


@pytest.mark.soak
def test_late_events_are_read_after_all_and_the_last_words_are_those_of_batch(
    tmp_path: Path, broker: str, spark: Any
) -> None:
    from foresail.pipeline.kafka import create_topics

    file = settings_file(tmp_path, broker, "late", rerun_s=10_800.0)
    settings, log = read_settings(file, environment={}), tmp_path / "log"
    create_topics(broker, settings.stream.topics.model_dump().values())
    line, rows = Broker(broker, settings), positions()
    sent = messages(rows, duplicates=0.0)
    half = len(sent) // 2
    line.produce([message for n, message in enumerate(sent[:half]) if n % 23])
    process = start(file, log)
    ask(settings, Order(flush=True))  # the tracks are read beyond those that were held back
    line.produce([message for n, message in enumerate(sent[:half]) if not n % 23])
    line.produce(sent[half:])
    until(lambda: len(line.read(settings.stream.topics.late)) >= half // 23, process, log)
    ask(settings, Order(flush=True))
    process.send_signal(signal.SIGTERM)
    assert process.wait(timeout=PATIENCE_S) == 0
    told = line.read(settings.stream.topics.matches)
    assert "retracted" in {row["status"] for row in told}
    assert all(row["rerun"] for row in line.read(settings.stream.topics.late))
    batch = expected(spark, rows, tmp_path / "patterns.yaml")
    agrees(Scenario(matches=last_words(told), rows=rows), batch, last_alone=True)


def last_words(told: list[Any]) -> list[Any]:
    """What a reader holds in the end who keeps the last row of each id and status, and drops an id at `retracted`."""
    held: dict[str, dict[str, Any]] = {}
    for row in told:
        if row["status"] == "retracted":
            held.pop(row["match_id"], None)
        else:
            held.setdefault(row["match_id"], {})[row["status"]] = row
    return [row for rows in held.values() for row in rows.values()]
