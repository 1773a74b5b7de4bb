"""Runs a schedule of the dags folder for some days in the real Airflow, and prints how each task ended as JSON.

Started as a process of its own: Airflow reads its configuration from the environment when it is imported.
"""

import json
import sys
from datetime import UTC, datetime
from typing import Any


def main(dag_id: str, runs: list[dict[str, Any]]) -> None:
    from airflow.dag_processing.dagbag import DagBag
    from airflow.utils.db import initdb

    from airflow import settings

    initdb()
    sys.path.append(settings.DAGS_FOLDER)  # as Airflow's own processes have it
    dag = DagBag(settings.DAGS_FOLDER).dags[dag_id]
    told = []
    for run in runs:
        day = datetime.fromisoformat(run["until"]).replace(tzinfo=UTC)
        ended = dag.test(logical_date=day, run_conf=run["conf"])
        tasks = {f"{ti.task_id}[{ti.map_index}]": str(ti.state) for ti in ended.get_task_instances()}
        told.append({"state": str(ended.state), "tasks": tasks})
    print("ENDED " + json.dumps(told))


if __name__ == "__main__":
    main(sys.argv[1], json.loads(sys.argv[2]))
