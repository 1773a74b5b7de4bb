"""Jars of Spark's companions, fetched once into a cache of ours and used offline from then on.

The Ivy that pyspark carries resolves them, so no Maven is needed. A set is fetched into a folder beside its place and
renamed when complete: a killed or failed fetch leaves nothing that a later start could mistake for a finished one.
"""

import os
import re
import shutil
import subprocess
import tempfile
import time
from dataclasses import dataclass
from importlib.metadata import distribution
from pathlib import Path

from foresail.pipeline.errors import JarsError, JavaError
from foresail.pipeline.progress import Progress
from foresail.pipeline.runtime.prerequisites import java_binary, java_fault
from foresail.pipeline.runtime.processes import is_alive

FETCH_TIMEOUT_S = 1200
WATCH_EVERY_S = 0.25
WORKPLACE_PREFIX = ".fetching-"


@dataclass(frozen=True, slots=True)
class JarSet:
    """One Maven artifact with all it needs, kept together in one folder."""

    name: str
    group: str
    artifact: str
    version: str
    size_mb: int
    beside_spark: bool = False
    """Whether it runs inside Spark: then what Spark ships itself is left out."""
    with_artifact: tuple[str, str, str] | None = None
    """A further artifact (group, artifact, version) that the first does not ask for but that we want with it."""

    @property
    def folder(self) -> str:
        """The folder's name in the cache; another version, also of what goes with it, is another folder."""
        beside = f"-beside-spark-{distribution('pyspark').version}" if self.beside_spark else ""
        further = f"-with-{self.with_artifact[1]}-{self.with_artifact[2]}" if self.with_artifact else ""
        return f"{self.artifact}-{self.version}{beside}{further}"


SEDONA = JarSet("Sedona", "org.apache.sedona", "sedona-spark-shaded-4.0_2.13", "1.8.0", 73, beside_spark=True)
KAFKA_CONNECTOR = JarSet(
    "Spark's Kafka connector", "org.apache.spark", "spark-sql-kafka-0-10_2.13", "4.0.0", 11, beside_spark=True
)
LOG_TO_STDERR = ("org.slf4j", "slf4j-simple", "1.7.36")  # without one the broker never says why it stops
KAFKA_BROKER = JarSet("the Kafka broker", "org.apache.kafka", "kafka_2.13", "4.3.1", 47, with_artifact=LOG_TO_STDERR)
SPARK_JARS = (SEDONA, KAFKA_CONNECTOR)
ALL_JARS = (*SPARK_JARS, KAFKA_BROKER)


def cached(jar_set: JarSet, cache: Path) -> tuple[Path, ...]:
    """The jars of `jar_set` in `cache`; empty when it has not been fetched."""
    return tuple(sorted((cache / jar_set.folder).glob("*.jar")))


def resolve(jar_set: JarSet, cache: Path, progress: Progress) -> tuple[Path, ...]:
    """The jars of `jar_set`, fetched first if the cache has none."""
    jars = cached(jar_set, cache)
    if not jars:
        _fetch(jar_set, cache, progress)
        jars = cached(jar_set, cache)
    return jars


def artifact_of(jar: str) -> str:
    """The artifact's name in a jar's file name: `kafka-clients` of `kafka-clients-3.9.0.jar`."""
    return re.sub(r"-\d+(\.\d.*)?$", "", jar.removesuffix(".jar"))


def _fetch(jar_set: JarSet, cache: Path, progress: Progress) -> None:
    fault = java_fault()
    if fault:
        raise JavaError(fault)
    try:
        cache.mkdir(parents=True, exist_ok=True)
        _remove_abandoned(cache)
        workplace = Path(tempfile.mkdtemp(prefix=f"{WORKPLACE_PREFIX}{os.getpid()}-", dir=cache))
    except OSError as error:
        msg = f"{cache}: cannot be written ({error.strerror}). Make it writable, or set jars.directory to another."
        raise JarsError(msg) from None
    try:
        _run_ivy(jar_set, workplace, cache, progress)
        _settle(workplace / "lib", cache / jar_set.folder)
    finally:
        shutil.rmtree(workplace, ignore_errors=True)


def _remove_abandoned(cache: Path) -> None:
    """Remove what killed fetches left; a fetch whose process is alive is not touched."""
    for workplace in cache.glob(f"{WORKPLACE_PREFIX}*"):
        owner = re.match(r"\d+", workplace.name.removeprefix(WORKPLACE_PREFIX))
        if owner is None or not is_alive(int(owner.group())):
            shutil.rmtree(workplace, ignore_errors=True)


