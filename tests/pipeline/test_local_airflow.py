"""The local Airflow stays on this machine, and its tasks run this checkout's command."""

from datetime import UTC, datetime
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from pipeline.local_airflow import CHECKOUT, environment_of, split_by_hour


def test_it_is_bound_to_loopback_and_reads_the_schedules(tmp_path: Path) -> None:
    told = environment_of(tmp_path, 8099)
    assert told["AIRFLOW__API__HOST"] == "127.0.0.1"
    assert told["AIRFLOW__CORE__EXECUTION_API_SERVER_URL"].startswith("http://127.0.0.1:8099/")
    assert (Path(told["AIRFLOW__CORE__DAGS_FOLDER"]) / "train_models.py").exists()
    assert told["AIRFLOW_FORESAIL_COMMAND"].endswith("/foresail")
    assert Path(told["AIRFLOW__CORE__DAGS_FOLDER"]).parent.parent == CHECKOUT


def test_what_was_before_today_is_history_and_each_hour_of_today_a_file(tmp_path: Path) -> None:
    texts = ("2026-03-02 23:59", "2026-03-03 05:00", "2026-03-03 05:59", "2026-03-03 06:00", "2026-03-04 00:00")
    times = [datetime.fromisoformat(f"{text}Z") for text in texts]
    table = pa.table({"track": list("abcde"), "time": pa.array(times, pa.timestamp("us", "UTC")), "gap_s": [1.0] * 5})
    (tmp_path / "events").mkdir()
    pq.write_table(table, tmp_path / "events" / "part.parquet")
    today = datetime(2026, 3, 3, 12, 30, tzinfo=UTC)
    split_by_hour(tmp_path / "events", tmp_path / "history", tmp_path / "feed", today)
    held = {file.name: pq.read_table(file) for file in (tmp_path / "feed").iterdir()}
    assert {name: hour.column("track").to_pylist() for name, hour in held.items()} == {
        "2026-03-03T05.parquet": ["b", "c"],
        "2026-03-03T06.parquet": ["d"],
    }
    history = pq.read_table(tmp_path / "history" / "history.parquet")
    assert history.to_pydict()["track"] == ["a"]
    assert history.column_names == ["track", "time"], "what is derived is derived anew"
