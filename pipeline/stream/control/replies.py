"""Replies to control messages: to the topic of replies, and for refused ones to the topic of dead letters too."""

import json
from typing import Any

from foresail.pipeline.settings import Settings


class Replies:
    """Sends replies through a producer that is opened with the first one."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._producer: Any = None

    def send(self, replies: list[dict[str, Any]]) -> None:
        """Send each reply; returns when the broker has them."""
        servers = self._settings.kafka.bootstrap_servers
        if not replies or servers is None:
            return
        topics = self._settings.stream.topics
        for reply in replies:
            self.publish(topics.replies, reply)
            if not reply["accepted"]:
                self.publish(topics.dead_letters, reply)
        self._producer.flush()

    def publish(self, topic: str, value: dict[str, Any]) -> None:
        """Send one object to a topic."""
        if self._producer is None:
            from kafka import KafkaProducer  # noqa: PLC0415 - a line without Kafka does not load it

            self._producer = KafkaProducer(bootstrap_servers=self._settings.kafka.bootstrap_servers)
        key = value.get("id") or value.get("pattern")
        self._producer.send(
            topic, json.dumps(value).encode(), key=key.encode("utf-8", "replace") if isinstance(key, str) else None
        )

    def close(self) -> None:
        """Let go of the producer."""
        if self._producer is not None:
            self._producer.close()
