"""The one place that makes a SparkSession: Sedona and the Kafka connector on the class path, from settings, quietly."""

import atexit
import logging
import os
import re
import signal
import sys
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any

from foresail import HOME
from foresail.pipeline.errors import JavaError, SparkStartError
from foresail.pipeline.progress import SILENT, Progress
from foresail.pipeline.runtime import class_archive
from foresail.pipeline.runtime.class_archive import RECORDING
from foresail.pipeline.runtime.interruption import has_been_interrupted
from foresail.pipeline.runtime.jars import SPARK_JARS, resolve
from foresail.pipeline.runtime.java_process import launch_java, one_line
from foresail.pipeline.runtime.prerequisites import java_fault
from foresail.pipeline.runtime.shipping import UNPACKED, shipped_code
from foresail.pipeline.settings import Settings, cache_home
from foresail.pipeline.sources.lines import LONGEST_BYTES

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

logger = logging.getLogger(__name__)

LOG_CONFIGURATION = Path(__file__).with_name("log4j2.properties")
ROCKSDB_STATE_STORE = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
SEDONA_FUNCTIONS = ("st_functions", "st_constructors", "st_predicates", "st_aggregates")
COMPILE_ALL = "-XX:-DontCompileHugeMethods"
"""Java leaves methods of more than 8,000 bytes to its interpreter; a projection of many columns becomes such a one."""
TRIES = 4
"""Spark's own default on clusters."""
OPEN_CONF = (
    "spark.hadoop.",
    "spark.executorEnv.",
    "spark.sedona.",
    "spark.sql.catalog.",
    "spark.yarn.",
    "spark.kubernetes.",
)
"""Where any key is allowed, or where Spark's list of its keys is not complete."""


def start_spark(
    settings: Settings, application: str = "foresail", progress: Progress = SILENT, short_work: bool = False
) -> "SparkSession":
    """A running SparkSession with Sedona's functions; for `short_work` Java compiles quickly rather than well."""
    fault = java_fault()
    if fault:
        raise JavaError(fault)
    jars = fetch_jars(settings, progress)
    _make_local_directory(settings)
    began = time.monotonic()
    with progress.step("starting Spark"):
        spark = _build(settings, application, configuration(settings, jars, short_work))
    logger.info("spark started seconds=%.1f master=%s", time.monotonic() - began, settings.spark.master)
    atexit.register(stop_quietly, spark)
    return spark


@contextmanager
def running_spark(
    settings: Settings, application: str, progress: Progress = SILENT, short_work: bool = False
) -> "Iterator[SparkSession]":
    """A SparkSession that is stopped when the block ends, however it ends; one that ran before goes on."""
    before = _running_context()
    spark = start_spark(settings, application, progress, short_work)
    try:
        yield spark
    finally:
        if before is None:
            stop_quietly(spark)


def _running_context() -> Any:
    pyspark = sys.modules.get("pyspark")
    return pyspark and pyspark.SparkContext._active_spark_context


@contextmanager
def starting_spark(
    settings: Settings, application: str, progress: Progress = SILENT, short_work: bool = False
) -> "Iterator[Callable[[], SparkSession]]":
    """The same for a block that first has something else to do, such as loading modules: Java starts meanwhile.

    The block is given a function that waits for the session.
    """
    before = _running_context()
    starting: Future[SparkSession] = Future()

    def start() -> None:
        try:
            starting.set_result(start_spark(settings, application, SILENT, short_work))
        except BaseException as error:  # whoever waits for the session is told
            starting.set_exception(error)

    def started() -> "SparkSession":
        with progress.step("starting Spark"):
            return starting.result()

    fetch_jars(settings, progress)  # the first time this takes minutes and says so
    thread = threading.Thread(target=start, name="spark-start", daemon=True)
    thread.start()
    try:
        yield started
    finally:
        thread.join()
        if before is None and starting.exception() is None:
            stop_quietly(starting.result())


def fetch_jars(settings: Settings, progress: Progress = SILENT) -> list[Path]:
    """The jars beside Spark's own, fetched unless they are at hand."""
    return [jar for jar_set in SPARK_JARS for jar in resolve(jar_set, settings.jars.directory, progress)]


