"""Topics are made once, and a broker that is not there is one line."""

import pytest

from foresail.pipeline.errors import BrokerError
from foresail.pipeline.kafka import create_topics, is_reachable


@pytest.mark.kafka
def test_topics_are_made_with_their_partitions(broker: str) -> None:
    from kafka import KafkaConsumer

    create_topics(broker, ["topics-test-a", "topics-test-b"], partitions=3)
    consumer = KafkaConsumer(bootstrap_servers=broker)
    assert consumer.partitions_for_topic("topics-test-b") == {0, 1, 2}
    consumer.close()


@pytest.mark.kafka
def test_a_name_that_kafka_refuses_is_one_line(broker: str) -> None:
    with pytest.raises(BrokerError, match=r"topics no such name could not be made") as caught:
        create_topics(broker, ["no such name"])
    assert "\n" not in str(caught.value)


def test_a_broker_that_is_not_there_is_not_reachable() -> None:
    assert not is_reachable("127.0.0.1:9", patience_ms=500)
    assert not is_reachable("no.such.host.invalid:9092", patience_ms=500)


def test_topics_on_a_broker_that_is_not_there_are_one_line() -> None:
    with pytest.raises(BrokerError, match=r"127\.0\.0\.1:9: topics a could not be made"):
        create_topics("127.0.0.1:9", ["a"])
