"""Python workers of a real Spark: what they are copies of, and what they do not read again for every task."""

import sys
from collections.abc import Iterator

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from pipeline.worker_daemon import without_archives

pytestmark = pytest.mark.usefixtures("spark")


def test_only_sparks_own_archives_leave_the_path() -> None:
    path = [
        "/spark/lib/pyspark.zip",
        "/spark/lib/py4j-0.10.9.9-src.zip",
        "/usr/lib/python311.zip",
        "/work/patterns.zip",
    ]
    assert without_archives(path) == path[2:]


def test_a_worker_reads_no_archive_of_spark_and_starts_with_its_libraries_loaded(spark: SparkSession) -> None:
    def look(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        read = [entry for entry in sys.path_importer_cache if "pyspark.zip" in entry or "py4j" in entry]
        for _ in batches:
            yield pa.RecordBatch.from_pydict(
                {"read": [",".join(e for e in read if ".zip" in e)], "argv": [sys.argv[0]]}
            )

    row = spark.range(1).mapInArrow(look, "read string, argv string").collect()[0]
    assert row.read == ""
    assert row.argv.endswith("worker_daemon.py")
