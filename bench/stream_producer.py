"""Recorded messages to a topic at a rate, from a process of its own that costs the line next to nothing.

    .venv/bin/python -m bench.stream_producer SERVERS TOPIC FOLDER RATE

Prints the seconds that have passed and the messages that were sent, a line for each second.
"""

import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pyarrow.parquet as pq
from confluent_kafka import Producer

TICKS = 50
"""In so many steps a second's messages are sent."""


def recorded_messages(folder: Path) -> Iterator[tuple[str, str]]:
    """Keys and values in the order in which they were recorded."""
    for file in sorted(folder.glob("*.parquet")):
        for batch in pq.ParquetFile(file).iter_batches(50_000, columns=["key", "value"]):
            yield from zip(batch.column("key").to_pylist(), batch.column("value").to_pylist(), strict=True)


def send(servers: str, topic: str, folder: Path, rate: int) -> None:
    """Send all that was recorded, `rate` messages a second."""
    producer = Producer(
        {"bootstrap.servers": servers, "linger.ms": 10, "queue.buffering.max.messages": 2_000_000, "acks": "all"}
    )
    began, sent, told = time.monotonic(), 0, 0
    for key, value in recorded_messages(folder):
        if sent % max(1, rate // TICKS) == 0:
            producer.poll(0)
            time.sleep(max(0.0, began + sent / rate - time.monotonic()))
            if time.monotonic() - began >= told + 1:
                told += 1
                print(f"{time.monotonic() - began:.3f} {sent}", flush=True)
        while True:
            try:
                producer.produce(topic, value, key)
                break
            except BufferError:  # the broker is behind: wait for it
                producer.poll(0.1)
        sent += 1
    producer.flush()
    print(f"{time.monotonic() - began:.3f} {sent}", flush=True)


if __name__ == "__main__":
    send(sys.argv[1], sys.argv[2], Path(sys.argv[3]), int(sys.argv[4]))
