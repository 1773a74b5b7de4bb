"""How far a reader is behind a topic: from what its group committed, or from the checkpoint of a live line.

A Spark query commits no group offsets: what it has read is only known from its checkpoint.
"""

import json
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pipeline.errors import BrokerError, InputError


@dataclass(frozen=True, slots=True)
class Reader:
    """Who reads the topic: a consumer group, or a live line by its checkpoint."""

    group: str | None = None
    checkpoint: Path | None = None


def lag_of(servers: str, topic: str, reader: Reader, start: Mapping[int, int]) -> int:
    """How many records of `topic` the reader has not read; it began at `start` where nothing is known of it."""
    ends = end_offsets(servers, topic)
    done = _committed(servers, topic, reader.group) if reader.group else read_progress(reader.checkpoint, topic)
    return sum(max(0, end - done.get(partition, start.get(partition, 0))) for partition, end in ends.items())


def end_offsets(servers: str, topic: str) -> dict[int, int]:
    """For each partition the offset of the record that comes next."""
    with closing(_consumer(servers)) as consumer:
        partitions = _partitions(consumer, servers, topic)
        return {place.partition: end for place, end in consumer.end_offsets(partitions).items()}


def read_progress(checkpoint: Path | None, topic: str) -> dict[int, int]:
    """The offsets of `topic` up to which the query of that checkpoint has finished its micro-batches."""
    assert checkpoint is not None, "a reader has a group or a checkpoint"
    commits = checkpoint / "commits"
    finished = [int(file.name) for file in commits.glob("*") if file.name.isdigit()] if commits.is_dir() else []
    if not finished:
        return {}
    offsets = checkpoint / "offsets" / str(max(finished))
    try:
        lines = offsets.read_text(encoding="utf-8").splitlines()
    except OSError as error:
        msg = f"{offsets}: cannot be read ({error.strerror}). Name the checkpoint folder of the stream."
        raise InputError(msg) from None
    for line in lines:
        found = _topic_offsets(line, topic)
        if found is not None:
            return found
    return {}


def _topic_offsets(line: str, topic: str) -> dict[int, int] | None:
    try:
        held = json.loads(line)
    except ValueError:
        return None
    of_topic = held.get(topic) if isinstance(held, dict) else None
    return (
        {int(partition): int(offset) for partition, offset in of_topic.items()} if isinstance(of_topic, dict) else None
    )


def _committed(servers: str, topic: str, group: str) -> dict[int, int]:
    with closing(_consumer(servers, group)) as consumer:
        done = {place.partition: consumer.committed(place) for place in _partitions(consumer, servers, topic)}
    return {partition: offset for partition, offset in done.items() if offset is not None}


def _consumer(servers: str, group: str | None = None) -> Any:
    from kafka import KafkaConsumer  # noqa: PLC0415 - commands without Kafka do not load it
    from kafka.errors import KafkaError  # noqa: PLC0415

    try:
        return KafkaConsumer(bootstrap_servers=servers, group_id=group, enable_auto_commit=False)
    except KafkaError as error:
        msg = f"{servers}: no Kafka broker answers ({error}). Start one with `foresail kafka start`."
        raise BrokerError(msg) from None


def _partitions(consumer: Any, servers: str, topic: str) -> list[Any]:
    from kafka import TopicPartition  # noqa: PLC0415

    numbers = consumer.partitions_for_topic(topic)
    if not numbers:
        msg = f"{servers}: there is no topic '{topic}'. Check its name."
        raise BrokerError(msg)
    return [TopicPartition(topic, number) for number in sorted(numbers)]
