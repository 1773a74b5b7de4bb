"""The local Airflow stays on this machine, and its tasks run this checkout's command."""

from pathlib import Path

from pipeline.local_airflow import CHECKOUT, environment_of


def test_it_is_bound_to_loopback_and_reads_the_schedules(tmp_path: Path) -> None:
    told = environment_of(tmp_path, 8099)
    assert told["AIRFLOW__API__HOST"] == "127.0.0.1"
    assert told["AIRFLOW__CORE__EXECUTION_API_SERVER_URL"].startswith("http://127.0.0.1:8099/")
    assert (Path(told["AIRFLOW__CORE__DAGS_FOLDER"]) / "train_models.py").exists()
    assert told["AIRFLOW_FORESAIL_COMMAND"].endswith("/foresail")
    assert Path(told["AIRFLOW__CORE__DAGS_FOLDER"]).parent.parent == CHECKOUT
