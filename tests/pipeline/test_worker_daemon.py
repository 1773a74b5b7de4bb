"""Python workers of a real Spark: what they are copies of, and what they do not read again for every task."""

import sys
from collections.abc import Iterator
from zipimport import zipimporter

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from pipeline.worker_daemon import without_archives

pytestmark = pytest.mark.usefixtures("spark")


def test_only_sparks_own_archives_leave_the_path() -> None:
    others = ["/usr/lib/python311.zip", "/work/patterns.zip", "/work/pyspark/here", "/work"]
    spark = ["/spark/pyspark.zip", "/spark/py4j-0.10.9.9-src.zip", "/spark/jars/spark-core_2.13-4.0.5.jar"]
    assert without_archives([*spark, *others]) == others


def test_a_worker_reads_no_archive_and_is_a_copy_of_the_daemon(spark: SparkSession) -> None:
    def look(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        read = [name for name, finder in sys.path_importer_cache.items() if isinstance(finder, zipimporter)]
        for _ in batches:
            yield pa.RecordBatch.from_pydict({"read": [",".join(read)], "argv": [sys.argv[0]]})

    row = spark.range(1).mapInArrow(look, "read string, argv string").collect()[0]
    assert row.read == ""
    assert row.argv.endswith("worker_daemon.py")
