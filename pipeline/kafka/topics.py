"""Topics, made and asked for through kafka-python: control work only, records in bulk go through Spark."""

import logging
from collections.abc import Iterable
from contextlib import closing

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
