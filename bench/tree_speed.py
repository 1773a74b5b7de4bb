"""What hazards of trees cost: fitting them, and asking them next to a chain, in processor seconds of one process.

    .venv/bin/python -m bench.tree_speed [--events 300000]

Vessels go to and fro before a port, with some attributes; nothing is said of how good the forecasts are.
"""

import argparse
import time
from typing import Any

import numpy as np
import pandas as pd

import foresail as fs

TRACK_EVENTS = 2000


def traffic(events: int, seed: int = 7) -> pd.DataFrame:
    """Tracks whose distance to a port is a wave, with a speed, a course and a kind."""
    rng = np.random.default_rng(seed)
    tracks = max(1, events // TRACK_EVENTS)
    count = tracks * TRACK_EVENTS
    track = np.repeat(np.arange(tracks), TRACK_EVENTS)
    step = rng.uniform(0.02, 0.08, tracks)[track] * rng.uniform(0.5, 1.5, count)
    way = np.cumsum(step)
    distance = 12_000 * (1 + np.sin(way)) + rng.normal(0, 200, count)
    return pd.DataFrame(
        {
            "track": np.char.add("v", track.astype(str)),
            "time": pd.Timestamp("2026-03-02", tz="UTC")
            + pd.to_timedelta(np.tile(np.arange(TRACK_EVENTS), tracks) * 60, "s"),
            "port_distance_m": np.abs(distance),
            "speed_kn": np.abs(np.cos(way)) * 12 + rng.normal(0, 0.5, count),
            "course_deg": np.degrees(way) % 360,
            "nav_status": rng.integers(0, 8, count),
            "vessel_type": np.array(["ferry", "tug", "cargo"])[track % 3],
            "lon": -4.5 + distance / 1e5,
            "lat": 48.0 + rng.normal(0, 1e-3, count),
        }
    )


def entering(model: str) -> fs.Pattern:
    """The same pattern forecast by one kind of model."""
    where = {"out": "port_distance_m >= 1500", "inside": "port_distance_m < 1500"}
    forecast = {"model": model, "order": 2, "horizon": 60, "within": 15, "threshold": 0.3}
    return fs.pattern("entering", "out ; inside", where, max_gap="1h", forecast=forecast)


def cpu(job: Any) -> tuple[float, Any]:
    """Processor seconds, and what came of it."""
    began = time.process_time()
    made = job()
    return time.process_time() - began, made


def main() -> None:
    """Fit and ask each kind of model once, after a small run that loads what is needed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--events", type=int, default=300_000)
    parser.add_argument("--models", nargs="+", default=["chain", "hazard", "forest"])
    options = parser.parse_args()
    events, few = traffic(options.events), traffic(10_000)
    print("| model | train, s | forecast, `positive`, s | µs an event |\n|---|---:|---:|---:|")
    for model in options.models:
        pattern = entering(model)
        fs.forecast(few, pattern, fs.train(few, pattern))
        fitting, made = cpu(lambda pattern=pattern: fs.train(events, pattern))
        asking, _ = cpu(lambda pattern=pattern, made=made: fs.forecast(events, pattern, made, emit="positive"))
        print(f"| {model} | {fitting:.1f} | {asking:.2f} | {asking / len(events) * 1e6:.2f} |", flush=True)


if __name__ == "__main__":
    main()
