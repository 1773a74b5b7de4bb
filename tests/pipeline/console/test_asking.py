"""What the API tells, over the recorded output of a line."""

import csv
import io
import json

from starlette.testclient import TestClient

from foresail.pipeline.console.state import Console
from tests.pipeline.console.recorded_line import HOSTILE


def test_tracks_are_where_they_were_last_and_coloured_by_their_alerts(client: TestClient) -> None:
    told = client.get("/api/tracks").json()
    rows = [dict(zip(told["fields"], row, strict=True)) for row in told["tracks"]]
    assert len(rows) == told["total"] == 40
    states = {row["name"]: row["state"] for row in rows}
    assert states["VESSEL 3"] == 2
    assert states["VESSEL 8"] == 1
    assert states["VESSEL 7"] == 0
    assert told["clock"].startswith("2024-05-01T12:59")
    west = client.get("/api/tracks", params={"box": "-5,48,-4.9,49"}).json()
    assert 0 < west["total"] < 40
    assert all(-5 <= row[2] <= -4.9 for row in west["tracks"])
    assert client.get("/api/tracks", params={"state": "alert"}).json()["total"] == 3
    assert client.get("/api/tracks", params={"box": "1,2,3"}).status_code == 400


def test_alerts_come_gravest_first_and_can_be_filtered(client: TestClient) -> None:
    told = client.get("/api/alerts").json()
    patterns = [alert["pattern"] for alert in told["alerts"]]
    assert patterns == ["drifting", "high_speed_near_coast", "port_entry", "anchored"]
    assert told["alerts"][0]["name"] == "VESSEL 3"
    assert client.get("/api/alerts", params={"severity": "info"}).json()["total"] == 2
    assert client.get("/api/alerts", params={"zone": "Brest"}).json()["alerts"][0]["probability"] == 0.74
    closed = client.get("/api/alerts", params={"status": "closed"}).json()["alerts"]
    assert [alert["closed_because"] for alert in closed] == ["ended"]
    paged = client.get("/api/alerts", params={"offset": 1, "limit": 1}).json()
    assert (paged["total"], paged["alerts"][0]["pattern"]) == (4, "high_speed_near_coast")


def test_an_alert_is_told_with_its_automaton_and_where_the_vessel_went(client: TestClient) -> None:
    first = client.get("/api/alerts").json()["alerts"][0]
    alert = client.get(f"/api/alerts/{first['alert_id']}").json()
    assert alert["automaton"]["svg"].startswith("<svg")
    assert alert["state"] in alert["automaton"]["accepting"]
    assert len(alert["path"][0]) == 22
    gone = client.get("/api/alerts/0123456789abcdef0123456789abcdef")
    assert gone.status_code == 404
    assert "older than what is kept" in gone.json()["detail"]


def test_the_past_is_what_was_known_then(client: TestClient) -> None:
    span = client.get("/api/span").json()
    assert span["since"].startswith("2024-05-01T12:00")
    then = client.get("/api/at", params={"time": "2024-05-01T12:10:30Z"}).json()
    assert len(then["tracks"]) == 40
    assert {row[1] for row in then["tracks"]} == {1714565400000}
    assert [alert["pattern"] for alert in then["alerts"]] == ["loitering"]
    states = {row[0]: row[7] for row in then["tracks"]}
    assert states["227000007"] == 2
    assert states["227000003"] == 0
    before = client.get("/api/at", params={"time": "2024-05-01T11:00:00+00:00"}).json()
    assert (before["tracks"], before["alerts"]) == ([], [])
    past = client.get("/api/tracks/227000003/past", params={"since": "2024-05-01T12:30:00Z"}).json()
    assert len(past["positions"]) == 30


def test_search_finds_names_numbers_and_ids_whatever_is_in_them(client: TestClient) -> None:
    assert client.get("/api/search", params={"q": "vessel 12"}).json()["tracks"][0][0] == "227000012"
    assert client.get("/api/search", params={"q": "227000013"}).json()["tracks"][0][8] == "VESSEL 13"
    assert client.get("/api/search", params={"q": "<script>"}).json()["tracks"][0][8] == HOSTILE[0]


def test_what_is_shown_can_be_taken_away(client: TestClient) -> None:
    geojson = json.loads(client.get("/api/export.geojson").content)
    kinds = [feature["properties"]["type"] for feature in geojson["features"]]
    assert (kinds.count("track"), kinds.count("alert")) == (40, 4)
    rows = list(csv.DictReader(io.StringIO(client.get("/api/export.csv").text)))
    assert len(rows) == 40
    names = {row["name"] for row in rows}
    assert "'=HYPERLINK(1)&amp;<b>" in names
    assert client.get("/api/export.pdf").status_code == 422


def test_rows_of_others_are_counted_with_their_reason(client: TestClient) -> None:
    health = client.get("/api/health").json()
    reasons = {(row["topic"], row["reason"]): row["rows"] for row in health["console"]["unreadable"]}
    assert reasons["alerts", "the row is no JSON"] == 1
    assert sum(reasons.values()) == 2
    assert health["feed"]["state"] == "reading"
    assert health["console"]["positions_kept"] == 2400


def test_one_vessel_with_a_wrong_clock_moves_nobody_elses(client: TestClient, console: Console) -> None:
    from tests.pipeline.console.recorded_line import position

    wrong = {**position(1, 0), "time": "2031-01-01T00:00:00+00:00"}
    console.reader.hear("tracks", json.dumps(wrong))
    assert client.get("/api/tracks").json()["clock"].startswith("2024-05-01T12:59")
    ahead = client.get("/api/health").json()["console"]["clocks_ahead"]
    assert [row["track"] for row in ahead] == ["227000001"]


def test_patterns_are_told_with_their_knobs(client: TestClient) -> None:
    patterns = {p["pattern"]: p for p in client.get("/api/patterns").json()["patterns"]}
    assert patterns["drifting"]["enabled"]
    assert patterns["drifting"]["open_alerts"] == 1
    assert client.get("/api/patterns/drifting/drawing").json()["svg"].startswith("<svg")
    assert client.get("/api/patterns/drifting/preview", params={"threshold": 0.3}).status_code == 404


def test_a_preview_is_an_estimate_from_the_scored_sample(client: TestClient, console: Console) -> None:
    forecasts, happened = [100] + [0] * 5 + [10] * 14, [1] + [0] * 5 + [8] * 14
    row = {"pattern": "drifting", "f1": 0.8, "by_probability": {"forecasts": forecasts, "happened": happened}}
    console.reader.hear("scores", json.dumps(row))
    told = client.get("/api/patterns/drifting/preview", params={"threshold": 0.3}).json()
    assert (told["forecasts"], told["forecasts_right"], told["sample"]) == (140, 112, 240)
    half = client.get("/api/patterns/drifting/preview", params={"threshold": 0.675}).json()
    assert half["forecasts"] == 65
    assert "estimate" in told["said"]


def test_layers_and_land_are_served_from_the_package(client: TestClient) -> None:
    land = client.get("/api/land").json()
    assert land["geometry"]["type"] == "MultiPolygon"
    assert "Natural Earth" in land["properties"]["source"]
    assert client.get("/api/layers").json()["features"] == []
    assert client.get("/assets/maplibre-gl.js").status_code == 200
    assert client.get("/assets/..%2fapp.py").status_code == 404
