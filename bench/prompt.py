"""What a short job costs from the prompt: `foresail recognise` on 20,000 rows, this checkout beside another.

    .venv/bin/python -m bench.prompt --other ../base [--runs 3] [--event-log DIR]

Each run is a fresh process, the checkouts take turns. Wall-clock seconds are those until the prompt is back; processor
seconds are those of the command, Java and all workers together, which a busy machine distorts less: it stretches the
first and hardly the second. Results are kept in bench/results/prompt.json.
"""

import argparse
import ctypes
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv as pc
import pyarrow.parquet as pq

RESULTS = Path("bench/results/prompt.json")
ROWS, TRACKS = 20_000, 20
FORMS = ("csv", "parquet")
BECOME_PARENT_OF_ORPHANS = 36
"""PR_SET_CHILD_SUBREAPER of Linux: Java outlives the command by a moment, and its time is to be counted too."""


@dataclass(frozen=True)
class Run:
    """One command from start to end."""

    checkout: str
    form: str
    wall_s: float
    processor_s: float
    steps: dict[str, float]
    result: tuple[int, int]
    """Events and matches, which are the same for all checkouts."""


def write_events(folder: Path) -> None:
    """The same 20,000 events as CSV and as Parquet."""
    random = np.random.default_rng(5)
    each = ROWS // TRACKS
    speed = np.abs(random.normal(0, 1.5, (TRACKS, each)).cumsum(axis=1)) % 24
    table = pa.table(
        {
            "track": np.repeat([f"vessel-{n}" for n in range(TRACKS)], each),
            "time": (np.datetime64("2024-05-01", "us") + np.tile(np.arange(each), TRACKS) * np.timedelta64(60, "s")),
            "lon": random.uniform(-5, 5, ROWS).round(5),
            "lat": random.uniform(45, 50, ROWS).round(5),
            "speed_kn": speed.ravel().round(1),
            "course_deg": random.integers(0, 360, ROWS),
            "heading_deg": random.integers(0, 360, ROWS),
            "nav_status": random.integers(0, 8, ROWS),
            "coast_distance_m": random.uniform(0, 60_000, ROWS).round(1),
            "name": np.repeat([f"name {n}" for n in range(TRACKS)], each),
        }
    )
    table = table.set_column(1, "time", table["time"].cast(pa.timestamp("us", "UTC")))
    pq.write_table(table, folder / "events.parquet")
    pc.write_csv(table, folder / "events.csv")


def run(checkout: Path, form: str, folder: Path, options: Sequence[str]) -> Run:
    """The command of this checkout on events of this form."""
    command = [str(checkout / ".venv/bin/foresail"), "recognise", "--events", str(folder / f"events.{form}")]
    command += ["--domain", "maritime", "--out", str(folder / "out"), "--json", "--quiet", *options]
    code = {**os.environ, "PYTHONPATH": str(checkout)}  # also where checkouts share an environment
    before, began = _processor_s(), time.monotonic()
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=folder, env=code) as process:
        said = process.stdout.read() if process.stdout else ""
        if process.wait():
            msg = f"{' '.join(command)}: failed."
            raise SystemExit(msg)
        wall_s = time.monotonic() - began
    _wait_for_orphans()
    told: dict[str, Any] = json.loads(said.splitlines()[-1])
    result = (told["events"], told["matches"])
    return Run(str(checkout), form, wall_s, _processor_s() - before, told["seconds_by_step"], result)


def _processor_s() -> float:
    times = os.times()
    return times.children_user + times.children_system


def _wait_for_orphans() -> None:
    try:
        while True:
            os.wait()
    except ChildProcessError:
        return


def table_of(runs: Sequence[Run]) -> str:
    """The median of each checkout and form."""
    lines = [f"{'form':8} {'checkout':24} {'wall s':>7} {'processor s':>12}  steps, s"]
    for form in FORMS:
        for checkout in dict.fromkeys(run.checkout for run in runs):
            mine = [run for run in runs if (run.form, run.checkout) == (form, checkout)]
            wall, used = (statistics.median(getattr(r, name) for r in mine) for name in ("wall_s", "processor_s"))
            steps = {name: statistics.median(r.steps[name] for r in mine) for name in mine[0].steps}
            said = ", ".join(f"{name} {seconds:.1f}" for name, seconds in steps.items())
            lines.append(f"{form:8} {checkout[-24:]:24} {wall:7.1f} {used:12.1f}  {said}")
    return "\n".join(lines)


def main() -> None:
    """Run all, print the table, keep the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--other", type=Path, action="append", default=[], help="another checkout; repeatable")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--form", choices=FORMS, action="append", help="both if absent")
    parser.add_argument("--event-log", type=Path, help="where Spark keeps its event logs")
    given = parser.parse_args()
    ctypes.CDLL(None).prctl(BECOME_PARENT_OF_ORPHANS, 1, 0, 0, 0)
    log = f"spark.eventLog.dir={given.event_log and given.event_log.resolve().as_uri()}"
    options = ["--conf", "spark.eventLog.enabled=true", "--conf", log] if given.event_log else []
    runs: list[Run] = []
    with tempfile.TemporaryDirectory(prefix="foresail-prompt-") as folder:
        write_events(Path(folder))
        for turn in range(given.runs):
            for form in given.form or FORMS:
                for checkout in (Path.cwd(), *(path.resolve() for path in given.other)):
                    runs.append(run(checkout, form, Path(folder), options))
                    sys.stderr.write(f"{turn + 1} of {given.runs}: {runs[-1]}\n")
    if len({r.result for r in runs}) > 1:
        msg = "the checkouts do not find the same."
        raise SystemExit(msg)
    RESULTS.parent.mkdir(parents=True, exist_ok=True)
    RESULTS.write_text(json.dumps([asdict(r) for r in runs], indent=1) + "\n", encoding="utf-8")
    sys.stdout.write(table_of(runs) + "\n")


if __name__ == "__main__":
    main()
