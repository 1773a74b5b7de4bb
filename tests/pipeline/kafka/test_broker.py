"""The development broker starts, answers, stops, and names every obstacle."""

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from foresail.pipeline.errors import BrokerError, OutputError
from foresail.pipeline.kafka import create_topics, start_broker, status_of, stop_broker
from foresail.pipeline.kafka.broker import free_port
from foresail.pipeline.settings import read_settings

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

CACHE = read_settings(environment={}).jars.directory


def ended_process() -> int:
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    return ended.pid


def pid_file(folder: Path, pid: int, port: int = 1) -> Path:
    file = folder / "kafka.pid"
    file.write_text(json.dumps({"pid": pid, "port": port}))
    return file


@pytest.mark.kafka
@pytest.mark.spark
def test_records_go_in_and_come_out_through_python_and_through_spark(
    broker: str, spark: "SparkSession", tmp_path: Path
) -> None:
    from kafka import KafkaConsumer, KafkaProducer

    topic, sent = "broker-test-positions", [f"position {number}".encode() for number in range(100)]
    create_topics(broker, [topic], partitions=2)
    producer = KafkaProducer(bootstrap_servers=broker)
    for value in sent:
        producer.send(topic, value)
    producer.close()

    consumer = KafkaConsumer(
        topic, bootstrap_servers=broker, auto_offset_reset="earliest", consumer_timeout_ms=20_000, group_id="test"
    )
    received = [record.value for _, record in zip(sent, consumer, strict=False)]
    consumer.close()
    assert sorted(received) == sorted(sent)

    source = spark.readStream.format("kafka").option("kafka.bootstrap.servers", broker).option("subscribe", topic)
    query = (
        source.option("startingOffsets", "earliest")
        .load()
        .selectExpr("CAST(value AS STRING) AS value")
        .writeStream.format("memory")
        .queryName("broker_test_positions")
        .option("checkpointLocation", str(tmp_path / "checkpoint"))
        .trigger(availableNow=True)
        .start()
    )
    assert query.awaitTermination(120)
    streamed = [row.value.encode() for row in spark.table("broker_test_positions").collect()]
    assert sorted(streamed) == sorted(sent)


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    """A folder whose broker, if one still runs when the test has failed, is stopped."""
    place = tmp_path / "a broker"
    yield place
    if status_of(place).running:
        stop_broker(place)


@pytest.mark.kafka
def test_a_broker_keeps_its_records_over_stop_kill_and_another_port(folder: Path) -> None:
    from kafka import KafkaConsumer, KafkaProducer

    first = start_broker(folder, free_port(), CACHE)
    assert first.running
    assert first.address is not None
    assert start_broker(folder, first.port or 0, CACHE) == first, "a second start leaves it alone"
    with pytest.raises(BrokerError, match=f"runs there on port {first.port}"):
        start_broker(folder, free_port(), CACHE)
    create_topics(first.address, ["kept"])
    create_topics(first.address, ["kept"])
    producer = KafkaProducer(bootstrap_servers=first.address)
    producer.send("kept", b"still here")
    producer.close()
    os.kill(first.pid or 0, signal.SIGKILL)
    deadline = time.monotonic() + 30
    while status_of(folder).running and time.monotonic() < deadline:
        time.sleep(0.1)
    assert status_of(folder).stale

    second = start_broker(folder, free_port(), CACHE)
    assert second.address is not None
    consumer = KafkaConsumer(
        "kept", bootstrap_servers=second.address, auto_offset_reset="earliest", consumer_timeout_ms=20_000
    )
    assert next(consumer).value == b"still here"
    consumer.close()
    assert stop_broker(folder).pid == second.pid
    assert not status_of(folder).running
    assert not (folder / "kafka.pid").exists()


def test_a_port_in_use_is_named(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(BrokerError, match=f"port {port}: cannot be used .* --port"):
            start_broker(tmp_path / "broker", port, CACHE)
    assert not (tmp_path / "broker").exists()


def test_a_stale_pid_file_is_told_and_removed(tmp_path: Path) -> None:
    file = pid_file(tmp_path, ended_process())
    assert status_of(tmp_path).stale
    with pytest.raises(BrokerError, match="already gone; its pid file was removed"):
        stop_broker(tmp_path)
    assert not file.exists()


def test_a_pid_that_now_belongs_to_another_program_is_left_alone(tmp_path: Path) -> None:
    pid_file(tmp_path, os.getpid())
    assert not status_of(tmp_path).running
    with pytest.raises(BrokerError, match="already gone"):
        stop_broker(tmp_path)


@pytest.mark.parametrize("text", ["", "not json", "[]", '{"pid": "x"}'])
def test_a_torn_pid_file_is_stale(tmp_path: Path, text: str) -> None:
    (tmp_path / "kafka.pid").write_text(text)
    assert status_of(tmp_path).stale


def test_stopping_what_was_never_started_says_so(tmp_path: Path) -> None:
    with pytest.raises(BrokerError, match="no broker was started there"):
        stop_broker(tmp_path)


def test_a_folder_with_foreign_content_is_refused(tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("mine")
    with pytest.raises(OutputError, match="did not write"):
        start_broker(tmp_path, free_port(), CACHE)


@pytest.mark.kafka
def test_records_without_their_meta_file_are_a_damaged_folder(tmp_path: Path) -> None:
    (tmp_path / ".foresail").write_text("foresail kafka\n")
    (tmp_path / "data" / "topic-0").mkdir(parents=True)
    with pytest.raises(BrokerError, match=r"data: is damaged .*Remove"):
        start_broker(tmp_path, free_port(), CACHE)


@pytest.mark.kafka
def test_a_garbled_meta_file_is_a_damaged_folder_in_one_line(tmp_path: Path) -> None:
    (tmp_path / ".foresail").write_text("foresail kafka\n")
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "meta.properties").write_text("version=9\ncluster.id=nonsense\n")
    with pytest.raises(BrokerError, match=r"Kafka ended at once \(.*\)\. If its data is damaged") as caught:
        start_broker(tmp_path, free_port(), CACHE)
    assert "\n" not in str(caught.value)
    assert not (tmp_path / "kafka.pid").exists()
