"""Whether this machine can run Foresail: each part tried for real, each fault with what to do about it."""

import os
import re
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, requires, version
from pathlib import Path
from typing import TYPE_CHECKING

from foresail.pipeline.errors import PipelineError
from foresail.pipeline.progress import SILENT, Progress
from foresail.pipeline.runtime.jars import ALL_JARS, cached
from foresail.pipeline.runtime.prerequisites import java_binary, java_fault
from foresail.pipeline.settings import Settings

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

LEAST_FREE_GB = 2.0
LEAST_FREE_MEMORY_GB = 0.5
"""Beside the driver's memory: Python, its workers and the system."""
KNOWN_DISTANCES_M = (
    ("one degree of longitude on the equator", (0.0, 0.0), (1.0, 0.0), 111_319.491),
    ("one degree of latitude from the equator", (0.0, 0.0), (0.0, 1.0), 110_574.389),
)
"""On the WGS 84 spheroid (Karney 2013)."""
SQUARE = "POLYGON((0 0, 2 0, 2 2, 0 2, 0 0))"
CONNECTOR_CLASS = "org.apache.spark.sql.kafka010.KafkaSourceProvider"


@dataclass(frozen=True, slots=True)
class Finding:
    """What one check found: fine and what it saw, or a fault and what to do."""

    check: str
    ok: bool
    says: str


def examine(settings: Settings, progress: Progress = SILENT) -> Iterator[Finding]:
    """Every check in turn; the ones that need Spark are left out with a word when Spark does not start."""
    yield check_java()
    yield check_packages()
    yield check_jars(settings)
    yield check_disk(settings)
    yield check_memory(settings)
    yield check_kernels()
    spark, finding = start_for_checks(settings, progress)
    yield finding
    for name, check in (("Sedona", check_sedona), ("Kafka connector", check_connector)):
        yield check(spark) if spark else Finding(name, ok=False, says="not tried: Spark does not run (see above)")
    yield check_broker(settings)


def check_java() -> Finding:
    """Java is there and new enough."""
    fault = java_fault()
    if fault:
        return Finding("Java", ok=False, says=fault)
    said = subprocess.run([str(java_binary()), "-version"], capture_output=True, text=True, check=False)
    return Finding("Java", ok=True, says=f"{(said.stderr or said.stdout).splitlines()[0]} at {java_binary()}")


def check_packages() -> Finding:
    """Every Python package that foresail asks for is installed in the range it asks for."""
    from packaging.requirements import Requirement  # noqa: PLC0415

    wanted = [Requirement(text) for text in requires("foresail") or ()]
    wanted = [need for need in wanted if need.marker is None or need.marker.evaluate({"extra": ""})]
    faults = [fault for need in wanted if (fault := _package_fault(need.name, need.specifier.contains, str(need)))]
    if faults:
        return Finding("Python packages", ok=False, says=f"{'; '.join(faults)}. Run `make setup`.")
    return Finding(
        "Python packages", ok=True, says=f"{len(wanted)} packages in their ranges, pyspark {version('pyspark')}"
    )


def check_jars(settings: Settings) -> Finding:
    """The jars are in the cache, so that starts need no network."""
    folder = settings.jars.directory
    missing = [jar_set.name for jar_set in ALL_JARS if not cached(jar_set, folder)]
    if missing:
        return Finding("jars", ok=False, says=f"{folder}: lacks {', '.join(missing)}. Run `foresail jars`.")
    return Finding("jars", ok=True, says=str(folder))


def check_disk(settings: Settings) -> Finding:
    """Room where Spark spills, where the jars are and where results go."""
    places = {settings.spark.local_directory or Path(tempfile.gettempdir()), settings.jars.directory, Path.cwd()}
    free_gb = {place: shutil.disk_usage(_existing(place)).free / 1e9 for place in sorted(places)}
    short = [f"{place} has {gb:.1f} GB free" for place, gb in free_gb.items() if gb < LEAST_FREE_GB]
    if short:
        return Finding("disk", ok=False, says=f"{'; '.join(short)}. Free some: {LEAST_FREE_GB:.0f} GB are needed.")
    return Finding("disk", ok=True, says=f"{min(free_gb.values()):.0f} GB free")


def check_memory(settings: Settings) -> Finding:
    """Enough memory for Spark's driver and what runs beside it."""
    total_gb = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 1e9
    driver_gb = gigabytes(settings.spark.driver_memory)
    if driver_gb is None:
        text = settings.spark.driver_memory
        return Finding("memory", ok=False, says=f"spark.driver_memory '{text}' is no amount. Write one such as 2g.")
    if total_gb < driver_gb + LEAST_FREE_MEMORY_GB:
        says = f"{total_gb:.1f} GB in all, spark.driver_memory asks for {driver_gb:.1f} GB. Set it lower."
        return Finding("memory", ok=False, says=says)
    return Finding("memory", ok=True, says=f"{total_gb:.0f} GB, {driver_gb:.1f} GB of them for Spark")


