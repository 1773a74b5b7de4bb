"""What users do about alerts and patterns: kept with who and when, seen by every console, alive after a restart."""

import json
import sqlite3
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from foresail.pipeline.console.app import make_app
from foresail.pipeline.console.state import Console, open_console
from foresail.pipeline.errors import InputError
from tests.pipeline.console.conftest import console_settings, until
from tests.pipeline.console.recorded_line import HOSTILE

DRAFT = """
name: my_fast
version: 1
domain: maritime
says: A vessel is faster than 12 knots, three positions in a row or more.
where:
  fast: speed_kn > 12
pattern: fast{3,}
max_gap: 30min
after_match: continue
output: detect
report: episodes
"""


def first_alert(client: TestClient) -> str:
    return str(client.get("/api/alerts").json()["alerts"][0]["alert_id"])


def operate(client: TestClient, alert: str, **done: Any) -> Any:
    return client.post(f"/api/alerts/{alert}/operations", json=done)


def test_an_alert_is_acknowledged_assigned_snoozed_and_noted_by_name(client: TestClient) -> None:
    alert = first_alert(client)
    assert operate(client, alert, kind="acknowledge").json()["acknowledged_by"] == "local"
    assert operate(client, alert, kind="assign", assignee="Ana").json()["assignee"] == "Ana"
    assert operate(client, alert, kind="snooze", minutes=30).json()["snoozed_until"] is not None
    assert operate(client, alert, kind="note", note=HOSTILE[0]).json()["notes"][0]["note"] == HOSTILE[0]
    told = client.get(f"/api/alerts/{alert}").json()
    assert [done["kind"] for done in told["operations"]] == ["note", "snooze", "assign", "acknowledge"]
    reopened = operate(client, alert, kind="reopen").json()
    assert (reopened["acknowledged_by"], reopened["snoozed_until"]) == (None, None)
    assert operate(client, alert, kind="assign").status_code == 400
    assert operate(client, "0" * 32, kind="acknowledge").status_code == 404
    assert [row["action"] for row in client.get("/api/audit").json()["audit"]][-2:] == ["assign", "acknowledge"]


def test_a_pattern_is_muted_for_a_track_or_a_zone_until_it_is_heard_again(client: TestClient) -> None:
    by_pattern = {alert["pattern"]: alert for alert in client.get("/api/alerts").json()["alerts"]}
    entry, drift = by_pattern["port_entry"], by_pattern["drifting"]
    assert operate(client, entry["alert_id"], kind="mute", scope="zone").json()["muted"]
    assert operate(client, drift["alert_id"], kind="mute", scope="zone").status_code == 400
    assert operate(client, drift["alert_id"], kind="mute", minutes=5).json()["muted"]
    mutes = client.get("/api/operations").json()["mutes"]
    assert {(mute["pattern"], mute["track"], mute["zone"]) for mute in mutes} == {
        ("port_entry", None, "Brest"),
        ("drifting", drift["track"], None),
    }
    heard = client.post("/api/mutes", json={"kind": "unmute", "pattern": "port_entry", "zone": "Brest"}).json()
    assert [mute["pattern"] for mute in heard["mutes"]] == ["drifting"]
    assert client.post("/api/mutes", json={"kind": "mute", "pattern": "drifting"}).status_code == 400


def test_a_restarted_console_and_a_second_one_know_what_was_done(client: TestClient, console: Console) -> None:
    alert = first_alert(client)
    cookie = client.cookies["foresail_session"]
    with TestClient(make_app(other := open_console(console.settings, "127.0.0.1")), base_url="http://127.0.0.1") as two:
        until(lambda: other.reader.feed.caught_up)
        two.cookies.set("foresail_session", cookie)
        assert two.get(f"/api/alerts/{alert}").json()["acknowledged_by"] is None
        operate(client, alert, kind="acknowledge")
        until(lambda: two.get(f"/api/alerts/{alert}").json()["acknowledged_by"] == "local")
    again = open_console(console.settings, "127.0.0.1")
    assert again.operations.standing(alert)["acknowledged_by"] == "local"
    again.operations.close()


