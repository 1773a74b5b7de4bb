"""Every schedule is read without faults, quickly and without Spark, and says what an operator must know of it."""

import json
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from tests.airflow.conftest import Runs

pytestmark = pytest.mark.airflow
SCHEDULES = {"ingest_feeds", "train_models", "evaluate_live", "recognise_history"}

READ = """
import json, sys
from datetime import datetime
from types import SimpleNamespace
from airflow import settings
from airflow.dag_processing.dagbag import DagBag
sys.path.append(settings.DAGS_FOLDER)
bag = DagBag(settings.DAGS_FOLDER)
from foresail_command import HOUR, interval_of

def run(after, begin=None, end=None, kind="scheduled", logical=None):
    after, begin, end, logical = (text and datetime.fromisoformat(text) for text in (after, begin, end, logical))
    times = {"run_after": after, "data_interval_start": begin, "data_interval_end": end, "logical_date": logical}
    return SimpleNamespace(run_type=kind, **times)

def came(*hours):
    return {"foresail_events": [SimpleNamespace(extra={"from": begin, "to": end}) for begin, end in hours]}

NIGHT = "2026-03-04T00:20:00+00:00"
BY_EVENTS = run(NIGHT, kind="asset_triggered")
LAST_HOUR = ("2026-03-03T23:00:00+00:00", "2026-03-04T00:00:00+00:00")
EARLIER = ("2026-03-02T04:00:00+00:00", "2026-03-02T05:00:00+00:00")
INTERVALS = {
    "scheduled": interval_of(run(NIGHT, "2026-03-03T00:00:00+00:00", "2026-03-04T00:00:00+00:00")),
    "by hand": interval_of(run(NIGHT, kind="manual")),
    "by hand, for an earlier day": interval_of(
        run(NIGHT, "2026-03-03T00:00:00+00:00", "2026-03-04T00:00:00+00:00", "manual", "2026-03-02T02:00:00+00:00")
    ),
    "by another schedule": interval_of(
        run(NIGHT, "2026-03-03T00:00:00+00:00", NIGHT, "operator_triggered", "2026-03-02T00:00:00+00:00")
    ),
    "by hand, hourly": interval_of(run(NIGHT, kind="manual"), unit=HOUR),
    "the day's last hour came": interval_of(BY_EVENTS, came(LAST_HOUR)),
    "hours of two days came": interval_of(BY_EVENTS, came(LAST_HOUR, EARLIER)),
    "somebody's update": interval_of(BY_EVENTS, {"foresail_events": [SimpleNamespace(extra={})]}),
}
print("READ " + json.dumps({
    "errors": bag.import_errors,
    "warnings": {file: len(found) for file, found in bag.captured_warnings.items()},
    "seconds": {stat.file: stat.duration.total_seconds() for stat in bag.dagbag_stats},
    "intervals": INTERVALS,
    "schedules": {name: [type(dag.timetable).__name__, str(getattr(dag.timetable, "asset_condition", ""))]
                  for name, dag in bag.dags.items()},
    "spark": [name for name in sys.modules if name.split(".")[0] in ("pyspark", "pipeline", "models", "geo")],
    "dags": {name: {
        "doc": dag.doc_md, "tags": sorted(dag.tags), "owner": dag.owner, "catchup": dag.catchup,
        "params": {key: dag.params.get_param(key).schema for key in dag.params},
        "tasks": {task.task_id: {"kind": type(task).__name__, "words": [word for word in getattr(task, "arguments", ())
                  if isinstance(word, str)], "retries": task.retries,
                  "timeout": str(task.execution_timeout), "pool": task.pool, "doc": task.doc_md}
                  for task in dag.tasks},
    } for name, dag in bag.dags.items()},
}))
"""