def check_kernels() -> Finding:
    """Numba compiles a kernel to machine code, and it counts right."""
    import numpy as np  # noqa: PLC0415
    from numba import njit  # noqa: PLC0415

    began = time.monotonic()
    try:
        add_up = njit("int64(int64[:])")(_add_up)
        right = add_up(np.arange(1000)) == 499_500
    except Exception as error:
        return Finding("native kernels", ok=False, says=f"numba does not compile ({error}). Reinstall: `make setup`.")
    if not right:
        return Finding("native kernels", ok=False, says="a numba kernel gives a wrong sum. Reinstall: `make setup`.")
    return Finding("native kernels", ok=True, says=f"compiled and run in {time.monotonic() - began:.1f} s")


def start_for_checks(settings: Settings, progress: Progress) -> "tuple[SparkSession | None, Finding]":
    """A SparkSession and how long it took, or why there is none."""
    from foresail.pipeline.runtime.session import start_spark  # noqa: PLC0415

    began = time.monotonic()
    try:
        spark = start_spark(settings, "foresail doctor", progress, short_work=True)
    except PipelineError as error:
        return None, Finding("Spark", ok=False, says=str(error))
    says = f"{spark.version} started in {time.monotonic() - began:.1f} s with master {settings.spark.master}"
    return spark, Finding("Spark", ok=True, says=says)


def check_sedona(spark: "SparkSession") -> Finding:
    """Sedona tells inside from outside and measures on the spheroid like the books."""
    return _tried("Sedona", lambda: _sedona_fault(spark), "a point in a polygon and two spheroidal distances are right")


def check_connector(spark: "SparkSession") -> Finding:
    """Spark's Kafka connector is on the class path."""

    def fault() -> str | None:
        jvm = spark._jvm
        loader = jvm.java.lang.Thread.currentThread().getContextClassLoader()  # type: ignore[union-attr]
        jvm.java.lang.Class.forName(CONNECTOR_CLASS, True, loader)  # type: ignore[union-attr]
        return None

    return _tried("Kafka connector", fault, "on Spark's class path")


def check_broker(settings: Settings) -> Finding:
    """The configured broker answers; none configured is fine."""
    address = settings.kafka.bootstrap_servers
    if address is None:
        return Finding("Kafka broker", ok=True, says="none configured (kafka.bootstrap_servers); streams need one")
    from foresail.pipeline.kafka import is_reachable  # noqa: PLC0415

    if is_reachable(address):
        return Finding("Kafka broker", ok=True, says=f"{address} answers")
    says = f"{address} does not answer. Start it (`foresail kafka start`) or set kafka.bootstrap_servers."
    return Finding("Kafka broker", ok=False, says=says)


def gigabytes(amount: str) -> float | None:
    """Java's way of writing memory, in GB: `512m`, `2g`; None for what it would not take."""
    found = re.fullmatch(r"(\d+)([kmgt])b?", amount.strip().lower())
    return int(found[1]) * 1024 ** ("kmgt".index(found[2]) + 1) / 1e9 if found else None


def _add_up(values):  # type: ignore[no-untyped-def]
    total = 0
    for value in values:
        total += value
    return total


def _package_fault(name: str, fits: Callable[[str], bool], wanted: str) -> str | None:
    try:
        found = version(name)
    except PackageNotFoundError:
        return f"{name} is missing"
    return None if fits(found) else f"{name} is {found}, wanted {wanted}"


def _existing(place: Path) -> Path:
    return next(folder for folder in (place, *place.absolute().parents) if folder.exists())


def _tried(check: str, fault_of: Callable[[], str | None], fine: str) -> Finding:
    try:
        fault = fault_of()
    except Exception as error:
        from foresail.pipeline.runtime.java_process import one_line  # noqa: PLC0415

        fault = one_line(error)
    if fault:
        return Finding(check, ok=False, says=f"{fault}. Remove the jars and fetch them anew: `foresail jars`.")
    return Finding(check, ok=True, says=fine)


def _sedona_fault(spark: "SparkSession") -> str | None:
    distances = ", ".join(
        f"ST_DistanceSpheroid(ST_Point({a[0]}, {a[1]}), ST_Point({b[0]}, {b[1]}))" for _, a, b, _ in KNOWN_DISTANCES_M
    )
    contains = ", ".join(f"ST_Contains(ST_GeomFromWKT('{SQUARE}'), ST_Point({x}, 1.0))" for x in (1.0, 3.0))
    inside, outside, *measured_m = spark.sql(f"SELECT {contains}, {distances}").collect()[0]
    if not inside or outside:
        return "Sedona takes a point outside a polygon for one inside, or the other way round"
    for (what, _, _, known_m), found_m in zip(KNOWN_DISTANCES_M, measured_m, strict=True):
        if abs(found_m - known_m) > 0.01:
            return f"Sedona measures {found_m:.3f} m for {what}, which is {known_m:.3f} m"
    return None