def _run_ivy(jar_set: JarSet, workplace: Path, cache: Path, progress: Progress) -> None:
    library, log = workplace / "lib", workplace / "log"
    module = workplace / "ivy.xml"
    module.write_text(_ivy_module(jar_set), encoding="utf-8")
    retrieve = f"{library}/[artifact]-[revision](-[classifier]).[ext]"
    ivy = ["-cache", str(workplace / "ivy"), "-ivy", str(module), "-confs", "default", "-retrieve", retrieve]
    with log.open("wb") as output:
        command = [str(java_binary()), "-jar", str(_ivy_jar()), *ivy]
        process = subprocess.Popen(command, stdout=output, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL)
        try:
            code = _watch(process, jar_set, workplace / "ivy", progress)
        finally:
            process.kill()
    if code or not list(library.glob(f"{jar_set.artifact}-*.jar")):
        raise JarsError(_fetch_fault(jar_set, cache, log.read_text(encoding="utf-8", errors="replace")))


def _watch(process: "subprocess.Popen[bytes]", jar_set: JarSet, downloads: Path, progress: Progress) -> int:
    """Show how much has come in until `process` ends; its exit code."""
    deadline = time.monotonic() + FETCH_TIMEOUT_S
    shown_mb = 0.0
    with progress.count(f"fetching {jar_set.name} {jar_set.version}", total=jar_set.size_mb, unit="MB") as advance:
        while True:
            try:
                return process.wait(WATCH_EVERY_S)
            except subprocess.TimeoutExpired:
                if time.monotonic() > deadline:
                    msg = f"{jar_set.name}: not fetched within {FETCH_TIMEOUT_S} s. Check the network and try again."
                    raise JarsError(msg) from None
            finally:
                here_mb = _bytes_below(downloads) / 1e6
                advance(here_mb - shown_mb)
                shown_mb = here_mb


def _bytes_below(folder: Path) -> int:
    total = 0
    for path, _, names in os.walk(folder):
        for name in names:
            try:
                total += (Path(path) / name).stat().st_size
            except FileNotFoundError:  # Ivy renames a part when it is complete
                continue
    return total


def _ivy_module(jar_set: JarSet) -> str:
    """An Ivy module that needs `jar_set`; without what Spark has, which would be a second copy on its class path."""
    shipped = sorted({artifact_of(jar.name) for jar in _spark_jars_folder().glob("*.jar")})
    excludes = [f'<exclude module="{name}"/>' for name in shipped if jar_set.beside_spark and name != jar_set.artifact]
    wanted = [(jar_set.group, jar_set.artifact, jar_set.version)]
    if jar_set.with_artifact:
        wanted.append(jar_set.with_artifact)
    return "\n".join(
        (
            '<ivy-module version="2.0">',
            '<info organisation="foresail" module="jars"/>',
            '<configurations><conf name="default"/></configurations>',
            "<dependencies>",
            # Ivy's conf `runtime` leaves out the main jar
            *(f'<dependency org="{org}" name="{name}" rev="{rev}" conf="default"/>' for org, name, rev in wanted),
            *excludes,
            "</dependencies>",
            "</ivy-module>",
        )
    )


def _settle(fetched: Path, place: Path) -> None:
    try:
        fetched.rename(place)
    except OSError:
        # Another process may have been quicker; its result is as good as ours.
        if not place.is_dir():
            raise


def _spark_jars_folder() -> Path:
    return Path(str(distribution("pyspark").locate_file("pyspark/jars")))


def _ivy_jar() -> Path:
    found = sorted(_spark_jars_folder().glob("ivy-*.jar"))
    if not found:
        msg = f"{_spark_jars_folder()}: holds no Ivy. Reinstall pyspark 4.0."
        raise JarsError(msg)
    return found[-1]


def _fetch_fault(jar_set: JarSet, cache: Path, log: str) -> str:
    if "No space left" in log or "Disk quota exceeded" in log:
        return (
            f"{cache}: no space left for {jar_set.name} ({jar_set.size_mb} MB, twice that while fetching). "
            "Free some, or set jars.directory to another disk."
        )
    signs = ("UnknownHost", "unreachable", "Connection refused", "timed out", "SERVER ERROR", "unresolved dependency")
    lines = [line.strip(" \t:") for line in log.splitlines()]
    telling = [line for sign in signs for line in lines if sign.lower() in line.lower()]
    reason = telling[0][:200] if telling else "Ivy gave no reason"
    return f"{jar_set.name}: could not be fetched ({reason}). Connect to the network and try again."
