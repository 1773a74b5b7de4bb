"""Jars of Spark's companions, fetched once into a cache of ours and used offline from then on.

The Ivy that pyspark carries resolves them, so no Maven is needed. A set is fetched into a folder beside its place and
renamed when complete: a killed or failed fetch leaves nothing that a later start could mistake for a finished one.
"""

import shutil
import subprocess
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import distribution
from pathlib import Path

from pipeline.errors import JarsError, JavaError
from pipeline.prerequisites import java_binary, java_fault

FETCH_TIMEOUT_S = 1200


@dataclass(frozen=True, slots=True)
class JarSet:
    """One Maven artifact with all it needs, kept together in one folder."""

    name: str
    group: str
    artifact: str
    version: str

    @property
    def folder(self) -> str:
        """The folder's name in the cache; another version is another folder."""
        return f"{self.artifact}-{self.version}"


SEDONA = JarSet("Sedona", "org.apache.sedona", "sedona-spark-shaded-4.0_2.13", "1.8.0")
KAFKA_CONNECTOR = JarSet("Spark's Kafka connector", "org.apache.spark", "spark-sql-kafka-0-10_2.13", "4.0.0")
KAFKA_BROKER = JarSet("the Kafka broker", "org.apache.kafka", "kafka_2.13", "4.3.1")
SPARK_JARS = (SEDONA, KAFKA_CONNECTOR)
ALL_JARS = (*SPARK_JARS, KAFKA_BROKER)


def cached(jar_set: JarSet, cache: Path) -> tuple[Path, ...]:
    """The jars of `jar_set` in `cache`; empty when it has not been fetched."""
    return tuple(sorted((cache / jar_set.folder).glob("*.jar")))


def resolve(jar_set: JarSet, cache: Path, announce: Callable[[str], None]) -> tuple[Path, ...]:
    """The jars of `jar_set`, fetched first if the cache has none; `announce` hears of a fetch."""
    jars = cached(jar_set, cache)
    if not jars:
        announce(f"fetching {jar_set.name} ({jar_set.artifact} {jar_set.version}) into {cache}")
        _fetch(jar_set, cache)
        jars = cached(jar_set, cache)
    return jars


def _fetch(jar_set: JarSet, cache: Path) -> None:
    fault = java_fault()
    if fault:
        raise JavaError(fault)
    try:
        cache.mkdir(parents=True, exist_ok=True)
        workplace = Path(tempfile.mkdtemp(prefix=".fetching-", dir=cache))
    except OSError as error:
        msg = f"{cache}: cannot be written ({error.strerror}). Make it writable, or set jars.directory to another."
        raise JarsError(msg) from None
    try:
        _run_ivy(jar_set, workplace)
        _settle(workplace / "lib", cache / jar_set.folder)
    finally:
        shutil.rmtree(workplace, ignore_errors=True)


def _run_ivy(jar_set: JarSet, workplace: Path) -> None:
    library = workplace / "lib"
    command = [
        str(java_binary()),
        "-jar",
        str(_ivy_jar()),
        "-cache",
        str(workplace / "ivy"),
        "-dependency",
        jar_set.group,
        jar_set.artifact,
        jar_set.version,
        "-confs",
        "default",  # `runtime` leaves out the main jar
        "-retrieve",
        f"{library}/[artifact]-[revision](-[classifier]).[ext]",
    ]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=FETCH_TIMEOUT_S, check=False)
    except subprocess.TimeoutExpired:
        msg = (
            f"{jar_set.name}: the registry did not answer within {FETCH_TIMEOUT_S} s. Check the network and try again."
        )
        raise JarsError(msg) from None
    fetched = list(library.glob(f"{jar_set.artifact}-*.jar"))
    if done.returncode or not fetched:
        reason = _reason(done.stdout + done.stderr)
        msg = f"{jar_set.name}: could not be fetched ({reason}). Check the network and the disk, then try again."
        raise JarsError(msg)


def _settle(fetched: Path, place: Path) -> None:
    try:
        fetched.rename(place)
    except OSError:
        # Another process may have been quicker; its result is as good as ours.
        if not place.is_dir():
            raise


def _ivy_jar() -> Path:
    folder = Path(str(distribution("pyspark").locate_file("pyspark/jars")))
    found = sorted(folder.glob("ivy-*.jar"))
    if not found:
        msg = f"{folder}: holds no Ivy. Reinstall pyspark 4.0."
        raise JarsError(msg)
    return found[-1]


def _reason(log: str) -> str:
    telling = (
        "No space left",
        "unresolved dependency",
        "UnknownHost",
        "Connection refused",
        "timed out",
        "SERVER ERROR",
        "FAILED",
    )
    lines = [line.strip(" \t:") for line in log.splitlines()]
    for sign in telling:
        for line in lines:
            if sign.lower() in line.lower():
                return line[:200]
    return "Ivy gave no reason"