def test_a_locked_database_is_said_and_nothing_else_stops(client: TestClient, console: Console, tmp_path: Path) -> None:
    alert = first_alert(client)
    holder = sqlite3.connect(tmp_path / "console.db", isolation_level=None)
    holder.execute("BEGIN EXCLUSIVE")
    try:
        refused = operate(client, alert, kind="acknowledge")
        assert refused.status_code == 503
        assert "console.database" in refused.json()["detail"]
        assert client.get("/api/alerts").json()["total"] == 4
        until(lambda: console.operations.fault != "")
        assert client.get(f"/api/alerts/{alert}").json()["operations"] == []
    finally:
        holder.close()
    assert operate(client, alert, kind="acknowledge").status_code == 200
    until(lambda: console.operations.fault == "")


def test_a_pattern_is_tried_on_what_was_heard_before_it_is_put_live(client: TestClient) -> None:
    told = client.post("/api/try", json={"text": DRAFT, "hours": 1}).json()
    assert told["matches"] > 0
    assert told["events"] == 2400
    assert {row["pattern"] for row in told["rows"]} == {"my_fast"}
    fast = {f"{227000000 + n}" for n in range(40) if 4 + n % 12 > 12}
    assert told["tracks"] == len(fast)
    wrong = client.post("/api/try", json={"text": DRAFT.replace("speed_kn", "sped_kn")})
    assert wrong.status_code == 400
    assert "speed_kn" in wrong.json()["detail"]
    assert client.post("/api/try", json={"text": "name: ["}).status_code == 400
    assert "stream.models" in client.post("/api/catalog", json={"text": DRAFT}).json()["detail"]


def test_knobs_go_to_the_line_as_control_messages(output: Path, tmp_path: Path) -> None:
    further = {"stream.control_directory": str(tmp_path / "control"), "stream.models": str(tmp_path / "models")}
    console = open_console(console_settings(output, tmp_path / "c.db", **further), "127.0.0.1")
    with TestClient(make_app(console), base_url="http://127.0.0.1") as client:
        client.get(f"/?token={console.access.token}")
        client.headers["x-csrf-token"] = client.get("/api/session").json()["csrf"]
        reply = client.post("/api/patterns/drifting/knobs", json={"threshold": 0.3, "enabled": False}).json()
        (file,) = (tmp_path / "control").glob("*.json")
        sent = json.loads(file.read_text(encoding="utf-8"))
        assert sent == reply["message"]
        assert (sent["pattern"], sent["threshold"], sent["enabled"]) == ("drifting", 0.3, False)
        assert client.post("/api/patterns/drifting/knobs", json={}).status_code == 400
        assert client.post("/api/patterns/nothing/knobs", json={"threshold": 0.3}).status_code == 404
        version = client.post("/api/catalog", json={"text": DRAFT}).json()["catalog"]
        texts = [file.read_text(encoding="utf-8") for file in (tmp_path / "models" / "catalogs" / version).iterdir()]
        assert len(texts) == 5
        assert any("my_fast" in text for text in texts)


def test_a_console_without_a_line_to_read_is_not_started(tmp_path: Path) -> None:
    from foresail.pipeline.console.serving import Server
    from foresail.pipeline.settings import read_settings

    options = {"console.database": f"sqlite:///{tmp_path / 'c.db'}"}
    with pytest.raises(InputError, match="nothing to read"):
        Server(read_settings(environment={}, options=options), "127.0.0.1", 0)


@pytest.mark.parametrize("line", ["rules: {file}.tesla", "rules: ../../{file}.tesla"])
def test_a_draft_cannot_have_a_file_of_the_machine_read(client: TestClient, tmp_path: Path, line: str) -> None:
    (tmp_path / "secret.tesla").write_text("the combination is 4711", encoding="utf-8")
    text = f"language: tesla\nname: leak\nsays: x\n{line.format(file=tmp_path / 'secret')}\n"
    refused = client.post("/api/try", json={"text": text})
    assert refused.status_code == 400
    assert "names a file" in refused.json()["detail"]
    assert "4711" not in refused.text


def test_a_draft_cannot_name_knowledge_in_a_file(client: TestClient) -> None:
    text = (
        "language: spaseq\nname: leak\nsays: x\nknowledge: {'http://x/k': /etc/hostname}\nquery: |\n"
        "  SELECT ?v FROM STREAM <http://x/s> WHERE { SEQ (A) { GPM A ON <http://x/s> { ?v ?p ?o } } }\n"
    )
    refused = client.post("/api/try", json={"text": text})
    assert (refused.status_code, "names a file" in refused.json()["detail"]) == (400, True)
