"""Alerts of a bucket: from rows of matches to messages that say which conditions hold and what they read."""

import json
from pathlib import Path

import jsonschema
import pandas as pd
import pytest
from pipeline.stream.alert_book import AlertRule

from patterns.compiler import compile_pattern
from patterns.recognition.tables import shared_conditions
from patterns.spec import Report, spec_of
from pipeline.settings import AlertSettings
from pipeline.stream.bucket import Alerting
from pipeline.stream.line_spec import LineSpec
from tests.pipeline.stream import lines

SCHEMA = json.loads((Path(__file__).resolve().parents[3] / "docs" / "alert.schema.json").read_text(encoding="utf-8"))
PATTERNS = (
    compile_pattern(
        spec_of("stays", "slow{3,}", lines.CONDITIONS, max_gap_us=10 * lines.MINUTE_US, report=Report.EPISODES)
    ),
    compile_pattern(spec_of("starts", "slow ; fast", lines.CONDITIONS)),
)
RULES = {
    "stays": AlertRule("stays", 1, "warning", "A vessel lies still.", 4 * lines.MINUTE_US, lines.MINUTE_US, True),
    "starts": AlertRule("starts", 1, "info", "A vessel starts.", 0, lines.MINUTE_US, False),
}


@pytest.fixture
def line() -> lines.Running:
    spec = LineSpec("alerts", PATTERNS, shared_conditions(PATTERNS))
    return lines.Running(spec, alerts=Alerting(RULES, AlertSettings(update_every_s=60)))


@pytest.fixture
def stay() -> pd.DataFrame:
    """A track that is slow for seven minutes and then fast."""
    events = lines.some_events(1, tracks=1, events=9)
    x = [0.5] * 8 + [6.0]
    word = [1] * 8 + [2]
    times = [1_700_000_000_000_000 + n * lines.MINUTE_US for n in range(9)]
    return events.assign(time_us=times, x=x, word_0=word, lon=8.25, lat=54.5, arrived_us=1_700_000_000_000_000)


def alerts_of(line: lines.Running) -> list[dict[str, object]]:
    told = [json.loads(row["payload"]) for row in line.rows("alert")]
    for alert in told:
        jsonschema.validate(alert, SCHEMA)
    return told


def test_an_episode_makes_one_alert_with_updates_and_an_end(line: lines.Running, stay: pd.DataFrame) -> None:
    for first in range(0, 9, 2):
        line.read(stay.iloc[first : first + 2])
    mine = [alert for alert in alerts_of(line) if alert["pattern"] == "stays"]
    assert [alert["status"] for alert in mine] == ["opened", "updated", "updated", "updated", "closed"]
    assert len({alert["alert_id"] for alert in mine}) == 1
    assert mine[0]["reason"] == "A vessel lies still. slow holds with x 0.5."
    assert mine[0]["conditions"] == [{"name": "slow", "text": "x < 1", "holds": True}]
    assert mine[0]["position"] == {"lon": 8.25, "lat": 54.5}
    assert mine[0]["arrived"] == "2023-11-14T22:13:20Z"


def test_a_match_makes_an_alert_that_the_clock_closes(line: lines.Running, stay: pd.DataFrame) -> None:
    line.read(stay, now_us=1)
    line.read(lines.NOTHING.assign(x=0.0, lon=0.0, lat=0.0), now_us=1 + 2 * lines.MINUTE_US)
    mine = [alert for alert in alerts_of(line) if alert["pattern"] == "starts"]
    assert [alert["status"] for alert in mine] == ["opened", "closed"]
    assert "fast holds with x 6." in str(mine[0]["reason"])


def test_an_episode_that_times_out_closes_its_alert_where_it_was_last_seen(
    line: lines.Running, stay: pd.DataFrame
) -> None:
    line.read(stay.iloc[:8], now_us=1)
    line.read(lines.NOTHING.assign(x=0.0, lon=0.0, lat=0.0), now_us=1 + 11 * lines.MINUTE_US)
    last = alerts_of(line)[-1]
    assert last["status"] == "closed"
    assert last["position"] == {"lon": 8.25, "lat": 54.5}


def test_a_pattern_that_is_switched_off_makes_no_alerts(line: lines.Running, stay: pd.DataFrame) -> None:
    line.read(stay, control=['{"id": "1", "pattern": "stays", "enabled": false}'])
    assert {alert["pattern"] for alert in alerts_of(line)} == {"starts"}
