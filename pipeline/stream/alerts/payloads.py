"""Alerts as the JSON that leaves the line; docs/alert.schema.json describes it."""

from datetime import UTC, datetime, timedelta
from math import isfinite
from typing import Any

import pyarrow as pa

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_ORDER = (
    *("alert_id", "change", "status", "kind", "severity", "pattern", "pattern_version", "model_version", "instance"),
    *("track", "time", "start_time", "first_start_time"),
    *("lon", "lat", "reason", "says", "link", "closed_because", "probability"),
    *("earliest_min", "latest_min", "arrived"),
)


def alert_payloads(alerts: pa.Table) -> list[dict[str, Any]]:
    """A JSON object for each alert; alerts are few, so that a row may be an object here."""
    return [alert_payload(row) for row in alerts.to_pylist()]


def alert_payload(row: dict[str, Any]) -> dict[str, Any]:
    """One alert as a JSON object: times in ISO 8601, unknown numbers as null."""
    arrived = iso(row["arrived_us"]) if row["arrived_us"] else None
    times = {name: iso(row[f"{name}_us"]) for name in ("time", "start_time", "first_start_time")}
    held = {**row, **times, "arrived": arrived}
    return {name: _plain(held[name]) for name in _ORDER}


def iso(time_us: int) -> str:
    """A time as text, in UTC with milliseconds."""
    return (_EPOCH + timedelta(microseconds=time_us)).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _plain(value: Any) -> Any:
    if not isinstance(value, float):
        return value
    return round(value, 6) if isfinite(value) else None
