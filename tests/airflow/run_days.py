"""Runs schedules of the dags folder in the real Airflow, one run after the other, and prints how each ended as JSON.

Started as a process of its own: Airflow reads its configuration from the environment when it is imported.
"""

import hashlib
import json
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any


def main(runs: list[dict[str, Any]]) -> None:
    from airflow.dag_processing.dagbag import DagBag
    from airflow.utils.db import initdb

    from airflow import settings

    initdb()
    sys.path.append(settings.DAGS_FOLDER)  # as Airflow's own processes have it
    dags = DagBag(settings.DAGS_FOLDER).dags
    told = [ended(dags[run["dag"]], run) for run in runs]
    print("ENDED " + json.dumps(told))


def ended(dag: Any, run: dict[str, Any]) -> dict[str, Any]:
    """How a run went, what the store held after it, and which runs it has started."""
    from airflow.models.dagrun import DagRun

    done = dag.test(logical_date=moment(run["until"]), run_after=moment(run.get("after")), run_conf=run["conf"])
    tasks = {f"{ti.task_id}[{ti.map_index}]": str(ti.state) for ti in done.get_task_instances()}
    started = [
        {"run_type": str(other.run_type), "conf": other.conf, "logical_date": str(other.logical_date)}
        for other in DagRun.find(dag_id="train_models")
        if other.triggered_by is not None and other.triggered_by.value == "operator"
    ]
    held = {"store": digests(run["conf"].get("models")), "started": started, "updates": updates()}
    return {"state": str(done.state), "tasks": tasks, **held}


def updates() -> list[dict[str, Any]]:
    """What was said with each update of an asset so far."""
    from airflow.models.asset import AssetEvent
    from airflow.utils.session import create_session
    from sqlalchemy import select

    with create_session() as session:
        return [dict(event.extra) for event in session.scalars(select(AssetEvent).order_by(AssetEvent.id))]


def moment(text: str | None) -> datetime | None:
    return datetime.fromisoformat(text).replace(tzinfo=UTC) if text else None


def digests(folder: str | None) -> dict[str, str]:
    """Every file of the store by what is in it."""
    files = (file for file in Path(folder).rglob("*") if file.is_file()) if folder else ()
    return {str(file): hashlib.sha256(file.read_bytes()).hexdigest() for file in files}


if __name__ == "__main__":
    main(json.loads(sys.argv[1]))
