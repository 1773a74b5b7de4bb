"""On clusters of separate processes: the code ships itself, and killed workers change nothing."""

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

from foresail.patterns.catalog.loader import read_catalog
from foresail.pipeline.jobs.recognise import run_recognise
from foresail.pipeline.jobs.recognise_request import RecogniseRequest
from foresail.pipeline.progress import SILENT
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

PATTERN = """
name: rise
version: 1
domain: fleet
says: Low, then high.
where: {low: x < 3, high: x >= 5}
pattern: low ; high+
max_gap: 10min
"""
KEYS = {
    "events", "matches", "matches_by_pattern", "rows", "rows_by_pattern", "rejected", "omitted",
    "scheme", "scheme_reason", "seconds",
    "seconds_by_step", "spark_stages", "events_per_second", "corrupt_files", "skipped", "output", "catalog_changed",
}  # fmt: skip


@pytest.fixture(scope="module")
def events(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_events(tmp_path_factory.mktemp("cluster") / "events")


@pytest.fixture
def catalog(tmp_path: Path) -> Path:
    (tmp_path / "rise.yaml").write_text(PATTERN)
    return tmp_path / "rise.yaml"


@pytest.fixture
def undisturbed(spark: SparkSession, events: Path, catalog: Path, tmp_path: Path) -> list[str]:
    """The ids of the matches as one process finds them."""
    run_recognise(spark, RecogniseRequest([str(events)], read_catalog([catalog]), tmp_path / "local"), SILENT)
    return ids(tmp_path / "local")


def ids(out: Path) -> list[str]:
    return sorted(pq.read_table(out / "matches", columns=["match_id"])["match_id"].to_pylist())


def listened(folder: Path) -> set[str]:
    """The kinds of events that Spark's event log tells of, read as the JSON lines that it is."""
    kinds: set[str] = set()
    for log in folder.rglob("events_*"):
        with pa.input_stream(str(log), compression="zstd" if log.suffix == ".zstd" else None) as lines:
            kinds |= {json.loads(line)["Event"] for line in lines.read().decode().splitlines()}
    return kinds


def test_a_python_worker_and_an_executor_killed_on_a_local_cluster_change_nothing(
    events: Path, catalog: Path, undisturbed: list[str], tmp_path: Path
) -> None:
    shuffled, log = tmp_path / "shuffled", tmp_path / "log"
    with recognising(
        events, catalog, tmp_path / "out", "local-cluster[2,1,1024]", f"spark.local.dir={shuffled}",
        FORESAIL_SPARK__EVENT_LOG=str(log),
    ) as job:  # fmt: skip
        kill(until("a Python worker runs", lambda: python_workers(job))[0])
        until("events have been sent to the workers of their tracks", lambda: [*shuffled.rglob("shuffle_*.data")])
        kill(until("an executor has a Python worker", lambda: executors(job))[0])
        assert job.poll() is None, "the job must still be running when its executor is killed"
        summary, said = finished(job)
    assert ids(tmp_path / "out") == undisturbed != []
    assert (summary["events"], summary["matches"]) == (FILES * ROWS, len(undisturbed))
    assert f"recognising: {FILES * ROWS:,} events, {len(undisturbed):,} matches" in said
    assert set(summary) >= KEYS
    assert listened(log) >= {"SparkListenerExecutorRemoved", "SparkListenerStageCompleted", "SparkListenerJobEnd"}


def test_a_machine_lost_and_a_catalog_changed_while_a_standalone_cluster_works_change_nothing(
    events: Path, catalog: Path, undisturbed: list[str], tmp_path: Path
) -> None:
    with (
        standalone(tmp_path / "cluster", workers=2) as (master, workers),
        recognising(events, catalog, tmp_path / "out", master, "spark.driver.host=127.0.0.1") as job,
    ):
        until("a Python worker runs", lambda: python_workers(workers[0]))
        catalog.write_text(PATTERN.replace("x < 3", "x < 1"))
        workers[0].kill()
        assert job.poll() is None, "the job must still be running when a worker is killed"
        summary, said = finished(job)
    assert ids(tmp_path / "out") == undisturbed != []
    assert (summary["events"], summary["matches"]) == (FILES * ROWS, len(undisturbed))
    assert summary["catalog_changed"]
    assert "the matches are of the catalog as it was then" in said
