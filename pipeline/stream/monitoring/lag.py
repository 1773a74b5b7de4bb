"""How far a reader is behind a topic: from what its group committed, or from the checkpoint of a live line.

A Spark query commits no group offsets: what it has read is only known from its checkpoint. What it says of its lag is
how far it was behind when its last micro-batch was planned, which is nothing where that took all there was; so a line
that runs asks the broker itself.
"""

import json
import logging
import threading
from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from foresail.pipeline.errors import BrokerError, InputError

logger = logging.getLogger(__name__)

ASK_EVERY_S = 1.0
PATIENCE_S = 5.0


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


class LagWatch:
    """Tells every second how many records of a topic a running query has not finished reading."""

    def __init__(self, servers: str, topic: str, checkpoint: Path, from_earliest: bool) -> None:
        self._servers, self._topic, self._from_earliest = servers, topic, from_earliest
        self._done = read_progress(checkpoint, topic)
        self._closing = threading.Event()
        self._thread: threading.Thread | None = None

    def start(self, heard: Callable[[int], None]) -> None:
        """Ask in the background until `close`; `heard` receives each answer."""
        self._thread = threading.Thread(target=self._watch, args=(heard,), name="lag", daemon=True)
        self._thread.start()

    def finished(self, progress: Mapping[str, Any]) -> None:
        """Take over from what Spark says of a micro-batch up to where it has read."""
        ends = [source.get("endOffset") for source in progress.get("sources", [])]
        mine = [end[self._topic] for end in ends if isinstance(end, dict) and self._topic in end]
        if mine:
            self._done = {int(partition): int(offset) for partition, offset in mine[0].items()}

    def close(self) -> None:
        """Ask no more."""
        self._closing.set()
        if self._thread is not None:
            self._thread.join(timeout=PATIENCE_S)

    def _watch(self, heard: Callable[[int], None]) -> None:
        from kafka.errors import KafkaError  # noqa: PLC0415 - commands without Kafka do not load it

        while not self._closing.wait(ASK_EVERY_S):
            try:
                with closing(_consumer(self._servers)) as consumer:
                    self._ask(consumer, heard)
            except (KafkaError, BrokerError) as error:
                logger.info("lag: %s", error)  # who reads from a broker that is gone says so too

    def _ask(self, consumer: Any, heard: Callable[[int], None]) -> None:
        partitions = _partitions(consumer, self._servers, self._topic)
        begun = consumer.beginning_offsets(partitions) if self._from_earliest else consumer.end_offsets(partitions)
        while not self._closing.is_set():
            ends, done = consumer.end_offsets(partitions), self._done
            heard(sum(max(0, end - done.get(at.partition, begun[at])) for at, end in ends.items()))
            self._closing.wait(ASK_EVERY_S)


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
