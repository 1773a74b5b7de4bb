"""Java and Python are checked before anything is installed, and each fault is one line with a way out."""

import subprocess
import sys
from pathlib import Path

import pytest

from foresail.pipeline.runtime import prerequisites
from foresail.pipeline.runtime.prerequisites import java_binary, java_fault, java_major, links_fault, python_fault


def fake_java(folder: Path, says: str) -> Path:
    """A `java` that only says its version, on standard error like the real one."""
    binary = folder / "bin" / "java"
    binary.parent.mkdir(parents=True)
    binary.write_text(f"#!/bin/sh\ncat >&2 <<'END'\n{says}\nEND\n")
    binary.chmod(0o755)
    return binary


@pytest.mark.parametrize(
    ("text", "major"),
    [
        ('openjdk version "17.0.15" 2025-04-15', 17),
        ('java version "1.8.0_392"', 8),
        ('openjdk version "11.0.2" 2019-01-15', 11),
        ('openjdk version "21" 2023-09-19', 21),
        ('openjdk version "25-ea" 2025-09-16', 25),
        ("no version here", None),
    ],
)
def test_the_major_version_is_read(text: str, major: int | None) -> None:
    assert java_major(text) == major


def test_the_java_of_this_machine_will_do() -> None:
    assert java_fault() is None


def test_java_11_on_the_path_is_too_old(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    binary = fake_java(tmp_path, 'openjdk version "11.0.22" 2024-01-16')
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", f"{binary.parent}:/usr/bin:/bin")
    assert java_binary() == binary
    fault = java_fault()
    assert fault is not None
    assert "Java 11 is too old" in fault
    assert "apt-get install openjdk-17" in fault
    assert "\n" not in fault


def test_no_java_says_how_to_get_one(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    fault = java_fault()
    assert fault is not None
    assert fault.startswith("Java: not found.")


def test_a_java_home_that_leads_nowhere_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JAVA_HOME", "/no/such/java")
    fault = java_fault()
    assert fault is not None
    assert fault.startswith("JAVA_HOME=/no/such/java: no bin/java there.")


def test_java_home_goes_before_the_path(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    binary = fake_java(tmp_path, 'openjdk version "17.0.1" 2021-10-19')
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    assert java_binary() == binary


def test_a_java_that_is_no_program_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    fake_java(tmp_path, "").chmod(0o644)
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    fault = java_fault()
    assert fault is not None
    assert "does not run" in fault


def test_a_java_that_does_not_say_its_version_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    fake_java(tmp_path, "hello")
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    assert "does not say its version" in (java_fault() or "")


def test_an_old_python_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "version_info", (3, 9, 2))
    assert "Python 3.9.2 is too old" in (python_fault() or "")


@pytest.mark.parametrize("missing", ["venv", "ensurepip"])
def test_a_python_without_venv_says_what_to_install(monkeypatch: pytest.MonkeyPatch, missing: str) -> None:
    monkeypatch.setattr(prerequisites, "find_spec", lambda name: None if name == missing else object())
    assert "apt-get install python3-venv" in (python_fault() or "")


def test_links_that_became_files_are_told(tmp_path: Path) -> None:
    (tmp_path / "foresail").mkdir()
    (tmp_path / "foresail" / "patterns").write_text("../patterns")
    assert "git clone -c core.symlinks=true" in (links_fault(tmp_path) or "")
    assert links_fault(prerequisites.PROJECT) is None


def test_the_script_ends_with_code_1_and_one_line_per_fault() -> None:
    done = subprocess.run(
        [sys.executable, prerequisites.__file__],
        capture_output=True,
        text=True,
        check=False,
        env={"JAVA_HOME": "/nowhere", "PATH": "/usr/bin:/bin"},
    )
    assert done.returncode == 1
    assert done.stderr.count("\n") == 1
    assert done.stderr.startswith("foresail: JAVA_HOME=/nowhere")