@pytest.fixture(scope="module")
def read(airflow_environment: dict[str, str]) -> dict[str, Any]:
    environment = airflow_environment | {"AIRFLOW_FORESAIL_COMMAND": "foresail", "AIRFLOW_FORESAIL_RETRIES": "2"}
    done = subprocess.run([sys.executable, "-c", READ], env=environment, capture_output=True, text=True, check=False)
    lines = [line for line in done.stdout.splitlines() if line.startswith("READ ")]
    assert lines, done.stdout + done.stderr
    return dict(json.loads(lines[0].removeprefix("READ ")))


def test_schedules_are_read_without_errors_or_warnings_and_without_spark(read: dict[str, Any]) -> None:
    assert read["errors"] == {}
    assert read["warnings"] == {}
    assert set(read["dags"]) == SCHEDULES
    assert read["spark"] == []
    assert max(read["seconds"].values()) < 5.0


def test_training_follows_the_clock_and_the_events(read: dict[str, Any]) -> None:
    kind, assets = read["schedules"]["train_models"]
    assert kind == "AssetOrTimeSchedule"
    assert "foresail_events" in assets
    assert "foresail_catalog" in read["schedules"]["recognise_history"][1]


def test_a_run_without_a_data_interval_takes_the_days_of_what_came(read: dict[str, Any]) -> None:
    third = ["2026-03-03T00:00:00", "2026-03-04T00:00:00"]
    assert read["intervals"] == {
        "scheduled": third,
        "by hand": third,
        "by hand, for an earlier day": ["2026-03-01T00:00:00", "2026-03-02T00:00:00"],
        "by another schedule": ["2026-03-01T00:00:00", "2026-03-02T00:00:00"],
        "by hand, hourly": ["2026-03-03T23:00:00", "2026-03-04T00:00:00"],
        "the day's last hour came": third,
        "hours of two days came": ["2026-03-02T00:00:00", "2026-03-04T00:00:00"],
        "somebody's update": third,
    }


def test_every_task_is_one_command(read: dict[str, Any]) -> None:
    tasks = {name: task for dag in read["dags"].values() for name, task in dag["tasks"].items()}
    assert {task["kind"] for name, task in tasks.items() if name != "retrain"} == {"ForesailOperator"}
    assert tasks["one_pattern.promote"]["words"][:2] == ["models", "promote"]


def test_what_a_parameter_says_reaches_the_command_as_one_word(run_days: "Runs", tmp_path: Path) -> None:
    folder = tmp_path / "a place with spaces"
    folder.mkdir()
    command, heard, harm = folder / "fore sail", folder / "heard.txt", folder / "harm"
    command.write_text(f'#!/bin/sh\nprintf "%s\\n" "$@" > "{heard}"\nexit 99\n')
    command.chmod(0o755)
    feed = f"ais' ; touch '{harm}' ; echo $(touch \"{harm}\") {{{{ 7 * 7 }}}}"
    conf = {"feed": feed, "input": f"--out={harm}", "events": str(folder / "it's here"), "domain": None}
    ended = run_days(
        {"dag": "ingest_feeds", "until": "2026-03-02T05:00:00", "conf": conf}, AIRFLOW_FORESAIL_COMMAND=str(command)
    )
    assert ended.runs[0]["tasks"] == {"ingest[-1]": "skipped"}
    assert not harm.exists()
    assert heard.read_text().splitlines() == [
        "ingest",
        f"--from={feed}",
        f"--input=--out={harm}/2026-03-02T04*",
        *("--append", "--allow-empty", "--exit-code", f"--out={folder}/it's here", "--json"),
    ]


def test_every_schedule_has_docs_tags_an_owner_retries_timeouts_and_parameters_with_a_schema(
    read: dict[str, Any],
) -> None:
    for dag in read["dags"].values():
        assert len(dag["doc"]) > 100
        assert "foresail" in dag["tags"]
        assert dag["owner"] == "foresail"
        assert all("type" in schema for schema in dag["params"].values())
        for task in dag["tasks"].values():
            assert task["retries"] == 2
            assert task["timeout"] != "None"
            assert task["doc"]
    assert read["dags"]["train_models"]["tasks"]["count"]["pool"] == "foresail_spark"
