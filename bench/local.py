"""The local engine next to window SQL of DuckDB on the same Parquet, and `fs.find` on a frame in memory.

    .venv/bin/python -m bench.local [--millions 8.5] [--runs 3] [--threads 2]

Events are made by NumPy, laid out by track. Four and twelve simple patterns are looked for, first to see that both
find the same number of each, then for the time: `seconds` of `foresail recognise --engine local --json` and the time
from the prompt, against the wall seconds of DuckDB's query once it is warm; both write their matches as Parquet.
Processor seconds stand beside them, since a busy machine stretches them least. Results are kept in
bench/results/local.json.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

import foresail as fs
from foresail.pipeline.stages.layout import LAYOUT_FILE, Layout

RESULTS = Path("bench/results/local.json")
EVENTS_OF_TRACK = 5_000
FILES = 8
SIX = ("anchored", "drifting", "gap", "high_speed_near_coast", "loitering", "trawling")


@dataclass(frozen=True)
class Simple:
    """A pattern in both languages: conditions on consecutive events, the last of them on the event itself."""

    name: str
    pattern: str
    where: dict[str, str]
    in_order: tuple[str, ...]
    """The names of the conditions as the events must come."""

    @property
    def yaml(self) -> str:
        """The entry of a catalog."""
        return json.dumps({"name": self.name, "says": self.name, "where": self.where, "pattern": self.pattern})

    @property
    def sql(self) -> str:
        """The same of columns and of what `lag` has of them, `speed_kn_1` for the event before."""
        back = len(self.in_order) - 1
        tests = [self.where[name] for name in self.in_order]
        return " AND ".join(_lagged(test, back - place) for place, test in enumerate(tests))


def _lagged(test: str, back: int) -> str:
    column, rest = test.split(" ", 1)
    return f"{column}_{back} {rest}" if back else test


def simple_patterns(count: int) -> list[Simple]:
    """Stops, departures, sudden stops and fast turns, with limits that differ."""
    made = []
    for n in range(-(-count // 4)):
        slow, fast = {"slow": f"speed_kn < {1 + n}"}, {"fast": f"speed_kn > {16 + n}"}
        turned = {"turned": f"turn_deg > {60 + 10 * n}"}
        made += [
            Simple(f"stop_{n}", "slow{3}", slow, ("slow", "slow", "slow")),
            Simple(f"departure_{n}", "slow ; fast", slow | fast, ("slow", "fast")),
            Simple(f"sudden_stop_{n}", "fast ; slow ; slow", slow | fast, ("fast", "slow", "slow")),
            Simple(f"fast_turn_{n}", "fast ; turned", fast | turned, ("fast", "turned")),
        ]
    return made[:count]


def make_events(rows: int, seed: int = 3) -> pa.Table:
    """Tracks one after the other: speeds that wander, turns, distances, places."""
    random = np.random.default_rng(seed)
    tracks = max(1, rows // EVENTS_OF_TRACK)
    each = rows // tracks
    count = tracks * each
    speed = np.abs(random.normal(0, 3, (tracks, each)).cumsum(axis=1)) % 22
    place = random.normal(0, 0.002, (2, tracks, each)).cumsum(axis=2).reshape(2, count)
    seconds = random.integers(20, 60, (tracks, each)).cumsum(axis=1).ravel()
    return pa.table(
        {
            "track": pa.array(np.repeat([f"v{n:06d}" for n in range(tracks)], each)),
            "time": pa.array(1_767_225_600_000_000 + seconds * 1_000_000).cast(pa.timestamp("us", "UTC")),
            "lon": place[0] - 4.5,
            "lat": place[1] + 48.0,
            "offset": np.arange(count),
            "speed_kn": speed.ravel().round(1),
            "turn_deg": np.abs(random.normal(0, 40, count)).round(1),
        }
    )


def write_by_track(events: pa.Table, folder: Path) -> None:
    """In files of whole tracks, one row group each, as `simulate` and `ingest` write them."""
    folder.mkdir()
    tracks = events["track"].dictionary_encode().combine_chunks().indices.to_numpy()
    cuts = [0, *(int(np.searchsorted(tracks, tracks[-1] * n // FILES)) for n in range(1, FILES)), len(tracks)]
    for n in range(FILES):
        part = events.slice(cuts[n], cuts[n + 1] - cuts[n])
        pq.write_table(part, folder / f"part-{n:05d}.parquet", compression="zstd", row_group_size=max(1, len(part)))
    layout = Layout(FILES, len(tracks), int(tracks[-1]) + 1, hash="by range of track")
    (folder / LAYOUT_FILE).write_text(json.dumps(asdict(layout)))


@dataclass(frozen=True)
class Taken:
    """What one run took."""

    seconds: float
    processor_s: float
    counts: dict[str, int]
    from_prompt_s: float | None = None


def window_sql(patterns: Sequence[Simple], events: Path, out: Path) -> str:
    """One scan, one window, a row for each pattern that holds."""
    lags = [f"lag({name}, {n}) OVER w AS {name}_{n}" for name in ("speed_kn", "turn_deg") for n in (1, 2)]
    used = " ".join(pattern.sql for pattern in patterns)
    lags = [lag for lag in lags if lag.rpartition(" ")[2] in used]
    found = ", ".join(f"CASE WHEN {pattern.sql} THEN '{pattern.name}' END" for pattern in patterns)
    return f"""COPY (
      WITH seen AS (
        SELECT track, time, lon, lat, speed_kn, turn_deg, {", ".join(lags)}
        FROM read_parquet('{events}/*.parquet') WINDOW w AS (PARTITION BY track ORDER BY time)
      ), held AS (
        SELECT track, time, lon, lat, [{found}] AS names FROM seen
        WHERE {" OR ".join(f"({pattern.sql})" for pattern in patterns)}
      ), each AS (SELECT track, time, lon, lat, unnest(names) AS pattern FROM held)
      SELECT * FROM each WHERE pattern IS NOT NULL
    ) TO '{out}' (FORMAT parquet)"""


def ask_duckdb(patterns: Sequence[Simple], events: Path, out: Path, threads: int, runs: int) -> list[Taken]:
    """The query, first once to warm up, then so many times."""
    connection = duckdb.connect(config={"threads": threads})
    query = window_sql(patterns, events, out)
    connection.execute(query)
    counted = connection.execute(f"SELECT pattern, count(*) FROM read_parquet('{out}') GROUP BY pattern").fetchall()
    counts = {pattern.name: 0 for pattern in patterns} | dict(counted)
    taken = []
    for _ in range(runs):
        seconds, processor_s = _timed(lambda: connection.execute(query))
        taken.append(Taken(seconds, processor_s, counts))
    connection.close()
    return taken


def ask_local(patterns: Sequence[Simple], events: Path, folder: Path, runs: int) -> list[Taken]:
    """The command in a fresh process, so many times."""
    catalog = folder / f"{len(patterns)}.yaml"
    catalog.write_text("patterns:\n" + "".join(f"- {pattern.yaml}\n" for pattern in patterns))
    command = [sys.executable, "-m", "foresail", "recognise", "--engine", "local", "--events", str(events)]
    command += ["--patterns", str(catalog), "--out", str(folder / f"found-{len(patterns)}"), "--json", "--quiet"]
    taken = []
    for _ in range(runs):
        said: list[str] = []
        wall, processor_s = _timed(lambda said=said: said.append(subprocess.check_output(command, text=True)))
        summary: dict[str, Any] = json.loads(said[0].splitlines()[-1])
        counts = {pattern.name: 0 for pattern in patterns} | summary["matches_by_pattern"]
        taken.append(Taken(summary["seconds"], processor_s, counts, wall))
    return taken


def _timed(work: Callable[[], object]) -> tuple[float, float]:
    used, began = sum(os.times()[:4]), time.perf_counter()
    work()
    return time.perf_counter() - began, sum(os.times()[:4]) - used


def find_in_frame(rows: int, runs: int) -> dict[str, float]:
    """Events a second of `fs.find` on a pandas frame, six maritime patterns, one core."""
    frame = make_events(rows).to_pandas()
    random = np.random.default_rng(4)
    count = len(frame)
    frame["port_distance_m"] = random.gamma(2, 20_000, count)
    frame["coast_distance_m"] = frame["port_distance_m"] * random.uniform(0.1, 1, count)
    frame["drift_deg"] = np.abs(random.normal(0, 15, count))
    frame["gap_s"] = frame.groupby("track", sort=False)["time"].diff().dt.total_seconds()
    frame["in_anchorage"] = random.random(count) < 0.01
    frame["in_fishing"] = random.random(count) < 0.1
    frame["vessel_type"] = pd.Categorical(np.where(random.random(count) < 0.3, "fishing", "cargo"))
    patterns = [fs.catalog("maritime")[name] for name in SIX]
    matches = len(fs.find(frame, patterns))
    taken = [_timed(lambda: fs.find(frame, patterns)) for _ in range(runs)]
    seconds, processor_s = (statistics.median(one) for one in zip(*taken, strict=True))
    return {
        "events": count,
        "matches": matches,
        "seconds": seconds,
        "processor_s": processor_s,
        "events_per_processor_s": count / processor_s,
    }


def main() -> None:
    """Equal counts first, then the table of times, then the figures into a file."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--millions", type=float, default=8.5)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    given = parser.parse_args()
    kept: dict[str, Any] = {"millions": given.millions, "threads": given.threads}
    with tempfile.TemporaryDirectory(prefix="foresail-local-") as name:
        folder = Path(name)
        write_by_track(make_events(round(given.millions * 1e6)), folder / "events")
        for count in (4, 12):
            patterns = simple_patterns(count)
            theirs = ask_duckdb(patterns, folder / "events", folder / "duckdb.parquet", given.threads, given.runs)
            ours = ask_local(patterns, folder / "events", folder, given.runs)
            if theirs[0].counts != ours[0].counts:
                msg = f"not the same matches: {theirs[0].counts} by DuckDB, {ours[0].counts} by the local engine."
                raise SystemExit(msg)
            sys.stdout.write(f"{count} patterns, {sum(ours[0].counts.values()):,} matches, the same counts\n")
            sys.stdout.write(_line("DuckDB, warm", theirs) + _line("recognise --engine local", ours))
            kept[f"{count} patterns"] = {"duckdb": [asdict(t) for t in theirs], "local": [asdict(t) for t in ours]}
    kept["fs.find"] = found = find_in_frame(min(1_000_000, round(given.millions * 1e6)), given.runs)
    sys.stdout.write(
        f"fs.find, {found['events']:,} events of a pandas frame, six maritime patterns: {found['seconds']:.2f} s, "
        f"{found['events_per_processor_s'] / 1e6:.1f} M events a processor second, {found['matches']:,} matches\n"
    )
    RESULTS.parent.mkdir(parents=True, exist_ok=True)
    RESULTS.write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")


def _line(who: str, taken: Sequence[Taken]) -> str:
    seconds = statistics.median(run.seconds for run in taken)
    used = statistics.median(run.processor_s for run in taken)
    prompts = [run.from_prompt_s for run in taken if run.from_prompt_s is not None]
    prompt = f", {statistics.median(prompts):.2f} s from the prompt" if prompts else ""
    return f"  {who:26} {seconds:6.2f} s, {used:6.2f} processor s{prompt}\n"


if __name__ == "__main__":
    main()
