"""Rows of the line's topics as values: what others wrote is bounded and checked here, before anything is kept.

A row of another version, or of somebody else, is not an error: it is counted, and shown with the reason.
"""

import json
import math
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

LONGEST_ROW = 200_000
LONGEST_TEXT = 4_000
LONGEST_NAME = 200
KINDS = ("match", "forecast", "model_degraded")
STATUSES = ("opened", "updated", "closed")
SEVERITIES = ("info", "warning", "critical")
_NUMBERS = ("speed_kn", "speed_kmh", "course_deg", "heading_deg", "length_m", "mmsi", "nav_status", "fuel_level")
_TEXTS = ("name", "vessel_type", "engine")


class RowError(Exception):
    """A row that is not what its topic promises; the message is one line."""


@dataclass(frozen=True, slots=True)
class Position:
    """Where a track is, and what was said of it there."""

    track: str
    time_us: int
    lon: float
    lat: float
    values: dict[str, Any] = field(default_factory=dict)

    def number(self, name: str) -> float:
        """A value, NaN where it is not known."""
        value = self.values.get(name)
        return math.nan if value is None else float(value)

    @property
    def speed(self) -> float:
        """In knots or, of a vehicle, kilometres an hour."""
        return self.number("speed_kn" if "speed_kn" in self.values else "speed_kmh")


@dataclass(frozen=True, slots=True)
class AlertRow:
    """One row of an alert."""

    alert_id: str
    change: int
    status: str
    kind: str
    severity: str
    pattern: str
    track: str | None
    instance: str | None
    time_us: int
    start_us: int
    lon: float | None
    lat: float | None
    reason: str
    says: str
    probability: float | None
    earliest_min: float | None
    latest_min: float | None
    model_version: str | None
    pattern_version: int
    closed_because: str | None


@dataclass(frozen=True, slots=True)
class ForecastRow:
    """What a model said last of a track."""

    pattern: str
    track: str
    instance: str | None
    time_us: int
    model_version: str
    chain_state: int | None
    state: int | None
    probability: float | None
    positive: bool


def parse(text: str | bytes | None) -> dict[str, Any]:
    """The object of one row."""
    if text is None or len(text) > LONGEST_ROW:
        msg = "the row is empty or too long"
        raise RowError(msg)
    try:
        held = json.loads(text)
    except (ValueError, RecursionError) as error:
        msg = "the row is no JSON"
        raise RowError(msg) from error
    if not isinstance(held, dict):
        msg = "the row is no object"
        raise RowError(msg)
    return held


def position_of(row: dict[str, Any]) -> Position:
    """A row of `tracks`."""
    values: dict[str, Any] = {name: _number(row, name) for name in _NUMBERS if row.get(name) is not None}
    values |= {name: _text(row, name)[:LONGEST_NAME] for name in _TEXTS if row.get(name) is not None}
    for whole in ("mmsi", "nav_status"):
        if whole in values:
            values[whole] = int(values[whole])
    lon, lat = _number(row, "lon"), _number(row, "lat")
    if not (-180 <= lon <= 180 and -90 <= lat <= 90):
        msg = "the place is not on Earth"
        raise RowError(msg)
    return Position(_text(row, "track")[:LONGEST_NAME], micros(row.get("time")), lon, lat, values)


def alert_of(row: dict[str, Any]) -> AlertRow:
    """A row of `alerts`, as docs/alert.schema.json describes it."""
    for name, known in (("kind", KINDS), ("status", STATUSES), ("severity", SEVERITIES)):
        if row.get(name) not in known:
            msg = f"{name} is none of {', '.join(known)}"
            raise RowError(msg)
    return AlertRow(
        alert_id=_text(row, "alert_id")[:64],
        change=int(_number(row, "change")),
        status=row["status"],
        kind=row["kind"],
        severity=row["severity"],
        pattern=_text(row, "pattern")[:LONGEST_NAME],
        track=_or_none(row, "track"),
        instance=_or_none(row, "instance"),
        time_us=micros(row.get("time")),
        start_us=micros(row.get("start_time") or row.get("time")),
        lon=_known(row, "lon"),
        lat=_known(row, "lat"),
        reason=_text(row, "reason"),
        says=str(row.get("says") or "")[:LONGEST_TEXT],
        probability=_known(row, "probability"),
        earliest_min=_known(row, "earliest_min"),
        latest_min=_known(row, "latest_min"),
        model_version=_or_none(row, "model_version"),
        pattern_version=int(_number(row, "pattern_version")) if row.get("pattern_version") is not None else 1,
        closed_because=_or_none(row, "closed_because"),
    )


def forecast_of(row: dict[str, Any]) -> ForecastRow:
    """A row of `forecasts`."""
    chain, state = _known(row, "chain_state"), _known(row, "state")
    return ForecastRow(
        _text(row, "pattern")[:LONGEST_NAME],
        _text(row, "track")[:LONGEST_NAME],
        _or_none(row, "instance"),
        micros(row.get("time")),
        _text(row, "model_version")[:LONGEST_NAME],
        None if chain is None else int(chain),
        None if state is None else int(state),
        _known(row, "probability"),
        bool(row.get("positive")),
    )


def micros(value: Any) -> int:
    """A time in ISO 8601 (or as a datetime) as microseconds since 1970."""
    try:
        time = value if isinstance(value, datetime) else datetime.fromisoformat(str(value))
        if time.tzinfo is None:
            time = time.replace(tzinfo=UTC)
        return round(time.timestamp() * 1e6)
    except (ValueError, OverflowError, OSError) as error:
        msg = "a time is none"
        raise RowError(msg) from error


def iso(time_us: int | float | None) -> str | None:
    """Microseconds since 1970 as ISO 8601 in UTC; None where there is no such time."""
    if time_us is None:
        return None
    try:
        return datetime.fromtimestamp(time_us / 1e6, UTC).isoformat(timespec="milliseconds")
    except (ValueError, OverflowError, OSError):
        return None


def _text(row: dict[str, Any], name: str) -> str:
    value = row.get(name)
    if not isinstance(value, str) or not value:
        msg = f"{name} is no text"
        raise RowError(msg)
    return value[:LONGEST_TEXT]


def _or_none(row: dict[str, Any], name: str) -> str | None:
    value = row.get(name)
    return None if value is None else str(value)[:LONGEST_NAME]


def _number(row: dict[str, Any], name: str) -> float:
    value = row.get(name)
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        msg = f"{name} is no number"
        raise RowError(msg)
    return float(value)


def _known(row: dict[str, Any], name: str) -> float | None:
    return None if row.get(name) is None else _number(row, name)
