"""What is kept as the page and other programs are shown it: plain values for JSON, GeoJSON and CSV."""

import csv
import io
import math
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import Any

import numpy as np
from numpy.typing import NDArray

from foresail.pipeline.console.history import History
from foresail.pipeline.console.operations import Operations
from foresail.pipeline.console.rows import AlertRow, iso
from foresail.pipeline.console.store import GRAVITY, Alert, Store, Track

Box = tuple[float, float, float, float]
FIELDS = ("track", "time", "lon", "lat", "speed", "course", "heading", "state", "name", "kind", "mmsi")
"""A track in a list is a list of these: 20,000 objects would say their names 20,000 times."""
STATES = ("normal", "forecast", "alert")
_RISKY = ("=", "+", "-", "@", "\t", "\r")


def track_row(held: Track) -> list[Any]:
    """A track as a list of `FIELDS`."""
    last, values = held.last, held.last.values
    return [
        last.track,
        last.time_us // 1000,
        round(last.lon, 5),
        round(last.lat, 5),
        _rounded(last.speed),
        _rounded(last.number("course_deg")),
        _rounded(last.number("heading_deg")),
        held.state,
        values.get("name") or "",
        values.get("vessel_type") or values.get("engine") or "",
        values.get("mmsi"),
    ]


def in_box(lon: float, lat: float, box: Box) -> bool:
    """Whether a place is in a box (west, south, east, north), which may cross the antimeridian."""
    west, south, east, north = box
    across = west <= lon <= east if west <= east else lon >= west or lon <= east
    return across and south <= lat <= north


def past_rows(rows: NDArray[Any], store: Store, time_us: int) -> list[list[Any]]:
    """Tracks as they were at a time, as lists of `FIELDS`."""
    states: dict[str, int] = {}
    for row in store.alerts_at(time_us):
        for track in (row.track or "").split("|"):
            states[track] = max(states.get(track, 0), 2 if row.kind == "match" else 1)
    out = []
    for row in rows:
        name = store.history.names[row["track"]]
        held = store.tracks.get(name)
        values = held.last.values if held else {}
        out.append(
            [
                name, int(row["time"]) // 1000, round(float(row["lon"]), 5), round(float(row["lat"]), 5),
                _rounded(float(row["speed"])), _rounded(float(row["course"])), _rounded(float(row["heading"])),
                states.get(name, 0), values.get("name") or "",
                values.get("vessel_type") or values.get("engine") or "", values.get("mmsi"),
            ]
        )  # fmt: skip
    return out


def tails(history: History, tracks: Iterable[str], since_us: int, until_us: int, most: int) -> dict[str, list[Any]]:
    """The last places of each track, oldest first."""
    wanted = set(tracks)
    rows = history.between(since_us, until_us)
    codes = np.array([n for n, name in enumerate(history.names) if name in wanted], dtype=np.int64)
    rows = rows[np.isin(rows["track"], codes)]
    out: dict[str, list[Any]] = {}
    for row in rows:
        out.setdefault(history.names[row["track"]], []).append(
            [round(float(row["lon"]), 5), round(float(row["lat"]), 5)]
        )
    return {name: places[-most:] for name, places in out.items()}


def alert_summary(row: AlertRow, operations: Operations, store: Store) -> dict[str, Any]:
    """An alert as the list shows it."""
    held = store.tracks.get(row.track or "")
    muted = operations.is_muted(row.pattern, row.track, row.instance)
    return {
        "alert_id": row.alert_id,
        "status": row.status,
        "kind": row.kind,
        "severity": row.severity,
        "pattern": row.pattern,
        "pattern_version": row.pattern_version,
        "track": row.track,
        "name": (held.last.values.get("name") if held else None) or None,
        "vessel": (held.last.values.get("vessel_type") or held.last.values.get("engine")) if held else None,
        "zone": row.instance,
        "time": iso(row.time_us),
        "since": iso(row.start_us),
        "lon": row.lon,
        "lat": row.lat,
        "reason": row.reason,
        "says": row.says,
        "probability": row.probability,
        "earliest_min": row.earliest_min,
        "latest_min": row.latest_min,
        "closed_because": row.closed_because,
        "model_version": row.model_version,
        "muted": muted,
        **operations.standing(row.alert_id),
    }


def rank(row: AlertRow) -> tuple[int, int, int]:
    """By which alerts are ordered: open ones, grave ones, new ones first."""
    return (row.status != "closed", GRAVITY[row.severity], row.time_us)


def sorted_alerts(alerts: Iterable[Alert]) -> list[AlertRow]:
    """The rows that hold, in the order of the list."""
    return sorted((alert.last for alert in alerts), key=rank, reverse=True)


def as_geojson(rows: Sequence[Sequence[Any]], alerts: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Tracks and alerts as a feature collection."""
    features = [
        _feature(
            row[2], row[3], {"type": "track", **{k: v for k, v in zip(FIELDS, row, strict=True) if k not in _PLACE}}
        )
        for row in rows
    ]
    for feature in features:
        feature["properties"]["time"] = iso(feature["properties"]["time"] * 1000)
        feature["properties"]["state"] = STATES[feature["properties"]["state"]]
    features += [
        _feature(alert["lon"], alert["lat"], {"type": "alert", **{k: v for k, v in alert.items() if k not in _PLACE}})
        for alert in alerts
        if alert["lon"] is not None
    ]
    return {"type": "FeatureCollection", "features": features}


_PLACE = ("lon", "lat", "notes")


def _feature(lon: float, lat: float, properties: dict[str, Any]) -> dict[str, Any]:
    return {"type": "Feature", "geometry": {"type": "Point", "coordinates": [lon, lat]}, "properties": properties}


def as_csv(rows: Sequence[Sequence[Any]]) -> str:
    """Tracks as CSV; a cell that a spreadsheet would take for a formula is made a text."""
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerow(FIELDS)
    for row in rows:
        held = dict(zip(FIELDS, row, strict=True))
        held |= {"time": iso(held["time"] * 1000), "state": STATES[held["state"]]}
        writer.writerow(_cell(held[name]) for name in FIELDS)
    return out.getvalue()


def _cell(value: Any) -> Any:
    return f"'{value}" if isinstance(value, str) and value.startswith(_RISKY) else value


def _rounded(value: float) -> float | None:
    return None if math.isnan(value) else round(value, 1)


def utc_now() -> str:
    """The wall clock."""
    return datetime.now(UTC).isoformat(timespec="milliseconds")
