"""Classes are recorded once for a Java and a class path, and a Java that must use them starts."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from foresail.pipeline.progress import SILENT
from foresail.pipeline.runtime import class_archive
from foresail.pipeline.runtime.class_archive import options, place_of, record
from foresail.pipeline.runtime.jars import SPARK_JARS, resolve
from foresail.pipeline.runtime.session import configuration
from foresail.pipeline.settings import Settings, read_settings

JARS = [jar for jars in SPARK_JARS for jar in resolve(jars, read_settings(environment={}).jars.directory, SILENT)]
MUST_USE_IT = """
from foresail.pipeline.runtime.session import start_spark
from foresail.pipeline.settings import read_settings
spark = start_spark(read_settings())
given = spark._jvm.java.lang.management.ManagementFactory.getRuntimeMXBean().getInputArguments()
print([option for option in given if option.startswith("-XX:SharedArchiveFile")], spark.range(3).count())
"""


def test_an_archive_belongs_to_its_class_path(tmp_path: Path) -> None:
    other = tmp_path / "other.jar"
    other.touch()
    assert place_of(JARS) == place_of(JARS)
    assert place_of(JARS) != place_of([*JARS, other])


def test_without_an_archive_java_is_told_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert options(JARS) == ""
    place = place_of(JARS)
    assert place is not None
    place.parent.mkdir(parents=True)
    place.touch()
    assert options(JARS).startswith(f"-XX:SharedArchiveFile={place} ")


def test_a_cluster_is_told_nothing_of_this_machine_s_classes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(class_archive, "options", "-XX:SharedArchiveFile={}".format)
    for master, told in (("local[2]", True), ("spark://there:7077", False)):
        chosen = configuration(Settings.model_validate({"spark": {"master": master}}), JARS)
        assert ("SharedArchiveFile" in chosen["spark.driver.extraJavaOptions"]) is told


def test_the_archives_that_were_used_last_are_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(class_archive, "MOST_KEPT", 3)
    monkeypatch.setattr(class_archive, "place_of", lambda _: tmp_path / "e.jsa")
    for age, name in enumerate("abcde"):
        (tmp_path / f"{name}.jsa").touch()
        os.utime(tmp_path / f"{name}.jsa", (1000 - age, 1000 - age))
    assert options([]).startswith("-XX:SharedArchiveFile")
    class_archive._sweep(tmp_path)
    assert sorted(file.stem for file in tmp_path.iterdir()) == ["a", "b", "e"]


@pytest.mark.spark
def test_a_java_that_must_use_recorded_classes_starts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setenv("FORESAIL_JARS__DIRECTORY", str(JARS[0].parents[1]))
    record(JARS, SILENT)
    place = place_of(JARS)
    assert place is not None
    assert place.stat().st_size > 50_000_000
    monkeypatch.setenv("FORESAIL_SPARK__CONF", "{spark.driver.extraJavaOptions: '-Xshare:on'}")
    done = subprocess.run([sys.executable, "-c", MUST_USE_IT], capture_output=True, text=True, check=False)
    assert done.stdout.splitlines()[-1:] == [f"['-XX:SharedArchiveFile={place}'] 3"], done.stderr
