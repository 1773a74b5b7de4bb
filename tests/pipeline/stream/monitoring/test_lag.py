"""How far a line is behind, as the broker says it while a micro-batch is under way."""

import time
from collections.abc import Callable
from pathlib import Path

import pytest

from foresail.pipeline.kafka import create_topics
from foresail.pipeline.stream.monitoring.lag import LagWatch

pytestmark = pytest.mark.kafka


def until(check: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 60
    while not check():
        assert time.monotonic() < deadline
        time.sleep(0.2)


def produce(servers: str, topic: str, number: int) -> None:
    from kafka import KafkaProducer

    producer = KafkaProducer(bootstrap_servers=servers)
    for _ in range(number):
        producer.send(topic, b"{}")
    producer.close()


@pytest.mark.parametrize(("from_earliest", "behind"), [(True, 30), (False, 0)])
def test_messages_that_come_while_a_micro_batch_is_under_way_wait(
    broker: str, tmp_path: Path, from_earliest: bool, behind: int
) -> None:
    topic, heard = f"lag-{from_earliest}", list[int]()
    create_topics(broker, [topic])
    produce(broker, topic, 30)
    watch = LagWatch(broker, topic, tmp_path, from_earliest)
    watch.start(heard.append)
    try:
        until(lambda: heard[-1:] == [behind])
        produce(broker, topic, 12)
        until(lambda: heard[-1:] == [behind + 12])
        watch.finished({"sources": [{"endOffset": None}, {"endOffset": {topic: {"0": 40}}}]})
        until(lambda: heard[-1:] == [2])
        produce(broker, topic, 5)
        until(lambda: heard[-1:] == [7])
    finally:
        watch.close()
    asked = len(heard)
    time.sleep(1.5)
    assert len(heard) == asked
