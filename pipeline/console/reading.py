"""Reads what a line tells, in the background: its topics, or the folders of its Parquet output.

Whatever happens to the broker, the line or a row, reading goes on; `Feed` says how it stands.
"""

import json
import logging
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from foresail.pipeline.console.rows import RowError, alert_of, forecast_of, parse, position_of
from foresail.pipeline.console.store import Store
from foresail.pipeline.errors import InputError
from foresail.pipeline.settings import Settings

logger = logging.getLogger(__name__)

POLL_MS = 200
LOOK_EVERY_S = 0.5
AGAIN_AFTER_S = 2.0
SILENT_AFTER_S = 60.0
READ = ("tracks", "alerts", "forecasts", "scores", "replies", "rejected")


@dataclass(slots=True)
class Feed:
    """How reading stands."""

    source: str
    state: str = "connecting"
    """connecting, reading, gone"""
    said: str = ""
    missing: tuple[str, ...] = ()
    """Topics or folders that are not there."""
    heard: float | None = None
    """When the last row came, by the wall clock."""
    caught_up: bool = False

    def summary(self) -> dict[str, Any]:
        """As the page shows it."""
        silent = None if self.heard is None else max(0.0, time.time() - self.heard)
        state = "silent" if self.state == "reading" and silent is not None and silent > SILENT_AFTER_S else self.state
        return {
            "source": self.source,
            "state": state,
            "said": self.said,
            "missing": list(self.missing),
            "silent_s": None if silent is None else round(silent, 1),
            "caught_up": self.caught_up,
        }


