"""On a cluster of separate processes: the code ships itself, and killed workers change nothing."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

pytestmark = [pytest.mark.spark, pytest.mark.soak]

PATTERN = """
name: rise
version: 1
domain: fleet
says: Low, then high.
where: {low: x < 3, high: x >= 5}
pattern: low ; high+
max_gap: 10min
"""
CLUSTER = "local-cluster[2,1,1024]"
FILES, ROWS = 6, 120_000


@pytest.fixture
def events(tmp_path: Path) -> Path:
    folder = tmp_path / "events"
    folder.mkdir()
    random = np.random.default_rng(4)
    for n in range(FILES):
        times = 1_700_000_000_000_000 + 1_000_000 * np.arange(n * ROWS, (n + 1) * ROWS)
        table = pa.table(
            {
                "track": pa.array([f"t{k}" for k in random.integers(0, 40, ROWS)]),
                "time": pa.array(times).cast(pa.timestamp("us", tz="UTC")),
                "offset": pa.array(np.arange(ROWS)),
                "x": pa.array(random.integers(0, 8, ROWS)),
            }
        )
        pq.write_table(table, folder / f"part-{n}.parquet")
    return folder


def start(events: Path, out: Path, master: str) -> "subprocess.Popen[str]":
    catalog = events.parent / "rise.yaml"
    catalog.write_text(PATTERN)
    command = [
        str(Path(sys.executable).with_name("foresail")), "recognise", "--events", str(events), "--patterns",
        str(catalog), "--out", str(out), "--json", "--master", master,
    ]  # fmt: skip
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    return subprocess.Popen(
        command, cwd=events.parent, env=environment, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )


def finish(job: "subprocess.Popen[str]") -> dict[str, Any]:
    out, err = job.communicate(timeout=240)
    assert job.returncode == 0, err[-2000:]
    summary: dict[str, Any] = json.loads(out.splitlines()[-1])
    return summary


def ids(out: Path) -> list[str]:
    return sorted(pq.read_table(out / "matches", columns=["match_id"])["match_id"].to_pylist())


def processes_below(ancestor: int) -> dict[int, tuple[int, str]]:
    """Every process that `ancestor` started, directly or not: its parent and its command."""
    parents, commands = {}, {}
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            parents[int(entry.name)] = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
            commands[int(entry.name)] = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
        except (OSError, ValueError):
            continue
    found: dict[int, tuple[int, str]] = {}
    for process, parent in parents.items():
        above = process
        while above in parents and above != ancestor:
            above = parents[above]
        if above == ancestor and process != ancestor:
            found[process] = (parent, commands[process])
    return found


def kill_one(job: "subprocess.Popen[str]", is_victim: Any) -> int:
    """Kill the first process below the job that is a victim; waits until there is one."""
    for _ in range(1200):
        assert job.poll() is None, "the job must still be running when its worker is killed"
        below = processes_below(job.pid)
        victims = [
            process for process, (parent, command) in below.items() if is_victim(process, parent, command, below)
        ]
        if victims:
            os.kill(victims[0], signal.SIGKILL)
            return victims[0]
        time.sleep(0.05)
    pytest.fail("no worker appeared")


def is_python_worker(_process: int, parent: int, command: str, below: dict[int, tuple[int, str]]) -> bool:
    """Workers are forked from a daemon that has the same command."""
    return "pyspark.daemon" in command and "pyspark.daemon" in below.get(parent, (0, ""))[1]


def is_executor(process: int, _parent: int, command: str, below: dict[int, tuple[int, str]]) -> bool:
    """An executor that has workers, so that something is lost with it."""
    daemons = {parent for parent, other in below.values() if "pyspark.daemon" in other}
    return "CoarseGrainedExecutorBackend" in command and process in daemons


def test_killed_workers_on_a_cluster_change_nothing(events: Path, tmp_path: Path) -> None:
    job = start(events, tmp_path / "cluster", CLUSTER)
    killed = [kill_one(job, is_python_worker), kill_one(job, is_executor)]
    disturbed = finish(job)
    undisturbed = finish(start(events, tmp_path / "local", "local[2]"))
    assert len(set(killed)) == 2
    assert ids(tmp_path / "cluster") == ids(tmp_path / "local") != []
    assert disturbed["matches_by_pattern"] == undisturbed["matches_by_pattern"]
    assert disturbed["events"] == undisturbed["events"] == FILES * ROWS
