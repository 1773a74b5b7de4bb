"""Python workers of a real Spark: what they are copies of, and what they do not read again for every task."""

import gc
import subprocess
import sys
import time
import weakref
from collections.abc import Iterator
from zipimport import zipimporter

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from foresail.pipeline.runtime.worker_daemon import LONG_S, collect_what_is_new, without_archives

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


def test_what_libraries_keep_is_not_looked_through_after_every_task() -> None:
    kept = [[n] for n in range(2_000_000)]
    before = gc.get_freeze_count()
    try:
        collect_what_is_new()
        assert gc.get_freeze_count() - before >= len(kept)
        began = time.process_time()
        collect_what_is_new()
        assert time.process_time() - began < LONG_S
    finally:
        gc.unfreeze()


def test_what_a_task_has_left_is_still_collected() -> None:
    class Cycle:
        def __init__(self) -> None:
            self.itself = self

    collect_what_is_new()
    left = weakref.ref(Cycle())
    collect_what_is_new()
    assert left() is None
    gc.unfreeze()


def test_workers_use_it(spark: SparkSession) -> None:
    def look(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        from pyspark import daemon

        for _ in batches:
            yield pa.RecordBatch.from_pydict({"used": [daemon.gc.collect.__name__]})

    assert spark.range(1).mapInArrow(look, "used string").collect()[0].used == collect_what_is_new.__name__


def test_a_worker_without_families_loads_no_geometry() -> None:
    code = "import sys, foresail.pipeline.batch.workers; print([n for n in ('geo', 'geopandas') if n in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
