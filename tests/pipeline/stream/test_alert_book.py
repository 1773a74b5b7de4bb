import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from pipeline.settings import AlertSettings
from pipeline.stream.alert_book import AlertBook, AlertRule, Sign

SCHEMA = json.loads((Path(__file__).resolve().parents[3] / "docs" / "alert.schema.json").read_text(encoding="utf-8"))
MINUTE = 60_000_000
START = 1_700_000_000_000_000
RULES = {
    "stays": AlertRule("stays", 1, "warning", "A vessel lies still.", 5 * MINUTE, 30 * MINUTE, episodes=True),
    "enters": AlertRule("enters", 1, "info", "A vessel enters.", 0, 10 * MINUTE, episodes=False),
}
FACTS = {
    "position": {"lon": 8.0, "lat": 54.0},
    "conditions": [{"name": "slow", "text": "speed_kn < 1", "holds": True}],
    "values": {"speed_kn": 0.4},
}


@pytest.fixture
def book() -> AlertBook:
    return AlertBook(RULES, AlertSettings(update_every_s=120, clear_after_s=60))


def stay(minute: float, status: str = "updated", began: float = 0) -> Sign:
    return Sign("stays", None, "t1", START + round(minute * MINUTE), START + round(began * MINUTE), status, row=0)


def read(book: AlertBook, *signs: Sign) -> list[dict[str, Any]]:
    told = book.read(iter(signs), lambda _: FACTS)
    for alert in told:
        jsonschema.validate(alert, SCHEMA)
    return told


def test_an_episode_becomes_an_alert_once_it_has_lasted(book: AlertBook) -> None:
    assert read(book, stay(1, "opened"), stay(4)) == []
    (alert,) = read(book, stay(5))
    assert alert["status"] == "opened"
    assert alert["reason"] == "A vessel lies still. slow holds with speed_kn 0.4."
    assert alert["position"] == {"lon": 8.0, "lat": 54.0}


def test_updates_come_at_a_calm_pace_under_the_same_id(book: AlertBook) -> None:
    told = read(book, *(stay(minute) for minute in (5, 5.5, 6, 7, 7.5, 9)))
    assert [alert["status"] for alert in told] == ["opened", "updated", "updated"]
    assert len({alert["alert_id"] for alert in told}) == 1
    assert told[-1]["count"] == 6


def test_a_new_episode_within_the_cool_down_wakes_the_same_alert(book: AlertBook) -> None:
    first, closed = read(book, stay(5), stay(6, "closed"))
    (woken,) = read(book, stay(20, began=14))
    assert closed["status"] == "closed"
    assert woken["status"] == "updated"
    assert woken["alert_id"] == first["alert_id"]


def test_after_the_cool_down_there_is_a_new_alert(book: AlertBook) -> None:
    first, _ = read(book, stay(5), stay(6, "closed"))
    assert book.sweep(START + 37 * MINUTE) == []
    (other,) = read(book, stay(50, began=40))
    assert other["status"] == "opened"
    assert other["alert_id"] != first["alert_id"]


def test_an_episode_too_short_to_be_told_ends_in_silence(book: AlertBook) -> None:
    assert read(book, stay(1, "opened"), stay(2, "closed")) == []


def test_repeated_matches_are_one_alert_that_closes_when_they_cease(book: AlertBook) -> None:
    signs = [Sign("enters", "Cuxhaven", "t1", START + n * MINUTE, START, "detected", row=0) for n in (0, 1, 4)]
    told = read(book, *signs)
    assert [alert["status"] for alert in told] == ["opened", "updated"]
    assert "at Cuxhaven" in told[0]["reason"]
    assert book.sweep(START + 13 * MINUTE) == []
    (closed,) = book.sweep(START + 15 * MINUTE)
    assert closed["status"] == "closed"


def test_a_forecast_that_wavers_does_not_flap(book: AlertBook) -> None:
    def forecast(second: int, positive: bool) -> Sign:
        time = START + second * 1_000_000
        status = "positive" if positive else "negative"
        return Sign("stays", None, "t1", time, time, status, "forecast", 0, 0.7, "stays-v1-0001-ab")

    told = read(book, forecast(0, True), forecast(10, False), forecast(20, True), forecast(30, False))
    assert [alert["status"] for alert in told] == ["opened"]
    assert told[0]["reason"].startswith("Expected (probability 0.70): a vessel lies still.")
    assert book.sweep(START + 80_000_000) == []
    (closed,) = book.sweep(START + 91_000_000)
    jsonschema.validate(closed, SCHEMA)
    assert closed["status"] == "closed"


def test_ids_do_not_depend_on_how_the_signs_are_cut(book: AlertBook) -> None:
    other = AlertBook(RULES, AlertSettings(update_every_s=120))
    signs = [stay(minute) for minute in (4, 5, 6, 9)]
    whole = read(book, *signs)
    cut = [alert for sign in signs for alert in read(other, sign)]
    assert [alert["alert_id"] for alert in whole] == [alert["alert_id"] for alert in cut]
