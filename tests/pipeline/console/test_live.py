"""Server-sent events: what changed since, once, and all of it anew where nobody can say."""

import json
from typing import Any

import httpx
from starlette.testclient import TestClient

from foresail.pipeline.console.live import Hub
from foresail.pipeline.console.serving import Server
from foresail.pipeline.console.state import Console
from tests.pipeline.console.recorded_line import alert, position
from tests.pipeline.console.test_api_schema import logged_in


def said(message: str) -> tuple[str, str, dict[str, Any]]:
    """The id, the kind and the data of an event."""
    fields = dict(line.partition(": ")[::2] for line in message.strip().splitlines())
    return fields["id"], fields["event"], json.loads(fields["data"])


def test_a_browser_that_was_away_is_sent_what_it_missed_and_no_more(client: TestClient, console: Console) -> None:
    told = client.get("/api/tracks").json()
    console.reader.hear("tracks", json.dumps(position(4, 70)))
    console.reader.hear("alerts", json.dumps(alert("227000009", "anchored", 70)))
    _, kind, held = said(console.hub.missed(told["id"]))
    assert kind == "update"
    assert {row[0]: row[7] for row in held["tracks"]} == {"227000004": 0, "227000009": 2}
    assert [row["track"] for row in held["alerts"]] == ["227000009"]
    assert said(console.hub.missed("another-1"))[1] == "anew"
    assert said(console.hub.missed(None))[1] == "anew"


def test_many_tracks_come_in_several_messages(client: TestClient, console: Console) -> None:
    hub = Hub(console.store, console.operations, dict)
    hub.look()
    for number in range(7000):
        console.reader.hear("tracks", json.dumps(position(number, 80)))
    messages = [said(text) for text in hub.look()]
    assert [len(held["tracks"]) for _, _, held in messages] == [5000, 2000]
    assert hub.look() == []


def test_a_row_reaches_an_open_stream(served: Server) -> None:
    url = f"http://127.0.0.1:{served.port}/api/stream"
    with httpx.stream("GET", url, headers=logged_in(served), timeout=20) as answer:
        assert answer.headers["content-type"].startswith("text/event-stream")
        events = (json.loads(line[6:]) for line in answer.iter_lines() if line.startswith("data: "))
        assert next(events)["status"]["state"] == "reading"
        served.console.reader.hear("tracks", json.dumps(position(4, 70)))
        moment = 1714564800000 + 70 * 60_000
        moved = next(held for held in events if any(row[1] == moment for row in held["tracks"]))
        assert moved["tracks"][-1][8] == "VESSEL 4"
    assert served.console.hub.listeners <= 1
