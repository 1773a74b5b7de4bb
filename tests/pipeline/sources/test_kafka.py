"""A real topic is read like any feed: ingested whole, and as a stream through the same adapter."""

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from kafka import KafkaProducer

from foresail.pipeline.jobs.ingest import ingest
from foresail.pipeline.jobs.ingest_order import IngestOrder
from foresail.pipeline.kafka import create_topics
from foresail.pipeline.sinks.output_folder import claim_output
from foresail.pipeline.sources.feeds import find_feed
from foresail.pipeline.sources.kafka import Topic
from foresail.pipeline.stages.policy import Policy

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

NOW = datetime(2024, 6, 1, tzinfo=UTC)
TOPIC = "positions-of-test-kafka"


def message(minute: int, lat: float = 57.5) -> str:
    time = f"2024-05-01T10:{minute:02d}:00Z"
    return json.dumps({"track": "219001559", "mmsi": 219001559, "time": time, "lon": 9.9, "lat": lat, "speed_kn": 1.0})


@pytest.fixture(scope="module")
def topic(broker: str) -> Topic:
    create_topics(broker, [TOPIC])
    producer = KafkaProducer(bootstrap_servers=broker)
    for text in (message(0), message(1), message(1), message(2, lat=0.0).replace("9.9", "0.0"), "not JSON", message(3)):
        producer.send(TOPIC, text.encode(), key=b"219001559")
    producer.flush()
    producer.close()
    return Topic(broker, TOPIC)


@pytest.mark.kafka
@pytest.mark.spark
def test_a_topic_is_ingested_and_balances(spark: "SparkSession", topic: Topic, tmp_path: Path) -> None:
    out = claim_output(tmp_path / "out", "ingest")
    address = f"kafka://{topic.servers}/{topic.name}"
    result = ingest(spark, IngestOrder(find_feed("kafka_json"), (address,), out, Policy(), NOW))
    assert (result.rows_in, result.rows_out, result.rejected, result.duplicates) == (6, 3, 2, 1)
    assert spark.read.parquet(str(out / "events")).count() == 3