class Reader:
    """A thread that reads until `close`."""

    def __init__(self, settings: Settings, store: Store) -> None:
        self._settings, self._store = settings, store
        self.feed = Feed(_source(settings))
        self._next: dict[tuple[str, int], int] = {}
        """By topic and partition the offset to read next: a broker that comes back is not read twice."""
        self._closing = threading.Event()
        self._thread = threading.Thread(target=self._run, name="console reader", daemon=True)

    def start(self) -> None:
        """Begin to read."""
        self._thread.start()

    def close(self) -> None:
        """Read no more."""
        self._closing.set()
        if self._thread.is_alive():
            self._thread.join(timeout=10)

    def _run(self) -> None:
        stream = self._settings.stream
        read = self._read_topics if _has_topics(self._settings) else self._read_folders
        while not self._closing.is_set():
            try:
                read()
            except Exception as error:  # a reader that has died would show an old picture for ever
                self.feed.state = "gone"
                self.feed.said = " ".join(str(error).split())[:300] or type(error).__name__
                logger.info("console: reading of %s stopped: %s", stream.output or self.feed.source, self.feed.said)
                self._closing.wait(AGAIN_AFTER_S)

    def _read_topics(self) -> None:
        from kafka import KafkaConsumer  # noqa: PLC0415 - a console of files does not load it

        topics = {getattr(self._settings.stream.topics, name): name for name in READ}
        servers = self._settings.kafka.bootstrap_servers
        consumer = KafkaConsumer(bootstrap_servers=servers, enable_auto_commit=False, auto_offset_reset="earliest")
        try:
            followed: set[str] = set()
            looked = 0.0
            while not self._closing.is_set():
                if time.monotonic() - looked > AGAIN_AFTER_S:
                    looked = time.monotonic()
                    followed = self._follow(consumer, topics, followed)
                    self._check_broker(consumer)
                for place, records in consumer.poll(POLL_MS).items():
                    for record in records:
                        self.hear(topics[place.topic], record.value)
                        self._next[place.topic, place.partition] = record.offset + 1
                self.feed.state = "reading" if followed else "gone"
        finally:
            consumer.close()

    def _check_broker(self, consumer: Any) -> None:
        """kafka-python waits for a broker that is gone without a word: ask whether it is there."""
        asked = list(consumer.assignment())[:1]
        if asked:
            consumer.end_offsets(asked)
        self.feed.said = "" if asked else "none of the line's topics is there yet"

    def _follow(self, consumer: Any, topics: dict[str, str], followed: set[str]) -> set[str]:
        """Also read topics that have come to be since; from as far back as is kept."""
        from kafka import TopicPartition  # noqa: PLC0415

        there = set(topics) & set(consumer.topics())
        self.feed.missing = tuple(sorted(set(topics) - there))
        new = there - followed
        if not new:
            return followed
        at = {place: consumer.position(place) for place in consumer.assignment()}
        places = [TopicPartition(topic, n) for topic in new for n in consumer.partitions_for_topic(topic) or ()]
        consumer.assign([*at, *places])
        for place, offset in at.items():
            consumer.seek(place, offset)
        since_ms = round((time.time() - self._settings.console.keep_hours * 3600) * 1000)
        starts, ends = consumer.offsets_for_times(dict.fromkeys(places, since_ms)), consumer.end_offsets(places)
        for place in places:
            found, known = starts.get(place), self._next.get((place.topic, place.partition))
            consumer.seek(place, known or (ends[place] if found is None else found.offset))
        return there

    def _read_folders(self) -> None:
        output = self._settings.stream.output
        if output is None:
            msg = "neither topics nor an output folder. Set kafka.bootstrap_servers or stream.output."
            raise InputError(msg)
        done: dict[str, set[str]] = {name: set() for name in READ}
        hear = dict.fromkeys(READ, self.hear)
        while not self._closing.is_set():
            found = False
            for name in READ:
                folder = output / name
                for batch in sorted(folder.glob("batch=*")) if folder.is_dir() else ():
                    if batch.name not in done[name] and (batch.is_file() or (batch / "_SUCCESS").exists()):
                        done[name].add(batch.name)
                        found = True
                        _read_batch(name, batch, hear[name])
            self.feed.missing = tuple(name for name in ("tracks", "alerts") if not (output / name).is_dir())
            self.feed.state, self.feed.said = "reading", ""
            self.feed.caught_up = True
            if not found:
                self._closing.wait(LOOK_EVERY_S)

    def hear(self, name: str, value: str | bytes | None) -> None:
        """Take in one row of `name`."""
        self.feed.heard = time.time()
        try:
            self._keep(name, parse(value))
        except RowError as error:
            self._store.hear_unreadable(name, str(error), value)

    def _keep(self, name: str, row: dict[str, Any]) -> None:
        store = self._store
        match name:
            case "tracks":
                store.hear_position(position_of(row))
            case "alerts":
                store.hear_alert(alert_of(row))
            case "forecasts":
                store.hear_forecast(forecast_of(row))
            case "scores" if isinstance(row.get("pattern"), str):
                store.scores[row["pattern"][:200]] = row
            case "replies":
                store.replies.append(row)
            case "rejected":
                store.totals["rejected"] += 1
                store.rejected.append({key: str(row.get(key))[:300] for key in ("source", "line", "reason", "raw")})


def _read_batch(name: str, batch: Path, hear: Callable[[str, str], None]) -> None:
    """The rows of one micro-batch: JSON in `payload`, or columns."""
    if batch.is_file():
        for line in batch.read_text(encoding="utf-8").splitlines():
            hear(name, line)
        return
    import pyarrow.parquet as pq  # noqa: PLC0415 - a console of topics does not load it

    for file in sorted(batch.glob("*.parquet")):
        table = pq.read_table(file)
        if "payload" in table.column_names:
            for text in table.column("payload").to_pylist():
                hear(name, text)
        else:
            for row in table.to_pylist():
                hear(name, json.dumps(row, default=str))


def _has_topics(settings: Settings) -> bool:
    return settings.kafka.bootstrap_servers is not None and settings.stream.to_kafka


def _source(settings: Settings) -> str:
    if _has_topics(settings):
        return f"Kafka at {settings.kafka.bootstrap_servers}"
    return f"files in {settings.stream.output}"
