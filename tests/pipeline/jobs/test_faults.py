"""A fault far away in a worker becomes one line that names the setting or the file."""

import os
import signal
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pytest
from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException

from foresail.pipeline.errors import InputError, OutputError, PipelineError
from foresail.pipeline.jobs.faults import cause_of, explained

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

TRACE = "Job aborted due to stage failure: ... Traceback (most recent call last):\n  File 'x', line 1\n"
CASES = {
    "our own error": (
        f"{TRACE}foresail.pipeline.errors.InputError: /a/b.parquet: is corrupt (bad page). Mend it.\n\n\tat org.apache",
        "local[2]",
        InputError,
        "/a/b.parquet: is corrupt (bad page). Mend it.",
    ),
    "a heap that is full, locally": (
        "java.lang.OutOfMemoryError: Java heap space",
        "local[2]",
        PipelineError,
        "spark.driver_memory",
    ),
    "a heap that is full, on a cluster": (
        "Job aborted: java.lang.OutOfMemoryError: Java heap space",
        "spark://h:7077",
        PipelineError,
        "spark.executor.memory",
    ),
    "executors that end with the code for a full heap": (
        "ExecutorLostFailure (executor 3 exited caused by one of the running tasks) Command exited with code 52",
        "spark://h:7077",
        PipelineError,
        "spark.executor.memory",
    ),
    "a worker without memory": (
        f"{TRACE}numpy._core._exceptions._ArrayMemoryError: Unable to allocate 9 GiB",
        "local[2]",
        PipelineError,
        "spark.arrow_batch_rows",
    ),
    "workers that are killed": (
        "Python worker exited unexpectedly (crashed)",
        "yarn",
        PipelineError,
        "spark.executor.cores",
    ),
    "a folder that cannot be written": (
        f"{TRACE}PermissionError: [Errno 13] Permission denied: '/out/matches/x'",
        "local[2]",
        OutputError,
        "/out/matches/x",
    ),
    "a full disk": (
        f"{TRACE}OSError: [Errno 28] No space left on device: '/out/m'",
        "local[2]",
        OutputError,
        "No space left",
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_a_fault_is_one_line_with_the_way_out(case: str) -> None:
    text, master, kind, said = CASES[case]
    told = explained(RuntimeError(text), master)
    assert type(told) is kind
    assert said in str(told)
    assert "\n" not in str(told)


def test_what_is_not_known_is_not_explained_away() -> None:
    assert explained(RuntimeError("the plan has a fault"), "local[2]") is None


def asks_for_a_petabyte(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    np.empty(1 << 50, dtype=np.uint8).fill(1)
    yield from batches


def dies(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    os.kill(os.getpid(), signal.SIGKILL)
    yield from batches


@pytest.mark.spark
@pytest.mark.parametrize("worker", [asks_for_a_petabyte, dies])
def test_a_worker_that_runs_out_of_memory_or_is_killed_each_time_names_the_setting(
    spark: "SparkSession", worker: Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]
) -> None:
    with pytest.raises((PySparkException, Py4JJavaError)) as caught:
        spark.range(1).mapInArrow(worker, "id long").collect()
    told = explained(caught.value, "local[2]")
    assert type(told) is PipelineError
    assert "out of memory" in str(told)
    assert "spark.arrow_batch_rows" in str(told)


PLAN = """=== Streaming Query ===
Identifier: foresail [id = 1, runId = 2]
Logical Plan:
~WriteToMicroBatchDataSourceV1 ForeachBatchSink
+- LocalRelation <empty>
"""
FAILED = "[STREAM_FAILED] Query [id = 1, runId = 2] terminated with exception: "


@pytest.mark.parametrize(
    ("said", "cause"),
    [
        (
            "Set(positions-0) are gone. Some data may have been missed SQLSTATE: XXKST",
            "Set(positions-0) are gone. Some",
        ),
        (f"{TRACE}ValueError: no such bucket\nSQLSTATE: 38000", "ValueError: no such bucket"),
        (f"{TRACE}foresail.models.errors.ModelError: m: is torn. Train it anew.\n", "m: is torn. Train it anew"),
    ],
)
def test_a_query_that_failed_tells_its_cause_and_not_its_plan(said: str, cause: str) -> None:
    told = cause_of(RuntimeError(f"{FAILED}{said}\n{PLAN}"))
    assert told.startswith(cause)
    assert "LocalRelation" not in told
    assert "STREAM_FAILED" not in told
