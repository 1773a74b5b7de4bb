"""`make airflow`: a local Airflow with the schedules, on loopback, on a simulated week and today's hours; to look at.

    python -m foresail.pipeline.runtime.local_airflow [--port 8080] [--home DIR]

SQLite, no examples, everyone is admin: for one person on one machine.
"""

import argparse
import os
import shutil
import signal
import subprocess
import sys
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pyarrow.compute as pc
import pyarrow.dataset as ds
import pyarrow.parquet as pq

from foresail import HOME
from foresail.pipeline.schemas import DERIVED_COLUMNS
from foresail.pipeline.settings import cache_home

DAGS = HOME / "dags"
PROGRAMS = Path(sys.executable).parent
SIMULATED_DAYS = 7


def environment_of(home: Path, port: int) -> dict[str, str]:
    """What Airflow and its tasks are told."""
    return os.environ | {
        # `airflow standalone` starts its parts by name
        "PATH": os.pathsep.join((str(PROGRAMS), os.environ.get("PATH", os.defpath))),
        "AIRFLOW_HOME": str(home),
        "AIRFLOW__CORE__DAGS_FOLDER": str(DAGS),
        "AIRFLOW__CORE__LOAD_EXAMPLES": "False",
        "AIRFLOW__CORE__EXECUTOR": "LocalExecutor",
        "AIRFLOW__CORE__PARALLELISM": "2",
        "AIRFLOW__CORE__SIMPLE_AUTH_MANAGER_ALL_ADMINS": "True",
        "AIRFLOW__CORE__EXECUTION_API_SERVER_URL": f"http://127.0.0.1:{port}/execution/",
        "AIRFLOW__API__HOST": "127.0.0.1",
        "AIRFLOW__API__PORT": str(port),
        "AIRFLOW__API__BASE_URL": f"http://127.0.0.1:{port}",
        "AIRFLOW__API__WORKERS": "1",
        "AIRFLOW_FORESAIL_HOME": str(home / "data"),
        "AIRFLOW_FORESAIL_COMMAND": str(PROGRAMS / "foresail"),
        "AIRFLOW_FORESAIL_DOMAIN": "fleet",
    }


def prepare(home: Path, environment: dict[str, str], today: datetime) -> None:
    """The database, the pool, and a simulated fleet up to today unless it is there."""
    home.mkdir(parents=True, exist_ok=True)
    data = home / "data"
    if not ((data / "events" / "events").exists() and any(data.glob(f"feed/{today:%Y-%m-%d}T*.parquet"))):
        make_feed(data, environment, today)
    airflow = str(PROGRAMS / "airflow")
    _run([airflow, "db", "migrate"], environment, quiet=True)
    _run([airflow, "pools", "set", "foresail_spark", "1", "Commands that start Spark"], environment, quiet=True)


def make_feed(data: Path, environment: dict[str, str], today: datetime) -> None:
    """A simulated week as events, and the hours of `today` as files that the schedule `ingest_feeds` takes in."""
    foresail, fleet = str(PROGRAMS / "foresail"), ("--domain", "fleet")
    simulated, history, feed, events = (data / name for name in ("simulated", "history", "feed", "events"))
    start = (today - timedelta(days=SIMULATED_DAYS)).strftime("%Y-%m-%d")
    size = ("--tracks", "60", "--days", str(SIMULATED_DAYS + 1), "--step", "120", "--start", start)
    for folder in (simulated, history, feed, events):
        shutil.rmtree(folder, ignore_errors=True)
    _run([foresail, "simulate", *fleet, *size, "--out", str(simulated)], environment)
    split_by_hour(simulated / "events", history, feed, today)
    given = ("--from", "canonical", "--input", str(history))
    _run([foresail, "ingest", *fleet, *given, "--out", str(events)], environment)


def split_by_hour(events: Path, history: Path, feed: Path, today: datetime) -> None:
    """What was before today as one file, and a file for each hour of today, named after it."""
    table = ds.dataset(events, format="parquet").to_table()
    table = table.drop_columns([name for name in DERIVED_COLUMNS if name in table.column_names])
    hours = pc.strftime(pc.floor_temporal(table.column("time"), unit="hour"), format="%Y-%m-%dT%H")
    for folder in (history, feed):
        folder.mkdir(parents=True, exist_ok=True)
    day = today.strftime("%Y-%m-%d")
    pq.write_table(table.filter(pc.less(hours, day)), history / "history.parquet")
    for hour in pc.unique(hours).to_pylist():
        if hour.startswith(day):
            pq.write_table(table.filter(pc.equal(hours, hour)), feed / f"{hour}.parquet")


def main() -> None:
    """Prepare, say where the page is, and run Airflow until Ctrl-C."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--port", type=int, default=8080)
    parser.add_argument("--home", type=Path, default=cache_home() / "foresail" / "airflow")
    asked = parser.parse_args()
    home = asked.home.resolve()  # Airflow refuses a database at a relative path
    environment = environment_of(home, asked.port)
    prepare(home, environment, datetime.now(tz=UTC))
    print(f"foresail: Airflow will be at http://127.0.0.1:{asked.port}; stop it with Ctrl-C", file=sys.stderr)
    sys.stderr.flush()
    sys.exit(run_until_interrupted([str(PROGRAMS / "airflow"), "standalone"], environment))


def run_until_interrupted(command: list[str], environment: dict[str, str], patience_s: float = 20.0) -> int:
    """Run `command`; on Ctrl-C or SIGTERM ask it to stop, and after a while end it with all that it has started.

    It has a process group of its own: Airflow waits for ever for parts that have heard Ctrl-C for themselves.
    """
    child = subprocess.Popen(command, env=environment, start_new_session=True)
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        return child.wait()
    except KeyboardInterrupt:
        print("foresail: stopping Airflow", file=sys.stderr)
        child.send_signal(signal.SIGINT)
        try:
            return child.wait(patience_s)
        except subprocess.TimeoutExpired:
            return 0
        finally:
            with suppress(ProcessLookupError):
                os.killpg(child.pid, signal.SIGKILL)
            child.wait()


def _run(command: list[str], environment: dict[str, str], quiet: bool = False) -> None:
    shown = subprocess.DEVNULL if quiet else None
    done = subprocess.run(command, env=environment, stdout=shown, stderr=shown, check=False)
    if done.returncode:
        sys.exit(f"foresail: {' '.join(command[:2])} failed with code {done.returncode}. Run it by hand to see why.")


if __name__ == "__main__":
    main()
