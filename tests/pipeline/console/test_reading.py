"""Topics of a real broker: rows reach an open page in time, operations reach their topic, a broker may go and come."""

import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from kafka import KafkaConsumer, KafkaProducer

from foresail.pipeline.console.serving import Server
from foresail.pipeline.kafka import create_topics, start_broker, stop_broker
from foresail.pipeline.kafka.broker import free_port
from foresail.pipeline.settings import Settings, read_settings
from tests.pipeline.console.conftest import serving, until
from tests.pipeline.console.recorded_line import alert, position

pytestmark = pytest.mark.kafka
WITHIN_S = 3.0


def topic_settings(servers: str, folder: Path, prefix: str) -> Settings:
    names = ("tracks", "alerts", "forecasts", "scores", "replies", "rejected", "operations", "control")
    topics = {f"stream.topics.{name}": f"{prefix}-{name}" for name in names}
    options = {
        "kafka.bootstrap_servers": servers,
        "stream.patterns": ["drifting"],
        "console.database": f"sqlite:///{folder / 'console.db'}",
        **topics,
    }
    return read_settings(environment={}, options=options)


class Line:
    """What a line would write to its topics."""

    def __init__(self, servers: str, prefix: str) -> None:
        self._producer = KafkaProducer(bootstrap_servers=servers)
        self._prefix = prefix

    def tell(self, name: str, *rows: Any) -> None:
        for row in rows:
            value = row if isinstance(row, bytes) else json.dumps(row).encode()
            self._producer.send(f"{self._prefix}-{name}", value).get(timeout=10)

    def close(self) -> None:
        self._producer.close(timeout=2)


@pytest.fixture
def line(broker: str) -> Iterator[Line]:
    made = Line(broker, "console-test")
    yield made
    made.close()


def known(server: Server) -> httpx.Client:
    client = httpx.Client(base_url=server.address.split("/?")[0], timeout=10)
    client.get(server.address, follow_redirects=True)
    client.headers["x-csrf-token"] = client.get("/api/session").json()["csrf"]
    return client


def test_rows_are_told_at_once_and_what_is_done_reaches_the_topic(broker: str, line: Line, tmp_path: Path) -> None:
    create_topics(broker, ["console-test-tracks", "console-test-alerts"])  # the others are not there yet
    line.tell("tracks", *(position(n, 0) for n in range(20)))
    with serving(topic_settings(broker, tmp_path, "console-test")) as server:
        store = server.console.store
        until(lambda: len(store.tracks) == 20)
        client = known(server)
        feed = client.get("/api/health").json()["feed"]
        assert (feed["state"], "console-test-scores" in feed["missing"]) == ("reading", True)

        line.tell("alerts", b"{broken", {"version": 99}, alert("227000003", "drifting", 1))
        told = time.monotonic()
        with client.stream("GET", "/api/stream") as stream:
            next(text for text in stream.iter_lines() if '"drifting"' in text or _has_drifting(client))
        assert time.monotonic() - told < WITHIN_S
        assert sum(store.unreadable.values()) == 2

        one = client.get("/api/alerts").json()["alerts"][0]["alert_id"]
        assert client.post(f"/api/alerts/{one}/operations", json={"kind": "acknowledge"}).status_code == 200
        consumer = KafkaConsumer(
            "console-test-operations",
            bootstrap_servers=broker,
            auto_offset_reset="earliest",
            consumer_timeout_ms=15_000,
        )
        sent = json.loads(next(consumer).value)
        consumer.close()
        assert (sent["kind"], sent["who"], sent["alert_id"]) == ("acknowledge", "local", one)

        create_topics(broker, ["console-test-rejected"])
        line.tell("rejected", {"source": "x", "line": 1, "reason": "bad_json", "raw": "<b>"})
        until(lambda: len(store.rejected) == 1)


def _has_drifting(client: httpx.Client) -> bool:
    return bool(client.get("/api/alerts").json()["total"])


def test_a_broker_that_goes_and_comes_back_is_said_and_read_on(tmp_path: Path) -> None:
    folder, port = tmp_path / "kafka", free_port()
    jars = read_settings(environment={}).jars.directory
    servers = f"127.0.0.1:{port}"
    start_broker(folder, port, jars)
    try:
        create_topics(servers, ["gone-tracks"])
        line = Line(servers, "gone")
        line.tell("tracks", position(1, 0))
        line.close()
        with serving(topic_settings(servers, tmp_path, "gone")) as server:
            console = server.console
            until(lambda: len(console.store.tracks) == 1)
            stop_broker(folder)
            until(lambda: console.reader.feed.state == "gone", 60)
            assert console.store.tracks  # what is known is still shown
            start_broker(folder, port, jars)
            line = Line(servers, "gone")
            line.tell("tracks", position(1, 5), position(2, 5))
            line.close()
            until(lambda: len(console.store.tracks) == 2, 60)
            assert console.store.totals["tracks"] == 3  # none was read twice
            assert console.reader.feed.state == "reading"
    finally:
        stop_broker(folder)