def stop_quietly(spark: "SparkSession") -> None:
    """Stop `spark`; a Java process that is already gone is no fault."""
    try:
        with warnings.catch_warnings(action="ignore"):  # pyspark's own words for a Java process that does not answer
            spark.stop()
    except Exception:
        logger.debug("spark was gone before it was stopped", exc_info=True)
    if has_been_interrupted():
        _end_java()


def _end_java() -> None:
    """End the Java process: a call that was cut off may have left it at work, and its workers writing."""
    from pyspark import SparkContext  # noqa: PLC0415

    process = getattr(SparkContext._gateway, "proc", None)
    if process is not None:
        process.terminate()
        process.wait(timeout=30)


def cores_of(master: str) -> int | None:
    """The number of cores a local master uses, or None for a cluster."""
    found = re.fullmatch(r"local(?:\[(\d+|\*)(?:,\s*\d+)?\])?", master)
    if not found:
        return None
    cores = found.group(1)
    return 1 if cores is None else os.cpu_count() or 1 if cores == "*" else int(cores)


def with_retries(master: str) -> str:
    """The master such that a task whose worker dies is tried again; Spark's local mode would give up at once."""
    found = re.fullmatch(r"local(?:\[(\d+|\*)\])?", master)
    return f"local[{found.group(1) or 1},{TRIES}]" if found else master


def on_this_process(master: str) -> bool:
    """Whether the work is done by the driver's own process."""
    return master.startswith("local") and not master.startswith("local-cluster")


def configuration(settings: Settings, jars: list[Path], short_work: bool = False) -> dict[str, str]:
    """What Spark is told; the user's own `spark.conf` has the last word."""
    chosen = {
        "spark.master": with_retries(settings.spark.master),
        "spark.sql.extensions": "org.apache.sedona.sql.SedonaSqlExtensions",
        "spark.serializer": "org.apache.spark.serializer.KryoSerializer",
        "spark.kryo.registrator": "org.apache.sedona.core.serde.SedonaKryoRegistrator",
        "spark.driver.memory": settings.spark.driver_memory,
        "spark.sql.session.timeZone": "UTC",
        # Spark's default for timestamps in Parquet is the old INT96, which has no statistics to skip row groups by.
        "spark.sql.parquet.outputTimestampType": "TIMESTAMP_MICROS",
        # Every query of a stream has a session of its own; isolated, it would start Python workers of its own too.
        "spark.sql.artifact.isolation.enabled": "false",
        "spark.python.daemon.module": "foresail.pipeline.runtime.worker_daemon",
        # Workers start in the user's folder: a models.py that lies there is none of theirs.
        "spark.executorEnv.PYTHONSAFEPATH": "1",
        "spark.sql.execution.arrow.pyspark.enabled": "true",
        "spark.sql.execution.arrow.maxRecordsPerBatch": str(settings.spark.arrow_batch_rows),
        "spark.ui.enabled": str(settings.spark.ui).lower(),
        "spark.ui.showConsoleProgress": "false",
        # Where nobody looked before (arriving files, other file systems), a line that memory cannot hold is passed by.
        "spark.hadoop.mapreduce.input.linerecordreader.line.maxlength": str(2 * LONGEST_BYTES),
        "spark.sql.streaming.stateStore.providerClass": ROCKSDB_STATE_STORE,
        "spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled": "true",
    }
    partitions = settings.spark.shuffle_partitions or cores_of(settings.spark.master)
    if partitions:
        chosen["spark.sql.shuffle.partitions"] = str(partitions)
    if settings.spark.event_log:
        chosen |= {"spark.eventLog.enabled": "true", "spark.eventLog.dir": _made(settings.spark.event_log).as_uri()}
    if settings.spark.local_directory:
        chosen["spark.local.dir"] = str(settings.spark.local_directory)
    chosen |= _place_configuration(settings.spark.master, jars)
    conf = settings.spark.conf
    # Sedona tells its makers of every start unless it is asked not to: local work needs no network
    options = f"-Dlog4j2.configurationFile={LOG_CONFIGURATION.as_uri()} -DDO_NOT_TRACK=true {COMPILE_ALL}"
    if short_work:
        options += " -XX:TieredStopAtLevel=1"  # the optimising compiler takes half of the CPU time of a start
    user_options = conf.get("spark.driver.extraJavaOptions", "")
    if on_this_process(settings.spark.master) and RECORDING not in user_options:
        options = f"{options} {class_archive.options(jars)}".strip()
    return chosen | conf | {"spark.driver.extraJavaOptions": f"{options} {user_options}".strip()}


