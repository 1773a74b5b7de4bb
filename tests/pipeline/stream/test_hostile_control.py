"""A real line with a real broker: hostile control messages end neither it nor its restart, and each is answered."""

import json
import signal
from pathlib import Path
from typing import Any

import pytest

from foresail.pipeline.settings import Settings, read_settings
from foresail.pipeline.stream.control.configure import Order
from tests.models.test_archive import HOSTILE
from tests.pipeline.stream.recorded import messages, positions, settings_file
from tests.pipeline.stream.test_live_line import (
    PATIENCE_S,
    Broker,
    ask,
    kill,
    nothing_left_running,  # noqa: F401 - used by every test here
    start,
    store_with_model,
    until,
)

pytestmark = [pytest.mark.kafka, pytest.mark.spark]
VERSION = "stays-v1-0007-abcdef"
BAD = [
    b"[" * 100_000,
    b'{"id":' * 100_000,
    b"x" * 900_000,
    b"\xff\xfe\x00 no text",
    b'{"id": "\\ud800", "flush": true}',
    None,
    json.dumps({"id": "path", "pattern": "stays", "model_version": "../../../../outside/x"}).encode(),
    json.dumps({"id": "root", "catalog": "/etc"}).encode(),
    json.dumps({"id": "deep", "catalog": "0123456789ab"}).encode(),
    json.dumps({"id": "huge", "pattern": "stays", "model_version": VERSION}).encode(),
    b"the same text",
    b"the same text",
]


def send_control(servers: str, settings: Settings, texts: list[bytes | None]) -> None:
    from kafka import KafkaProducer

    producer = KafkaProducer(bootstrap_servers=servers)
    for text in texts:
        producer.send(settings.stream.topics.control, text, key=b"k")
    producer.flush()
    producer.close()


@pytest.fixture
def settings_of_line(tmp_path: Path, broker: str) -> Path:
    """A line whose store holds a model that claims petabytes and a catalog that nests without end."""
    from foresail.pipeline.kafka import create_topics

    store = tmp_path / "models"
    file = settings_file(tmp_path, broker, "hostile", models=str(store))
    store_with_model(store, tmp_path / "patterns.yaml")
    (store / "stays" / "models" / VERSION).mkdir()
    (store / "stays" / "models" / VERSION / "model.npz").write_bytes(HOSTILE["claims 7 PiB"]())
    (store / "catalogs" / "0123456789ab").mkdir(parents=True)
    (store / "catalogs" / "0123456789ab" / "000.yaml").write_text("[" * 100_000, encoding="utf-8")
    create_topics(broker, read_settings(file, environment={}).stream.topics.model_dump().values())
    return file


def test_hostile_messages_end_neither_the_line_nor_its_restart(
    settings_of_line: Path, broker: str, tmp_path: Path
) -> None:
    settings, log = read_settings(settings_of_line, environment={}), tmp_path / "log"
    topics, line = settings.stream.topics, Broker(broker, settings)
    send_control(broker, settings, BAD)
    line.produce(messages(positions(tracks=3, events=40)))
    process = start(settings_of_line, log)
    until(lambda: len(line.read(topics.dead_letters)) >= len(BAD), process, log)
    kill(process)
    process = start(settings_of_line, log)
    send_control(broker, settings, BAD)
    until(lambda: len(line.read(topics.dead_letters)) >= 2 * len(BAD), process, log)
    accepted = ask(settings, Order("stays", knobs={"threshold": 0.7}))
    process.send_signal(signal.SIGTERM)
    assert process.wait(timeout=PATIENCE_S) == 0, log.read_text(encoding="utf-8", errors="replace")[-3000:]

    assert accepted["accepted"]
    assert set(accepted["configuration"]["turned"]) == {"stays"}
    assert accepted["configuration"]["catalog"] is None
    by_offset: dict[int, dict[str, Any]] = {row["offset"]: row for row in line.read(topics.dead_letters)}
    assert sorted(by_offset) == list(range(2 * len(BAD)))
    assert {row["accepted"] for row in by_offset.values()} == {False}
    assert all(row["buckets"] == accepted["buckets"] for row in by_offset.values())
    assert all(len(row["message"] or "") <= 1_000 for row in by_offset.values())
    reasons = [by_offset[offset]["reason"] for offset in range(len(BAD))]
    assert reasons == [by_offset[offset]["reason"] for offset in range(len(BAD), 2 * len(BAD))]
    for offset, says in ((0, "10,000 characters"), (6, "path"), (7, "path"), (8, "levels"), (9, "claims")):
        assert says in reasons[offset]
    assert len(line.read(topics.matches)) > 0
