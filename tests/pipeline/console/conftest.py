"""A console over the Parquet output of a line that was recorded, without Kafka and without Spark."""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from foresail.pipeline.console.app import make_app
from foresail.pipeline.console.serving import Server
from foresail.pipeline.console.state import Console, open_console
from foresail.pipeline.settings import Settings, read_settings
from tests.pipeline.console.recorded_line import write_line


def console_settings(output: Path, database: Path, **further: object) -> Settings:
    options = {
        "stream.output": str(output),
        "stream.patterns": ["drifting", "anchored", "loitering", "high_speed_near_coast"],
        "console.database": f"sqlite:///{database}",
        "console.requests_per_minute": 100_000,
        **further,
    }
    return read_settings(environment={}, options=options)


def until(check: Callable[[], bool], patience_s: float = 20) -> None:
    deadline = time.monotonic() + patience_s
    while not check():
        assert time.monotonic() < deadline, "it did not come in time"
        time.sleep(0.02)


@pytest.fixture(scope="session")
def output(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("line") / "out"
    write_line(folder)
    return folder


@pytest.fixture
def console(output: Path, tmp_path: Path) -> Console:
    return open_console(console_settings(output, tmp_path / "console.db"), "127.0.0.1")


@pytest.fixture
def client(console: Console) -> Iterator[TestClient]:
    """A browser that is logged in by the printed token, once the console has read all there is."""
    with TestClient(make_app(console), base_url="http://127.0.0.1") as browser:
        until(lambda: console.reader.feed.caught_up)
        browser.get(f"/?token={console.access.token}")
        browser.headers["x-csrf-token"] = browser.get("/api/session").json()["csrf"]
        yield browser


@pytest.fixture
def served(output: Path, tmp_path: Path) -> Iterator[Server]:
    """A console as the command starts it, on a free port, once it has read all there is."""
    with serving(console_settings(output, tmp_path / "console.db")) as server:
        until(lambda: server.console.reader.feed.caught_up)
        yield server


@contextmanager
def serving(settings: Settings, port: int = 0) -> Iterator[Server]:
    server = Server(settings, "127.0.0.1", port)
    thread = threading.Thread(target=server.run)
    thread.start()
    try:
        yield server
    finally:
        server.stop()
        thread.join(timeout=20)
        assert not thread.is_alive()
