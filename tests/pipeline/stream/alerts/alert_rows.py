"""Small tables of matches and forecasts, and the makers of alerts that read them, for the tests of this folder."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from foresail.patterns.catalog.entry import PatternEntry
from foresail.patterns.compiler import compile_pattern
from foresail.pipeline.settings import AlertSettings
from foresail.pipeline.stream.alerts import AlertMaker, AlertRules, alert_payloads, fresh_alert_state

MINUTE = 60_000_000


def entry_of(name: str = "slow", **values: Any) -> PatternEntry:
    held = {
        "name": name,
        "domain": "maritime",
        "says": "A vessel is slow.",
        "where": {"crawling": "speed_kn < 5 and depth_m > 10"},
        "pattern": "crawling",
        "report": "episodes",
        "alert": {"severity": "critical"},
    }
    return PatternEntry.model_validate({**held, **values})


def maker_of(*entries: PatternEntry, emission: Any = "all", **settings: Any) -> AlertMaker:
    rules = AlertRules.of(entries, AlertSettings(**settings), emission)
    return AlertMaker(rules, {entry.name: compile_pattern(entry.spec()) for entry in entries}, {})


def match(minute: float, status: str = "updated", track: str = "a", first: float = 0, **more: Any) -> dict[str, Any]:
    return {
        "pattern": "slow",
        "pattern_version": 1,
        "instance": None,
        "track": track,
        "time_us": round(minute * MINUTE),
        "index": round(minute) + 1,
        "start_time_us": round(first * MINUTE),
        "first_start_time_us": round((first - 1) * MINUTE),
        "status": status,
        "id_time_us": round(first * MINUTE),
        "lon": 10.0 + minute / 100,
        "lat": 55.0,
        "speed_kn": 3.25,
        "depth_m": 4100.0,
        **more,
    }


def forecast(minute: int, probability: float, track: str = "a", **more: Any) -> dict[str, Any]:
    return {
        "pattern": "slow",
        "pattern_version": 1,
        "instance": None,
        "track": track,
        "time_us": minute * MINUTE,
        "index": minute + 1,
        "model_version": "slow-v1-0001-abcdef",
        "probability": probability,
        "positive": probability >= 0.5,
        "threshold": 0.5,
        "lon": 10.0,
        "lat": 55.0,
        **more,
    }


def table(rows: Sequence[dict[str, Any]]) -> pa.Table | None:
    if not rows:
        return None
    made = pa.Table.from_pylist(list(rows))
    place = made.schema.get_field_index("instance")
    return made.set_column(place, "instance", made.column("instance").cast(pa.string()))


def alerts_of(
    maker: AlertMaker,
    matches: Sequence[dict[str, Any]] = (),
    forecasts: Sequence[dict[str, Any]] = (),
    now: float | None = None,
) -> list[dict[str, Any]]:
    """The alerts that all rows make at once; `now` in minutes."""
    clock = np.iinfo(np.int64).min // 2 if now is None else round(now * MINUTE)
    alerts, _ = maker.advance(fresh_alert_state(), table(matches), table(forecasts), clock)
    return alert_payloads(alerts)


def told(alerts: Sequence[dict[str, Any]]) -> list[tuple[str, str]]:
    """Status and time of day of each alert."""
    return [(alert["status"], alert["time"][11:16]) for alert in alerts]
