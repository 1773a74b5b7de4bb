"""On clusters of separate processes: the code ships itself, and killed workers change nothing."""

from pathlib import Path

import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

from patterns.catalog.loader import read_catalog
from pipeline.jobs.recognise import RecogniseRequest, run_recognise
from pipeline.progress import SILENT
from tests.end_to_end.cluster import (
    FILES,
    ROWS,
    executors,
    finished,
    kill,
    python_workers,
    recognising,
    standalone,
    until,
    write_events,
)

pytestmark = pytest.mark.spark


@pytest.fixture(scope="module")
def events(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_events(tmp_path_factory.mktemp("cluster") / "events")


@pytest.fixture(scope="module")
def undisturbed(spark: SparkSession, events: Path, tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """The ids of the matches as one process finds them."""
    out = tmp_path_factory.mktemp("local") / "out"
    catalog = read_catalog([events.with_name("rise.yaml")])
    run_recognise(spark, RecogniseRequest([str(events)], catalog, out), SILENT)
    return ids(out)


def ids(out: Path) -> list[str]:
    return sorted(pq.read_table(out / "matches", columns=["match_id"])["match_id"].to_pylist())


def test_a_python_worker_and_an_executor_killed_on_a_local_cluster_change_nothing(
    events: Path, undisturbed: list[str], tmp_path: Path
) -> None:
    shuffled = tmp_path / "shuffled"
    with recognising(events, tmp_path / "out", "local-cluster[2,1,1024]", f"spark.local.dir={shuffled}") as job:
        kill(until("a Python worker runs", lambda: python_workers(job))[0])
        until("events have been sent to the workers of their tracks", lambda: [*shuffled.rglob("shuffle_*.data")])
        kill(until("an executor has a Python worker", lambda: executors(job))[0])
        assert job.poll() is None, "the job must still be running when its executor is killed"
        summary = finished(job)
    assert ids(tmp_path / "out") == undisturbed != []
    assert (summary["events"], summary["matches"]) == (FILES * ROWS, len(undisturbed))


def test_a_worker_machine_lost_by_a_standalone_cluster_changes_nothing(
    events: Path, undisturbed: list[str], tmp_path: Path
) -> None:
    with (
        standalone(tmp_path / "cluster", workers=2) as (master, workers),
        recognising(events, tmp_path / "out", master, "spark.driver.host=127.0.0.1") as job,
    ):
        until("a Python worker runs", lambda: python_workers(workers[0]))
        workers[0].kill()
        assert job.poll() is None, "the job must still be running when a worker is killed"
        summary = finished(job)
    assert ids(tmp_path / "out") == undisturbed != []
    assert (summary["events"], summary["matches"]) == (FILES * ROWS, len(undisturbed))
