"""A small recorded day for tests of the whole line: simulated positions, what goes wrong on the way, and the truth."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from foresail.pipeline.settings import TopicSettings

CATALOG = """\
patterns:
- name: stays
  version: 1
  domain: maritime
  says: A vessel lies still, three positions in a row or more.
  where: {slow: speed_kn < 1}
  pattern: slow{3,}
  max_gap: 30min
  report: episodes
  features: {fast: speed_kn >= 8}
  forecast: {order: 2, horizon: 30, kind: within, within: 5, threshold: 0.3}
  alert: {severity: warning, min_dwell: 3min, cool_down: 20min}
- name: hurries
  version: 1
  domain: maritime
  says: A vessel covers more than a mile between two positions.
  where: {far: distance_m > 1852, near: distance_m <= 1852}
  pattern: near ; far
  window: 2h
  alert: {severity: info}
- name: turns
  version: 1
  domain: maritime
  says: A vessel turns twice while it is fast.
  where: {turn: change_in_heading and speed_kn > 5}
  pattern: turn{2}
  output: count
- name: gathers_way
  version: 1
  domain: maritime
  says: A vessel is 8 knots faster than when it was last still, at most ten minutes later, and within two miles.
  where:
    still: speed_kn < 1
    faster: speed_kn > was.speed_kn + 8 and distance_m(lon, lat, was.lon, was.lat) < 3704
  pattern: any(still as was, faster)
  window: 10min
  output: enumerate
"""


def positions(tracks: int = 25, events: int = 120, seed: int = 5) -> pd.DataFrame:
    """Positions of some vessels over a few hours, in the order in which they were made; times are whole seconds."""
    rng = np.random.default_rng(seed)
    rows = []
    for track in range(tracks):
        steps = rng.choice([30, 60, 90, 2400], size=events, p=[0.3, 0.5, 0.18, 0.02])
        still = np.repeat(rng.random(-(-events // 8)) < 0.4, 8)[:events]
        speed = np.where(still, rng.uniform(0, 1.1, events), rng.uniform(3, 14, events))
        rows.append(
            pd.DataFrame(
                {
                    "track": f"{211000000 + track}",
                    "mmsi": 211000000 + track,
                    "time": 1_700_000_000 + np.cumsum(steps),
                    "lon": np.round(8 + np.cumsum(rng.normal(0, 0.01, events)), 6),
                    "lat": np.round(54 + np.cumsum(rng.normal(0, 0.005, events)), 6),
                    "speed_kn": np.round(speed, 1),
                    "heading_deg": np.round(rng.uniform(0, 359, events), 0),
                }
            )
        )
    return pd.concat(rows).sort_values("time", kind="stable", ignore_index=True)


@dataclass(frozen=True)
class Message:
    """What is sent: a key and a text."""

    key: str
    value: bytes


def messages(rows: pd.DataFrame, seed: int = 1, duplicates: float = 0.03, jitter_s: float = 40.0) -> list[Message]:
    """The rows as messages, some twice, late by up to `jitter_s`."""
    rng = np.random.default_rng(seed)
    sent = np.concatenate([np.arange(len(rows)), rng.choice(len(rows), int(duplicates * len(rows)), replace=False)])
    order = np.argsort(rows["time"].to_numpy()[sent] + rng.uniform(0, jitter_s, len(sent)), kind="stable")
    return [Message(row["track"], json.dumps(row).encode()) for row in rows.iloc[sent[order]].to_dict("records")]


def poison() -> Iterator[Message]:
    """Messages that are no positions."""
    yield Message("x", b"this is not JSON")
    yield Message("x", b'{"track": ["a", "list"], "time": {"no": "time"}, "lon": "east"}')
    yield Message("x", b'{"track": "211000099", "time": 1700000000, "lon": "far", "lat": 54}')
    yield Message("x", b"\xff\xfe\x00")
    yield Message("x", b'{"track": "' + b"9" * 10_000_000 + b'"}')


def settings_file(folder: Path, servers: str, prefix: str, **stream: Any) -> Path:
    """A settings file for a line whose topics begin with `prefix`."""
    import yaml

    kinds = TopicSettings.model_fields
    (folder / "patterns.yaml").write_text(CATALOG, encoding="utf-8")
    values = {
        "kafka": {"bootstrap_servers": servers},
        "stream": {
            "patterns": [str(folder / "patterns.yaml")],
            "topics": {kind: f"{prefix}-{kind}" for kind in kinds},
            "checkpoint": str(folder / "checkpoint"),
            "starting_offsets": "earliest",
            "out_of_order_s": 60.0,
            "same_time": "drop",
            **stream,
        },
    }
    file = folder / "settings.yaml"
    file.write_text(yaml.safe_dump(values), encoding="utf-8")
    return file
