"""The one place that makes a SparkSession: Sedona and the Kafka connector on the class path, from settings, quietly."""

import logging
import os
import re
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from pipeline.errors import JavaError, SparkStartError
from pipeline.jars import SPARK_JARS, resolve
from pipeline.prerequisites import java_fault
from pipeline.settings import Settings

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

logger = logging.getLogger(__name__)

SEDONA_EXTENSIONS = "org.apache.sedona.viz.sql.SedonaVizExtensions,org.apache.sedona.sql.SedonaSqlExtensions"
ROCKSDB_STATE_STORE = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"


def start_spark(
    settings: Settings, application: str = "foresail", announce: Callable[[str], None] = logger.info
) -> "SparkSession":
    """A running SparkSession with Sedona's functions registered; says in the log how long it took."""
    fault = java_fault()
    if fault:
        raise JavaError(fault)
    jars = [jar for jar_set in SPARK_JARS for jar in resolve(jar_set, settings.jars.directory, announce)]
    began = time.monotonic()
    spark = _build(settings, application, jars)
    spark.sparkContext.setLogLevel(settings.spark.log_level)
    logger.info("spark started seconds=%.1f master=%s", time.monotonic() - began, settings.spark.master)
    return spark


def cores_of(master: str) -> int | None:
    """The number of cores a local master uses, or None for a cluster."""
    found = re.fullmatch(r"local(?:\[(\d+|\*)(?:,\d+)?\])?", master)
    if not found:
        return None
    cores = found.group(1)
    return 1 if cores is None else os.cpu_count() or 1 if cores == "*" else int(cores)


def configuration(settings: Settings, jars: list[Path]) -> dict[str, str]:
    """What Spark is told; the user's own `spark.conf` has the last word."""
    partitions = settings.spark.shuffle_partitions or cores_of(settings.spark.master)
    chosen = {
        "spark.jars": ",".join(jar.as_uri().replace("file:///", "file:/") for jar in jars),
        "spark.sql.extensions": SEDONA_EXTENSIONS,
        "spark.serializer": "org.apache.spark.serializer.KryoSerializer",
        "spark.kryo.registrator": "org.apache.sedona.core.serde.SedonaKryoRegistrator",
        "spark.driver.memory": settings.spark.driver_memory,
        "spark.sql.session.timeZone": "UTC",
        # Spark's default for timestamps in Parquet is the old INT96, which has no statistics to skip row groups by.
        "spark.sql.parquet.outputTimestampType": "TIMESTAMP_MICROS",
        "spark.sql.execution.arrow.pyspark.enabled": "true",
        "spark.sql.execution.arrow.maxRecordsPerBatch": str(settings.spark.arrow_batch_rows),
        "spark.ui.enabled": str(settings.spark.ui).lower(),
        "spark.ui.showConsoleProgress": "false",
        "spark.sql.streaming.stateStore.providerClass": ROCKSDB_STATE_STORE,
        "spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled": "true",
    }
    if partitions:
        chosen["spark.sql.shuffle.partitions"] = str(partitions)
    if settings.spark.master.startswith("local"):
        # The machine's name may not resolve, or resolve to an address that is gone: local mode needs only loopback.
        chosen |= {"spark.driver.host": "127.0.0.1", "spark.driver.bindAddress": "127.0.0.1"}
    return chosen | settings.spark.conf


def _build(settings: Settings, application: str, jars: list[Path]) -> "SparkSession":
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    from pyspark.sql import SparkSession  # noqa: PLC0415 - Spark costs a second to import; commands without it don't pay

    builder = SparkSession.builder.master(settings.spark.master).appName(application)
    for key, value in configuration(settings, jars).items():
        builder = builder.config(key, value)
    try:
        spark = builder.getOrCreate()
        spark._jvm.org.apache.sedona.spark.SedonaContext.create(spark._jsparkSession, "python")  # type: ignore[union-attr]
    except Exception as error:
        reason = str(error).strip().splitlines()[0]
        msg = f"spark: did not start with master {settings.spark.master} ({reason}). Check spark.master and spark.conf."
        raise SparkStartError(msg) from error
    return spark
