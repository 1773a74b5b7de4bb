"""Jars are fetched once, whole or not at all, and every way to fail is one line."""

import io
import os
import subprocess
import sys
from pathlib import Path

import pytest

from foresail.pipeline.errors import JarsError, JavaError
from foresail.pipeline.progress import SILENT, open_progress
from foresail.pipeline.runtime import jars
from foresail.pipeline.runtime.jars import ALL_JARS, KAFKA_CONNECTOR, SEDONA, SPARK_JARS, artifact_of, cached, resolve
from foresail.pipeline.settings import read_settings

CACHE = read_settings(environment={}).jars.directory


def fake_ivy(monkeypatch: pytest.MonkeyPatch, folder: Path, script: str) -> None:
    """Put a `java` in place that says version 17 and, when asked to run Ivy, does `script`."""
    binary = folder / "java" / "bin" / "java"
    binary.parent.mkdir(parents=True)
    binary.write_text(
        "#!/bin/sh\n"
        'if [ "$1" = -version ]; then echo \'openjdk version "17.0.1"\' >&2; exit 0; fi\n'
        'for retrieve; do :; done\nlib="${retrieve%%/\\[*}"\n' + script + "\n"
    )
    binary.chmod(0o755)
    monkeypatch.setenv("JAVA_HOME", str(binary.parent.parent))


def test_the_cache_of_this_machine_is_complete() -> None:
    assert [jar_set.name for jar_set in ALL_JARS if not cached(jar_set, CACHE)] == []


def test_nothing_that_spark_ships_is_given_to_it_twice() -> None:
    shipped = {artifact_of(jar.name) for jar in jars._spark_jars_folder().glob("*.jar")}
    given = [artifact_of(jar.name) for jar_set in SPARK_JARS for jar in cached(jar_set, CACHE)]
    assert shipped.isdisjoint(given)
    assert "kafka-clients" in given


@pytest.mark.parametrize(
    ("file", "artifact"),
    [
        ("kafka-clients-3.9.0.jar", "kafka-clients"),
        ("spark-sql-kafka-0-10_2.13-4.0.0.jar", "spark-sql-kafka-0-10_2.13"),
        ("netty-all-4.1.118.Final.jar", "netty-all"),
        ("scala-library-2.13.16.jar", "scala-library"),
        ("netty-x-4.1.118.Final-linux-x86_64.jar", "netty-x"),
        ("javax.inject-1.jar", "javax.inject"),
    ],
)
def test_an_artifact_is_known_by_its_file(file: str, artifact: str) -> None:
    assert artifact_of(file) == artifact


def test_a_fetched_set_is_put_in_place_whole(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    fake_ivy(monkeypatch, tmp_path, f'mkdir -p "$lib"; echo jar > "$lib/{SEDONA.artifact}-{SEDONA.version}.jar"')
    cache = tmp_path / "a cache"
    found = resolve(SEDONA, cache, SILENT)
    assert found == (cache / SEDONA.folder / f"{SEDONA.artifact}-{SEDONA.version}.jar",)
    assert [entry.name for entry in cache.iterdir()] == [SEDONA.folder], "no workplace is left"


def test_a_set_in_the_cache_is_not_fetched_again(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / SEDONA.folder).mkdir()
    (tmp_path / SEDONA.folder / "a.jar").write_text("")
    monkeypatch.setenv("JAVA_HOME", "/nowhere")
    assert resolve(SEDONA, tmp_path, SILENT) == (tmp_path / SEDONA.folder / "a.jar",)


@pytest.mark.parametrize(
    ("log", "says"),
    [
        ("java.io.IOException: No space left on device", "no space left for Sedona"),
        (":: UNRESOLVED DEPENDENCIES\nunresolved dependency: x#y;1: not found", "unresolved dependency: x#y;1"),
        ("java.net.UnknownHostException: repo", "UnknownHostException: repo"),
        ("", "Ivy gave no reason"),
    ],
)
def test_a_failed_fetch_is_one_line_and_leaves_nothing(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, log: str, says: str
) -> None:
    fake_ivy(monkeypatch, tmp_path, f'mkdir -p "$lib"; touch "$lib/half.jar"; cat <<\'END\'\n{log}\nEND\nexit 1')
    cache = tmp_path / "cache"
    with pytest.raises(JarsError, match=says) as caught:
        resolve(SEDONA, cache, SILENT)
    assert "\n" not in str(caught.value)
    assert list(cache.iterdir()) == []


def test_a_fetch_that_forgets_the_main_jar_is_a_failure(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    fake_ivy(monkeypatch, tmp_path, 'mkdir -p "$lib"; touch "$lib/other-1.0.jar"')
    with pytest.raises(JarsError, match="could not be fetched"):
        resolve(SEDONA, tmp_path / "cache", SILENT)


def test_what_a_killed_fetch_left_is_removed_and_a_living_one_is_not(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    fake_ivy(monkeypatch, tmp_path, f'mkdir -p "$lib"; touch "$lib/{SEDONA.artifact}-1.jar"')
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    cache = tmp_path / "cache"
    abandoned, living = cache / f".fetching-{gone.pid}-x", cache / f".fetching-{os.getppid()}-x"
    for folder in (abandoned, living):
        folder.mkdir(parents=True)
    resolve(SEDONA, cache, SILENT)
    assert not abandoned.exists()
    assert living.exists()


def test_a_cache_that_cannot_be_made_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(JarsError, match=r"file/cache: cannot be written .*jars\.directory"):
        resolve(SEDONA, tmp_path / "file" / "cache", SILENT)


def test_without_java_nothing_is_fetched(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("JAVA_HOME", "/nowhere")
    with pytest.raises(JavaError, match="no bin/java there"):
        resolve(SEDONA, tmp_path, SILENT)


def test_progress_tells_megabytes(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    download = 'mkdir -p "$lib" "$lib/../ivy"; head -c 3000000 /dev/zero > "$lib/../ivy/part"'
    fake_ivy(monkeypatch, tmp_path, f'{download}; touch "$lib/{SEDONA.artifact}-1.jar"')
    said = io.StringIO()
    resolve(SEDONA, tmp_path / "cache", open_progress(stream=said))
    assert f"fetching Sedona {SEDONA.version}: 3 MB" in said.getvalue()


def test_a_fetch_that_takes_too_long_is_ended(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    fake_ivy(monkeypatch, tmp_path, "exec sleep 60")
    monkeypatch.setattr(jars, "FETCH_TIMEOUT_S", 0)
    with pytest.raises(JarsError, match="not fetched within 0 s"):
        resolve(KAFKA_CONNECTOR, tmp_path / "cache", SILENT)


def test_without_a_network_the_real_ivy_fails_in_one_line(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    closed = "-Dhttp.proxyHost=127.0.0.1 -Dhttp.proxyPort=9 -Dhttps.proxyHost=127.0.0.1 -Dhttps.proxyPort=9"
    monkeypatch.setenv("JDK_JAVA_OPTIONS", f"{closed} -Duser.home={tmp_path}")
    with pytest.raises(JarsError, match=r"Sedona: could not be fetched .* Connect to the network") as caught:
        resolve(SEDONA, tmp_path / "cache", SILENT)
    assert "\n" not in str(caught.value)
