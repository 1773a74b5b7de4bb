"""A few hours at sea for tests of pairs in the live line: vessels that meet, tow and pass, and their messages."""

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import yaml

BEGIN_S = 1_700_000_000
HOURS = 3.4
METRES_PER_DEGREE = 111_320.0
LATITUDE = 54.0
PORT = (6.2, 54.0)


@dataclass(frozen=True)
class Vessel:
    """Where it is, in metres east and north of the place of its meeting, at times in minutes from the beginning."""

    meeting: int
    way: tuple[tuple[float, float, float], ...]
    vessel_type: str | None = "cargo"
    silent_min: tuple[float, float] = (0.0, 0.0)
    behind_s: float = 0.0
    """How long its messages take."""
    more: dict[str, Any] = field(default_factory=dict)


def lying(meeting: int, from_min: float, to_min: float, **more: Any) -> list[Vessel]:
    """Two vessels that come from far, lie 120 m apart, and leave."""
    ways = [
        ((0, side * 6000, 0), (from_min, side * 60, 0), (to_min, side * 60, 20), (HOURS * 60, side * 9000, 0))
        for side in (-1, 1)
    ]
    return [Vessel(meeting, way, **(more if side else {})) for side, way in enumerate(ways)]


VESSELS = (
    *lying(0, 50, 95),
    *lying(1, 20, 175),  # long enough for an encounter
    Vessel(2, ((0, 0, 0), (60, 9000, 0), (204, 11000, 0)), "tug"),
    Vessel(2, ((0, -80, 0), (60, 8920, 0), (204, 8920, 0))),
    Vessel(3, ((0, -9000, 0), (60, 9000, 0), (204, 9000, 3000))),  # meet head on
    Vessel(3, ((0, 9000, 50), (60, -9000, 50), (204, -9000, 3000))),
    *lying(4, 30, 130, behind_s=1500.0, silent_min=(70, 91)),  # late and silent: an episode that only seems to end
    Vessel(5, ((0, 0, 0), (204, 0, 20))),  # twice, with a silence in between
    Vessel(5, ((0, 100, 0), (20, 100, 0), (45, 7000, 0), (80, 100, 0), (120, 100, 0), (150, 7000, 0)), None),
    *lying(6, 10, 190),  # by the port: no rendezvous
    *lying(7, 60, 200, vessel_type=None),
)


BEHIND = f"{211000000 + next(n for n, vessel in enumerate(VESSELS) if vessel.behind_s)}"
"""The track whose messages are far behind."""


def positions(seed: int = 7) -> pd.DataFrame:
    """Positions in the order in which they were made; times are whole seconds."""
    rng = np.random.default_rng(seed)
    parts = []
    for number, vessel in enumerate(VESSELS):
        times = np.cumsum(rng.integers(40, 80, int(HOURS * 60)))
        times = times[times < HOURS * 3600]
        silent = (times > vessel.silent_min[0] * 60) & (times < vessel.silent_min[1] * 60)
        times = times[~silent]
        at, east, north = (np.array(column, dtype=float) for column in zip(*vessel.way, strict=True))
        x, y = (np.interp(times / 60, at, along) + rng.normal(0, 3, len(times)) for along in (east, north))
        speed = np.hypot(np.gradient(x, times), np.gradient(y, times)) * 3600 / 1852
        parts.append(
            pd.DataFrame(
                {
                    "track": f"{211000000 + number}",
                    "mmsi": 211000000 + number,
                    "time": BEGIN_S + times,
                    "lon": np.round(
                        5.0 + 0.2 * vessel.meeting + x / METRES_PER_DEGREE / np.cos(np.radians(LATITUDE)), 6
                    ),
                    "lat": np.round(LATITUDE + y / METRES_PER_DEGREE, 6),
                    "speed_kn": np.where(rng.random(len(times)) < 0.2, np.nan, np.round(speed, 1)),
                    "vessel_type": vessel.vessel_type,
                    "behind_s": vessel.behind_s,
                }
            )
        )
    return pd.concat(parts).sort_values("time", kind="stable", ignore_index=True)


def arriving(rows: pd.DataFrame, jitter_s: float, seed: int = 3) -> list[str]:
    """The rows as lines of JSON, as they come: out of order by up to `jitter_s`, or far behind in order."""
    rng = np.random.default_rng(seed)
    behind = rows["behind_s"].to_numpy()
    delay = np.where(behind > 0, behind, rng.uniform(0, jitter_s, len(rows)))
    order = np.argsort(rows["time"].to_numpy() + delay, kind="stable")
    records = rows.drop(columns="behind_s").iloc[order].to_dict("records")
    return [json.dumps({k: v for k, v in row.items() if pd.notna(v)}) for row in records]


def write_layers(folder: Path) -> Path:
    """Ports, a coast and anchorages, far away but for one port."""
    places = {
        "ports": ("port", {"type": "Point", "coordinates": PORT}),
        "coasts": ("coast", {"type": "LineString", "coordinates": [[4.0, 53.0], [8.0, 53.0]]}),
        "anchorages": ("anchorage", {"type": "Point", "coordinates": (4.0, 53.5)}),
    }
    layers = []
    for name, (kind, geometry) in places.items():
        feature = {"type": "Feature", "properties": {"NAME": name}, "geometry": geometry}
        text = json.dumps({"type": "FeatureCollection", "features": [feature]})
        (folder / f"{name}.geojson").write_text(text, encoding="utf-8")
        layers.append({"name": name, "kind": kind, "file": f"{name}.geojson", "name_column": "NAME", "radius_m": 1000})
    file = folder / "layers.yaml"
    file.write_text(yaml.safe_dump({"layers": layers}), encoding="utf-8")
    return file
