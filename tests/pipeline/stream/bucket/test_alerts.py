"""A bucket makes the same alerts however its events are cut into micro-batches, and through its saved bytes."""

import json
from typing import Any

import numpy as np
import pandas as pd
import pytest

from foresail.patterns.catalog.entry import PatternEntry
from foresail.pipeline.settings import AlertSettings
from foresail.pipeline.stream.bucket.alerts import Alerting
from tests.pipeline.stream.lines import CONDITIONS, NOTHING, Running, some_events, some_patterns, spec_for

PATTERNS = {"stays": ("slow{3,}", "episodes"), "starts": ("slow ; hidden _* ; fast", "each")}


def alerting(**alert: Any) -> Alerting:
    entries = {
        name: PatternEntry.model_validate(
            {"name": name, "domain": "maritime", "says": "So it is.", "where": CONDITIONS, "pattern": pattern}
            | {"report": report, "window": "20min", "alert": alert}
        )
        for name, (pattern, report) in PATTERNS.items()
    }
    return Alerting(entries, AlertSettings(update_every_s=120))


def alerts_of(events: pd.DataFrame, cuts: list[int]) -> dict[str, Any]:
    """The last row of each alert by its id."""
    running = Running(spec_for(some_patterns(), "alerts"), alerts=alerting(severity="info", cool_down="15min"))
    for part in np.split(np.arange(len(events)), cuts):
        if len(part):
            running.read(events.iloc[part])
    rows = [json.loads(row["payload"]) for row in running.rows("alert")]
    return {row["alert_id"]: row for row in sorted(rows, key=lambda row: row["change"])}


@pytest.mark.parametrize("seed", range(3))
def test_alerts_do_not_depend_on_the_micro_batches(seed: int) -> None:
    events = some_events(seed).assign(lon=10.0, lat=55.0)
    events["x"] = events["word_0"].map({0: 3.0, 1: 0.5, 2: 7.0})
    whole = alerts_of(events, [])
    assert len(whole) > 10
    assert any(row["status"] == "closed" for row in whole.values())
    assert {row["reason"] for row in whole.values() if row["pattern"] == "stays"} == {"x 0.5 (< 1)"}
    cuts = sorted(np.random.default_rng(seed).integers(0, len(events), 40).tolist())
    assert alerts_of(events, cuts) == whole


def test_alerts_are_counted_when_they_open_and_their_messages_apart() -> None:
    running = Running(spec_for(some_patterns(), "alerts"), alerts=alerting(severity="info"))
    running.read(some_events(1, tracks=1, events=60), now_us=1)
    assert running.bucket is not None
    told = [json.loads(row["payload"]) for row in running.rows("alert")]
    assert running.bucket.tally.alert_rows == len(told)
    assert running.bucket.tally.alerts == len({row["alert_id"] for row in told}) < len(told)
    assert all(row["first_start_time"] <= row["start_time"] <= row["time"] for row in told)


def test_the_clock_closes_what_nobody_ends() -> None:
    running = Running(spec_for(some_patterns(), "alerts"), alerts=alerting(severity="info"))
    events = some_events(1, tracks=1, events=60)
    running.read(events, now_us=1)
    opened = {json.loads(row["payload"])["alert_id"] for row in running.rows("alert")}
    running.read(NOTHING, now_us=1 + 7 * 3_600_000_000)
    told = [json.loads(row["payload"]) for row in running.rows("alert")]
    assert {row["alert_id"] for row in told if row["status"] == "closed"} == opened
    assert {row["track"] for row in running.rows("alert")} == {"t0"}
