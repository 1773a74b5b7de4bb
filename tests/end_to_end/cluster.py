"""Small clusters of separate processes, a job on one, and the processes below it that a test may kill."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from foresail.pipeline.kafka.broker import free_port

WAIT_S = 300
LOOK_EVERY_S = 0.05
FILES, ROWS = 8, 250_000
"""So many events that a job is not over before a test has killed what it wants to kill."""
DAEMON = "-m foresail.pipeline.runtime.worker_daemon"


@dataclass(frozen=True)
class Process:
    """One that runs: who started it, and its command."""

    number: int
    parent: int
    command: str


def write_events(folder: Path) -> Path:
    """Events of 40 tracks in order of arrival."""
    folder.mkdir()
    random = np.random.default_rng(4)
    names = pa.array([f"t{n}" for n in range(40)])
    for n in range(FILES):
        times = 1_700_000_000_000_000 + 1_000_000 * np.arange(n * ROWS, (n + 1) * ROWS)
        track = pa.DictionaryArray.from_arrays(pa.array(random.integers(0, len(names), ROWS, np.int32)), names)
        table = pa.table(
            {
                "track": track.cast(pa.string()),
                "time": pa.array(times).cast(pa.timestamp("us", tz="UTC")),
                "offset": pa.array(np.arange(ROWS)),
                "x": pa.array(random.integers(0, 8, ROWS)),
            }
        )
        pq.write_table(table, folder / f"part-{n}.parquet")
    return folder


@contextmanager
def recognising(
    events: Path, catalog: Path, out: Path, master: str, *conf: str, **settings: str
) -> Iterator["subprocess.Popen[str]"]:
    """`foresail recognise` on a cluster, started where no code of ours lies; gone when the block ends."""
    command = [
        str(Path(sys.executable).with_name("foresail")), "recognise", "--events", str(events), "--patterns",
        str(catalog), "--out", str(out), "--json", "--master", master,
        *(word for entry in conf for word in ("--conf", entry)),
    ]  # fmt: skip
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"} | settings
    job = subprocess.Popen(
        command, cwd=events.parent, env=environment, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    with ended(job):
        yield job


@contextmanager
def standalone(folder: Path, workers: int) -> Iterator[tuple[str, list["subprocess.Popen[bytes]"]]]:
    """A master and so many workers of one core, each a process; the master's address, and the workers."""
    url = f"spark://127.0.0.1:{free_port()}"
    port = url.rpartition(":")[2]
    master = ["org.apache.spark.deploy.master.Master", "--host", "127.0.0.1", "--port", port, "--webui-port", "0"]
    worker = [
        "org.apache.spark.deploy.worker.Worker", url, "--host", "127.0.0.1", "--webui-port", "0", "--cores", "1",
        "--memory", "1g",
    ]  # fmt: skip
    with ExitStack() as started:
        _, log = started.enter_context(spark_class(folder / "master", master))
        until("the master is up", lambda: "I have been elected leader" in log.read_text())
        told = [started.enter_context(spark_class(folder / f"worker-{n}", worker)) for n in range(workers)]
        until(
            "every worker has registered", lambda: all("Successfully registered" in log.read_text() for _, log in told)
        )
        yield url, [process for process, _ in told]


@contextmanager
def spark_class(folder: Path, command: list[str]) -> Iterator[tuple["subprocess.Popen[bytes]", Path]]:
    """One of Spark's own daemons, with its log; it works in `folder`."""
    folder.mkdir(parents=True)
    log = folder / "log"
    environment = os.environ | {"SPARK_WORKER_DIR": str(folder), "SPARK_LOCAL_IP": "127.0.0.1"}
    with log.open("wb") as lines:
        launcher = str(Path(sys.executable).with_name("spark-class"))
        process = subprocess.Popen([launcher, *command], cwd=folder, env=environment, stdout=lines, stderr=lines)
    with ended(process):
        yield process, log


@contextmanager
def ended(process: "subprocess.Popen[Any]") -> Iterator[None]:
    """Whatever happens in the block, the process and those below it do not outlive it."""
    try:
        yield
    finally:
        for number in [process.pid, *(below.number for below in processes_below(process.pid))]:
            kill(number)
        process.wait()


def kill(number: int) -> None:
    """Kill a process as a fault would: without a warning."""
    try:
        os.kill(number, signal.SIGKILL)
    except ProcessLookupError:
        return


def finished(job: "subprocess.Popen[str]") -> tuple[dict[str, Any], str]:
    """The summary of a job that ends well, and what it said while it ran."""
    out, err = job.communicate(timeout=WAIT_S)
    assert job.returncode == 0, err[-2000:]
    summary: dict[str, Any] = json.loads(out.splitlines()[-1])
    return summary, err


def until(what: str, holds: Callable[[], Any]) -> Any:
    """What `holds` says as soon as that is something."""
    for _ in range(round(WAIT_S / LOOK_EVERY_S)):
        said = holds()
        if said:
            return said
        time.sleep(LOOK_EVERY_S)
    return pytest.fail(f"it did not come to pass: {what}")


def processes_below(ancestor: int) -> list[Process]:
    """Every process that `ancestor` started, directly or not."""
    every = {}
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            parent = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
            command = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
        except (OSError, ValueError):
            continue
        every[int(entry.name)] = Process(int(entry.name), parent, command)
    found = []
    for process in every.values():
        above = process
        while above.parent in every and above.number != ancestor:
            above = every[above.parent]
        if above.number == ancestor != process.number:
            found.append(process)
    return found


def python_workers(job: "subprocess.Popen[Any]") -> list[int]:
    """The Python workers below a process: they are forked from a daemon that has the same command."""
    daemons = [process for process in processes_below(job.pid) if DAEMON in process.command]
    return [process.number for process in daemons if process.parent in {daemon.number for daemon in daemons}]


def executors(job: "subprocess.Popen[Any]") -> list[int]:
    """The executors below a process that have Python workers, so that something is lost with them."""
    below = processes_below(job.pid)
    with_python = {process.parent for process in below if DAEMON in process.command}
    return [p.number for p in below if "CoarseGrainedExecutorBackend" in p.command and p.number in with_python]
