"""What a line would have told, written as its Parquet output: vessels that move, alerts, forecasts, hostile names."""

import hashlib
import json
import math
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

NOON = datetime(2024, 5, 1, 12, 0, tzinfo=UTC)
HOSTILE = ('<script>alert("x")</script>', "\u202eevil\u202c \"quoted\" 'name'", "=HYPERLINK(1)&amp;<b>")
KINDS = ("cargo", "tanker", "fishing", "passenger", "tug")


def position(number: int, minute: float, name: str | None = None) -> dict[str, Any]:
    """A vessel that sails a slow circle off Brest."""
    angle = number * 0.7 + minute / 90
    radius = 0.05 + 0.012 * (number % 30)
    return {
        "track": f"{227000000 + number}",
        "time": (NOON + timedelta(minutes=minute)).isoformat(),
        "lon": round(-4.9 + radius * math.cos(angle) * 1.5 + 0.04 * (number % 7), 5),
        "lat": round(48.25 + radius * math.sin(angle), 5),
        "name": name or f"VESSEL {number}",
        "mmsi": 227000000 + number,
        "vessel_type": KINDS[number % len(KINDS)],
        "length_m": 80.0,
        "speed_kn": 4.0 + number % 12,
        "course_deg": round(math.degrees(math.pi / 2 - (angle + math.pi / 2)) % 360, 1),
        "heading_deg": None,
        "nav_status": 0,
    }


def alert(track: str, pattern: str, minute: float, **changed: Any) -> dict[str, Any]:
    """A row of `alerts`."""
    time = (NOON + timedelta(minutes=minute)).isoformat()
    identity = hashlib.sha256(f"{track} {pattern} {changed.get('instance')}".encode()).hexdigest()[:32]
    return {
        "alert_id": identity, "change": 1, "status": "opened", "kind": "match", "severity": "warning",
        "pattern": pattern, "pattern_version": 1, "model_version": None, "instance": None, "track": track,
        "time": time, "start_time": (NOON + timedelta(minutes=minute - 20)).isoformat(),
        "first_start_time": (NOON + timedelta(minutes=minute - 20)).isoformat(), "lon": -4.9, "lat": 48.3,
        "reason": "speed_kn 3.2 (> 0.5), drift_deg 41 (> 30)", "says": "A vessel that drifts.", "link": "docs",
        "closed_because": None, "probability": None, "earliest_min": None, "latest_min": None, "arrived": None,
        **changed,
    }  # fmt: skip


def write_batch(output: Path, kind: str, batch: int, rows: list[dict[str, Any] | str]) -> None:
    """One micro-batch, as the line's sinks write it."""
    folder = output / kind / f"batch={batch:09d}"
    folder.mkdir(parents=True)
    texts = [row if isinstance(row, str) else json.dumps(row) for row in rows]
    pq.write_table(pa.table({"payload": texts}), folder / "part-0.parquet")
    (folder / "_SUCCESS").touch()


def write_line(output: Path, vessels: int = 40, minutes: int = 60) -> None:
    """An hour of a line: a micro-batch a minute."""
    names: dict[int, str] = dict(enumerate(HOSTILE))
    for minute in range(minutes):
        rows: list[dict[str, Any] | str] = [position(n, minute, names.get(n)) for n in range(vessels)]
        write_batch(output, "tracks", minute, rows)
    tracks = [f"{227000000 + n}" for n in range(vessels)]
    at = minutes - 1
    write_batch(output, "alerts", 5, [alert(tracks[7], "loitering", 5, severity="info")])
    write_batch(output, "alerts", 30, [{**alert(tracks[7], "loitering", 30), "change": 2, "status": "closed",
                                        "closed_because": "ended", "severity": "info"}])  # fmt: skip
    said: list[dict[str, Any] | str] = [
        alert(tracks[3], "drifting", at - 2, severity="critical"),
        alert(tracks[0], "high_speed_near_coast", at - 4, says=HOSTILE[0], reason=HOSTILE[0]),
        alert(tracks[5], "anchored", at - 9, severity="info"),
        alert(tracks[8], "port_entry", at - 1, kind="forecast", model_version="port_entry-v1-0001", instance="Brest",
              probability=0.74, earliest_min=12.0, latest_min=18.0, severity="info",
              reason="port_entry is expected in 4 to 6 events (12 to 18 min) with a probability of 74%."),
        "{broken",
        json.dumps({"version": 99, "alert": "of another time"}),
    ]  # fmt: skip
    write_batch(output, "alerts", at, said)