def _place_configuration(master: str, jars: list[Path]) -> dict[str, str]:
    if not on_this_process(master):
        return {
            "spark.jars": ",".join(map(str, jars)),
            "spark.archives": f"{shipped_code(cache_home() / 'foresail' / 'code')}#{UNPACKED}",
            "spark.executorEnv.PYTHONPATH": UNPACKED,
            "spark.executor.extraJavaOptions": f"-DDO_NOT_TRACK=true {COMPILE_ALL}",
        }
    return {
        # Spark would copy every jar of spark.jars at each start; one process can have them on its class path
        "spark.driver.extraClassPath": os.pathsep.join(map(str, jars)),
        # The machine's name may not resolve, or resolve to an address that is gone: local mode needs only loopback.
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        # a worker imports the code that the driver runs, whatever the folder it was started from
        "spark.executorEnv.PYTHONPATH": str(HOME.parent),
    }


def _made(folder: Path) -> Path:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        msg = f"{folder}: cannot hold Spark's event log ({error.strerror}). Set spark.event_log to another folder."
        raise SparkStartError(msg) from None
    return folder.resolve()


def _make_local_directory(settings: Settings) -> None:
    folder = settings.spark.local_directory
    if folder is None:
        return
    try:
        folder.mkdir(parents=True, exist_ok=True)
        usable = os.access(folder, os.W_OK | os.X_OK)
    except OSError:
        usable = False
    if not usable:
        msg = f"{folder}: Spark cannot write its temporary files there. Set spark.local_directory to another folder."
        raise SparkStartError(msg)


def _build(settings: Settings, application: str, conf: dict[str, str]) -> "SparkSession":
    from pyspark import SparkConf, SparkContext  # noqa: PLC0415 - Spark takes half a second to import
    from pyspark.sql import SparkSession  # noqa: PLC0415

    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    if "spark.driver.host" in conf:
        os.environ.setdefault("SPARK_LOCAL_IP", conf["spark.driver.host"])
    # a context of this process is used again, and so is the Java process of one that was stopped
    running, gateway, lines = SparkContext._active_spark_context, SparkContext._gateway, None
    if gateway is None:
        gateway, lines = launch_java(conf)
    spark_conf = SparkConf(loadDefaults=False).setAppName(application).setAll(list(conf.items()))
    on_interruption = signal.getsignal(signal.SIGINT)
    try:
        context = running or SparkContext(conf=spark_conf, gateway=gateway)
        _keep(on_interruption)
        spark = SparkSession.builder.config(conf=spark_conf).getOrCreate()
        context.setLogLevel(settings.spark.log_level)
        spark.conf.get("spark.sql.session.timeZone")  # the first question makes Spark read, and refuse, its settings
    except Exception as error:
        msg = (
            f"spark: did not start with master {settings.spark.master} ({one_line(error)}). Check --master and --conf."
        )
        raise SparkStartError(msg) from None
    _check_known(settings.spark.conf, spark)
    _register_sedona(spark)
    if lines:
        lines.pass_on()
    return spark


def _keep(on_interruption: Any) -> None:
    """Take Ctrl-C back from Spark, which would ask Java to cancel from within the handler."""
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGINT, on_interruption)


def _register_sedona(spark: "SparkSession") -> None:
    """Make Sedona's Python column functions find their Java side; the SQL functions are the extension's work."""
    from py4j.java_gateway import java_import  # noqa: PLC0415

    for name in SEDONA_FUNCTIONS:
        java_import(spark._jvm, f"org.apache.spark.sql.sedona_sql.expressions.{name}")


def _check_known(conf: dict[str, str], spark: "SparkSession") -> None:
    """Refuse a key that Spark does not know but that is nearly one it knows: it would be without effect."""
    entries = getattr(getattr(spark._jvm, "org.apache.spark.internal.config.ConfigEntry$"), "MODULE$")
    unknown = [key for key in conf if not key.startswith(OPEN_CONF) and entries.findEntry(key) is None]
    known = [str(key) for key in entries.knownConfigs().keySet().toArray()] if unknown else []
    for key in unknown:
        near = get_close_matches(key, known, n=1, cutoff=0.9)
        if near:
            msg = f"--conf {key}: Spark does not know this key. Did you mean '{near[0]}'?"
            raise SparkStartError(msg)
