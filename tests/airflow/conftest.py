"""A real Airflow with a database of its own, and a small simulated feed; everything in temporary folders."""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from foresail import HOME

FORESAIL = Path(sys.executable).with_name("foresail")


@dataclass(frozen=True)
class Ended:
    """How each run ended, and all that was logged."""

    runs: list[dict[str, Any]]
    log: str


Runs = Callable[..., Ended]


@pytest.fixture(scope="session")
def airflow_environment(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    if find_spec("airflow.sdk") is None:
        pytest.skip("Apache Airflow is not installed: `pip install foresail[airflow]`")
    home = tmp_path_factory.mktemp("airflow")
    return os.environ | {
        "AIRFLOW_HOME": str(home),
        "AIRFLOW__CORE__DAGS_FOLDER": str(HOME / "dags"),
        "AIRFLOW__CORE__LOAD_EXAMPLES": "False",
        "AIRFLOW_FORESAIL_COMMAND": str(FORESAIL),
        "AIRFLOW_FORESAIL_RETRIES": "0",
        "FORESAIL_TRAINING__HELD_OUT_SHARE": "0.4",
        "FORESAIL_SPARK__MASTER": "local[1]",
    }


@pytest.fixture(scope="session")
def java() -> Iterator[dict[str, str]]:
    """How a task finds the Java process that all tasks use: one of its own would take most of a task's time to start.

    Each task makes a Spark session in it and stops it again, so only one task at a time may use Spark.
    """
    from foresail.pipeline.progress import SILENT
    from foresail.pipeline.runtime.jars import SPARK_JARS, resolve
    from foresail.pipeline.runtime.java_process import launch_java
    from foresail.pipeline.runtime.session import configuration
    from foresail.pipeline.settings import read_settings

    settings = read_settings(environment={"FORESAIL_SPARK__MASTER": "local[1]"})
    jars = [jar for jar_set in SPARK_JARS for jar in resolve(jar_set, settings.jars.directory, SILENT)]
    gateway, _ = launch_java(configuration(settings, jars, short_work=True))
    found = gateway.java_parameters
    yield {"PYSPARK_GATEWAY_PORT": str(found.port), "PYSPARK_GATEWAY_SECRET": found.auth_token}
    gateway.proc.stdin.close()  # Java ends when nobody can write to it any more
    gateway.proc.wait()


@pytest.fixture(scope="session")
def feed(tmp_path_factory: pytest.TempPathFactory, spark: Any) -> Path:
    """Two simulated days of forty vehicles, from 2 March 2026."""
    from foresail.pipeline.progress import SILENT
    from foresail.pipeline.simulator.job import simulate
    from foresail.pipeline.simulator.settings import SimulationSettings

    folder = tmp_path_factory.mktemp("feed") / "fleet"
    simulate(spark, SimulationSettings(domain="fleet", tracks=40, days=2.0, step_s=120.0, seed=5), folder, SILENT)
    return folder


@pytest.fixture(scope="session")
def run_days(airflow_environment: dict[str, str], java: dict[str, str]) -> Runs:
    def run(*runs: dict[str, Any], **environment: str) -> Ended:
        done = subprocess.run(
            [sys.executable, str(Path(__file__).with_name("run_days.py")), json.dumps(runs)],
            env=airflow_environment | java | environment,
            cwd=airflow_environment["AIRFLOW_HOME"],
            capture_output=True,
            text=True,
            check=False,
        )
        log = done.stdout + done.stderr
        ended = [line for line in done.stdout.splitlines() if line.startswith("ENDED ")]
        assert ended, log[-8000:]
        return Ended(json.loads(ended[0].removeprefix("ENDED ")), log)

    return run
