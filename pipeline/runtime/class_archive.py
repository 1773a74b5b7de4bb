"""The classes that Spark loads at every start, kept as Java lays them out in memory: a start maps them instead.

Reading, checking and linking some 20,000 classes takes Java about a third of a short job. An archive (Java's class data
sharing) belongs to one Java and one class path, so both are in its name; one that does not fit is never named to Java.
It is recorded once, by `foresail jars`, while a small job runs. Without one everything works as before, only slower.
"""

import hashlib
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from foresail.pipeline.progress import SILENT, Progress
from foresail.pipeline.runtime.prerequisites import java_binary
from foresail.pipeline.settings import Settings, cache_home, read_settings

RECORD_TIMEOUT_S = 600
RECORDED_ROWS = 2000
MOST_KEPT = 8
"""Each environment of a machine has an archive of its own; of more than these the ones unused for longest go."""
RECORDING = "-XX:ArchiveClassesAtExit"
QUIET = "-Xshare:auto -Xlog:cds=off -Xlog:cds+dynamic=off"
"""An archive that Java refuses after all is no news for the user."""


def options(jars: Sequence[Path]) -> str:
    """What Java is told so that it uses the archive of this class path; nothing where there is none."""
    archive = place_of(jars)
    if archive is None or " " in str(archive):
        return ""
    if not archive.exists():
        return ""
    with suppress(OSError):  # one of another user can be used all the same
        os.utime(archive)  # what is used is not swept
    return f"-XX:SharedArchiveFile={archive} {QUIET}"


def place_of(jars: Sequence[Path]) -> Path | None:
    """Where the archive of this Java and this class path is kept; None where one of them is not there."""
    java = java_binary()
    if java is None:
        return None
    from pyspark import find_spark_home  # noqa: PLC0415 - Spark takes half a second to import

    digest = hashlib.sha256()
    spark = Path(find_spark_home._find_spark_home(), "jars")  # type: ignore[no-untyped-call]
    files = (java.resolve(), *sorted(spark.glob("*.jar")), *jars)
    if not all(file.exists() for file in files):
        return None
    for file in files:
        facts = file.stat()
        digest.update(f"{file}\0{facts.st_size}\0{facts.st_mtime_ns}\0".encode())
    return cache_home() / "foresail" / "classes" / f"{digest.hexdigest()[:16]}.jsa"


def record(jars: Sequence[Path], progress: Progress) -> None:
    """Make the archive of this class path unless it is there."""
    archive = place_of(jars)
    if archive is None or archive.exists() or " " in str(archive):
        return
    archive.parent.mkdir(parents=True, exist_ok=True)
    staging = archive.with_name(f".{archive.name}.{os.getpid()}")
    command = [sys.executable, "-P", "-m", __name__, str(staging)]
    with progress.step("recording the classes that Spark loads"):
        try:
            subprocess.run(command, capture_output=True, check=False, timeout=RECORD_TIMEOUT_S)
        except subprocess.TimeoutExpired:
            progress.say("the classes could not be recorded in time; Spark will start as before")
        if staging.exists():
            staging.replace(archive)
            _sweep(archive.parent)
        else:
            progress.say("the classes could not be recorded; Spark will start as before")


def _sweep(folder: Path) -> None:
    """Remove all but the archives that were used last."""
    newest_first = sorted(folder.glob("*.jsa"), key=lambda file: file.stat().st_mtime, reverse=True)
    for file in newest_first[MOST_KEPT:]:
        file.unlink(missing_ok=True)


def run_recorded(staging: Path, settings: Settings) -> None:
    """A small job of the usual kind in a Java that writes down at its end which classes it had."""
    from pyspark import SparkContext  # noqa: PLC0415

    from foresail.pipeline.runtime.session import start_spark  # noqa: PLC0415 - it asks this module for options

    asked = {**settings.spark.conf, "spark.driver.extraJavaOptions": f"{RECORDING}={staging}"}
    recorded = settings.model_copy(update={"spark": settings.spark.model_copy(update={"conf": asked})})
    spark = start_spark(recorded, "foresail classes", SILENT, short_work=True)
    java = SparkContext._gateway.proc  # type: ignore[union-attr]
    with tempfile.TemporaryDirectory(prefix="foresail-classes-") as folder:
        table, copy = f"{folder}/table", f"{folder}/copy"
        rows = spark.range(RECORDED_ROWS).selectExpr(
            "cast(id % 7 as string) track", "1700000000 + id time", "id / 10 speed_kn", "'text' name"
        )
        rows.write.csv(table, header=True)
        read = spark.read.csv(table, header=True, inferSchema=True)
        ordered = read.repartition(2, "track").sortWithinPartitions("track", "time")
        ordered.mapInArrow(lambda batches: batches, ordered.schema).write.parquet(copy)
        spark.read.parquet(copy).groupBy("track").count().collect()
    spark.stop()
    java.stdin.close()  # Java ends when nobody can write to it any more, and writes the archive then
    java.wait()


if __name__ == "__main__":
    run_recorded(Path(sys.argv[1]), read_settings())
