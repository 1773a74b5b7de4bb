"""Topics are made once, and a broker that is not there is one line.

The broker's properties are read back as they were written.
"""

from pathlib import Path

import pytest

from foresail.pipeline.errors import BrokerError
from foresail.pipeline.kafka import create_topics, is_reachable
from foresail.pipeline.kafka.topics import controller_port_in, server_properties


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


def test_the_controllers_port_is_found_again() -> None:
    assert controller_port_in(server_properties(1, 54321, Path("/x"))) == 54321


def test_a_text_without_one_has_none() -> None:
    assert controller_port_in("a=b\ncontroller.quorum.bootstrap.servers=\n") is None


def test_only_the_loopback_address_is_listened_on() -> None:
    listeners = [line for line in server_properties(1, 2, Path("/x")).splitlines() if "listeners=" in line]
    assert listeners
    assert all("//127.0.0.1:1," in line and line.endswith("//127.0.0.1:2") for line in listeners)


def test_a_folder_with_other_letters_is_escaped_for_java() -> None:
    assert "log.dirs=/caf\\u00e9 au lait\n" in server_properties(1, 2, Path("/café au lait"))
