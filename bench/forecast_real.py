"""How good forecasts are on real tracks that nothing here was tuned on: buses of Austin, vessels of the Solent.

    .venv/bin/python -m bench.forecast_real [--set buses|solent] [--tracks N] [--out bench/results]

Everything runs in this process. A bus arrives when it comes to within 300 m of a place where many stand; the places are
found in the first fifth of the time, and only what comes after it is evaluated. A vessel stops when, having been under
way, it lies still.
"""

import argparse
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import foresail as fs
from foresail.pipeline.api.forecasting import Scores

WITHIN = (5, 15, 30)
ORDERS = (0, 1, 4)
FIRST = 0.2
"""The share of the time in which places are looked for."""
PLACES = 5
CELL_DEG = 0.003


def buses(data: Path) -> pd.DataFrame:
    """Austin's buses, a track for each vehicle."""
    read = pd.read_csv(data / "vehicles" / "capmetro_austin_bus.csv.gz", dtype=str).astype(
        {"speed": float, "latitude": float, "longitude": float}
    )
    frame = pd.DataFrame(
        {
            "track": read["vehicle_id"],
            "time": pd.to_datetime(read["timestamp"], utc=True),
            "lon": read["longitude"],
            "lat": read["latitude"],
            "speed_mps": read["speed"],
            "headsign": read["trip_headsign"],
        }
    )
    frame = _clean(frame.assign(standing=frame["speed_mps"] < 0.5))
    until = frame["time"].quantile(FIRST)
    places = _places(frame[frame["time"] <= until])
    later = frame[frame["time"] > until].drop(columns="standing").reset_index(drop=True)
    lon, lat = later["lon"].to_numpy(), later["lat"].to_numpy()
    return later.assign(stop_distance_m=np.min([_metres(lon, lat, *place) for place in places], axis=0))


def solent(data: Path) -> pd.DataFrame:
    """Vessels in the Solent in some hours of one day."""
    read = pd.read_csv(data / "ais" / "solent_20160112.csv.gz")
    frame = pd.DataFrame(
        {
            "track": read["MMSI"].astype(str),
            "time": pd.to_datetime(read["Time"], utc=True, format="ISO8601"),
            "lon": read["Longitude_degrees"],
            "lat": read["Latitude_degrees"],
            "speed_kn": read["SOG_knots"],
            "course_deg": read["COG_degrees"],
        }
    )
    return _clean(frame)


def _clean(frame: pd.DataFrame) -> pd.DataFrame:
    """In order, each moment of a track once, without the impossible."""
    sound = frame["lat"].between(-89, 89) & frame["lon"].between(-180, 180) & (frame["lon"] != 0)
    return frame[sound].drop_duplicates(["track", "time"]).sort_values(["track", "time"]).reset_index(drop=True)


def _places(frame: pd.DataFrame) -> list[tuple[float, float]]:
    """Where most tracks have been standing."""
    still = frame[frame["standing"]]
    cells = still.assign(x=(still["lon"] / CELL_DEG).round(), y=(still["lat"] / CELL_DEG).round())
    busy = cells.groupby(["x", "y"]).agg(tracks=("track", "nunique"), lon=("lon", "median"), lat=("lat", "median"))
    best = busy.sort_values(["tracks", "lon"], ascending=False).head(PLACES)
    return list(zip(best["lon"], best["lat"], strict=True))


def _metres(lon: Any, lat: Any, to_lon: float, to_lat: float) -> Any:
    east = np.radians(lon - to_lon) * np.cos(np.radians((lat + to_lat) / 2))
    return 6_371_000.0 * np.hypot(east, np.radians(lat - to_lat))


FORECAST = {"order": 4, "horizon": 60, "within": 15}
ARRIVING = fs.pattern(
    "arriving",
    "away ; near",
    {"away": "stop_distance_m >= 300", "near": "stop_distance_m < 300"},
    max_gap="30min",
    features={f"ring_{low}": f"{low} <= stop_distance_m < {2 * low}" for low in (300, 600, 1200)},
    forecast=FORECAST,
)
STOPPING = fs.pattern(
    "stopping",
    "under_way ; going* ; at_rest",
    {"under_way": "speed_kn >= 3", "going": "speed_kn >= 0.5", "at_rest": "speed_kn < 0.5"},
    max_gap="10min",
    features={"slow": "0.5 <= speed_kn < 1.5", "slowing": "1.5 <= speed_kn < 3", "fast": "speed_kn >= 8"},
    forecast=FORECAST,
)
SETS: dict[str, tuple[Callable[[Path], pd.DataFrame], fs.Pattern]] = {
    "buses": (buses, ARRIVING),
    "solent": (solent, STOPPING),
}


def table(found: Scores) -> str:
    """A line for each model: F1 at each w, the calibration error and the interval's coverage at the pattern's own."""
    (pattern,) = found.to_json()["patterns"]
    rows = {row["model"]: row for row in found.to_json()["rows"] if row["fold"] == "all"}
    lines = ["| model | " + " | ".join(f"F1, w={w}" for w in WITHIN) + " | AUC | Brier | calibration error |"]
    lines.append("|---" + "|---:" * (len(WITHIN) + 3) + "|")
    for model in pattern["models"]:
        at = {point["within"]: point["scores"]["f1"] for point in model["by_within"]}
        row = rows[model["model"]]
        cells = [*(at[w] for w in WITHIN), row["roc_auc"], row["brier"], row["calibration_error"]]
        lines.append(f"| {model['model']} | " + " | ".join(f"{cell:.3f}" for cell in cells) + " |")
    lines += ["", "| better than | by F1, w=" + ", ".join(map(str, WITHIN)) + " (95% interval) |", "|---|---|"]
    for model in ("learned", "hazard", "forest"):
        for against in ("gradient boosting", "gradient boosting, same inputs"):
            of = {d["within"]: d for d in pattern["differences"] if d["model"] == model and d["against"] == against}
            told = (f"{of[w]['f1']:+.3f} ({of[w]['low']:+.3f} to {of[w]['high']:+.3f})" for w in WITHIN if w in of)
            lines.append(f"| {model}, {against} | {'; '.join(told)} |")
    return "\n".join(lines)


def main() -> None:
    """Evaluate one set of real tracks, and write its table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--set", choices=list(SETS), default="buses")
    parser.add_argument("--tracks", type=int, default=0, help="so many tracks, drawn by chance; 0: all")
    parser.add_argument("--folds", type=int, default=4)
    parser.add_argument("--by", choices=["time", "track"], default="time")
    parser.add_argument("--out", type=Path, default=Path("bench/results"))
    options = parser.parse_args()
    read, pattern = SETS[options.set]
    events = read(options.data)
    if options.tracks:
        names = np.sort(events["track"].unique())
        some = np.random.default_rng(1).choice(names, min(options.tracks, len(names)), replace=False)
        events = events[events["track"].isin(some)].reset_index(drop=True)
    found = fs.evaluate(events, pattern, folds=options.folds, by=options.by, orders=ORDERS, within=(5, 30))
    told = found.to_json()
    name = f"forecast_real_{options.set}" + ("" if options.by == "time" else "_by_track")
    options.out.mkdir(parents=True, exist_ok=True)
    (options.out / f"{name}.json").write_text(json.dumps(told, indent=1) + "\n")
    text = table(found)
    (options.out / f"{name}.md").write_text(text + "\n")
    (one,) = told["patterns"]
    print(f"{told['events']:,} events, {told['sampled_events']:,} evaluated, {one['matches']:,} matches")
    print(text)


if __name__ == "__main__":
    main()
