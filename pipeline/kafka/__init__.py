"""Kafka: a real single-node broker for development and tests, and the topics on any broker."""

from foresail.pipeline.kafka.broker import BrokerStatus, start_broker, status_of, stop_broker
from foresail.pipeline.kafka.topics import create_topics, is_reachable

__all__ = ["BrokerStatus", "create_topics", "is_reachable", "start_broker", "status_of", "stop_broker"]
