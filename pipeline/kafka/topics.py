"""Topics, made and asked for through kafka-python: control work only, records in bulk go through Spark.

What a single-node broker in KRaft mode must be told: broker and controller in one process, loopback only.
"""

import logging
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path

from foresail.pipeline.errors import BrokerError

PATIENCE_MS = 5000


def create_topics(address: str, names: Iterable[str], partitions: int = 1) -> None:
    """Make the topics that do not exist yet; they are ready to be written to when this returns."""
    from kafka import KafkaAdminClient  # noqa: PLC0415 - commands without Kafka do not load it
    from kafka.errors import KafkaError, TopicAlreadyExistsError  # noqa: PLC0415

    wanted = set(names)
    try:
        with closing(KafkaAdminClient(bootstrap_servers=address, bootstrap_timeout_ms=PATIENCE_MS)) as admin:
            missing = sorted(wanted - set(admin.list_topics()))
            topics = {name: {"num_partitions": partitions, "replication_factor": 1} for name in missing}
            if topics:
                admin.create_topics(topics, wait_for_metadata=True)
    except TopicAlreadyExistsError:  # another process was quicker
        return
    except KafkaError as error:
        listed = ", ".join(sorted(wanted))
        msg = f"{address}: topics {listed} could not be made ({error}). Check the broker and the names."
        raise BrokerError(msg) from None


def is_reachable(address: str, patience_ms: int = PATIENCE_MS) -> bool:
    """Whether a Kafka broker answers at `address` (host:port, or several with commas)."""
    from kafka import KafkaAdminClient  # noqa: PLC0415
    from kafka.errors import KafkaError  # noqa: PLC0415

    silenced = logging.getLogger("kafka")
    before = silenced.level
    silenced.setLevel(logging.CRITICAL)  # a broker that is not there yet is no error here
    try:
        with closing(KafkaAdminClient(bootstrap_servers=address, bootstrap_timeout_ms=patience_ms)) as admin:
            return bool(admin.describe_cluster())
    except (KafkaError, OSError, ValueError):
        return False
    finally:
        silenced.setLevel(before)


HOST = "127.0.0.1"


def server_properties(port: int, controller_port: int, data: Path) -> str:
    """The text of server.properties."""
    values = {
        "process.roles": "broker,controller",
        "node.id": "1",
        "listeners": f"PLAINTEXT://{HOST}:{port},CONTROLLER://{HOST}:{controller_port}",
        "advertised.listeners": f"PLAINTEXT://{HOST}:{port},CONTROLLER://{HOST}:{controller_port}",
        "controller.listener.names": "CONTROLLER",
        "inter.broker.listener.name": "PLAINTEXT",
        "listener.security.protocol.map": "PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT",
        "controller.quorum.bootstrap.servers": f"{HOST}:{controller_port}",
        "offsets.topic.replication.factor": "1",
        "offsets.topic.num.partitions": "4",
        "transaction.state.log.replication.factor": "1",
        "transaction.state.log.min.isr": "1",
        "share.coordinator.state.topic.replication.factor": "1",
        "share.coordinator.state.topic.min.isr": "1",
        "group.initial.rebalance.delay.ms": "0",
        "auto.create.topics.enable": "false",
        "log.dirs": _escaped(str(data)),
    }
    return "".join(f"{key}={value}\n" for key, value in values.items())


def controller_port_in(text: str) -> int | None:
    """The controller's port in the text of a server.properties: it is part of the data and must not change."""
    for line in text.splitlines():
        if line.startswith("controller.quorum.bootstrap.servers="):
            port = line.rpartition(":")[2]
            return int(port) if port.isdigit() else None
    return None


def _escaped(text: str) -> str:
    """Java reads properties as Latin-1 with backslash escapes."""
    return "".join(f"\\u{ord(c):04x}" if ord(c) > 126 or c in "\\" else c for c in text)
