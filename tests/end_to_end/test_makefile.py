"""What make does before foresail exists: it checks, it skips what is done, it repeats what is not."""

import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """As much of the project as make reads, in a path with a space."""
    place = tmp_path / "a clone"
    (place / "pipeline" / "runtime").mkdir(parents=True)
    files = ("prerequisites.py", "set_up.py", "jars.py")
    for name in ("Makefile", "pyproject.toml", "requirements.lock", *(f"pipeline/runtime/{file}" for file in files)):
        shutil.copy(ROOT / name, place / name)
    return place


def make(project: Path, *arguments: str, **environment: str) -> "subprocess.CompletedProcess[str]":
    command = ["make", f"PYTHON={sys.executable}", *arguments]
    variables = {"PATH": os.environ["PATH"], "HOME": str(project), **environment}
    return subprocess.run(command, capture_output=True, text=True, check=False, cwd=project, env=variables)


def stamp(project: Path, *steps: str) -> None:
    for step in steps:
        file = project / ".venv" / ".stamps" / step
        file.parent.mkdir(parents=True, exist_ok=True)
        file.touch()
        time.sleep(0.02)


def lines_of_ours(done: "subprocess.CompletedProcess[str]") -> list[str]:
    return [line for line in (done.stdout + done.stderr).splitlines() if line.startswith("foresail: ")]


def test_without_java_nothing_is_made_and_one_line_says_why(project: Path) -> None:
    done = make(project, "demo", JAVA_HOME="/nowhere")
    assert done.returncode != 0
    (line,) = lines_of_ours(done)
    assert line.startswith("foresail: JAVA_HOME=/nowhere: no bin/java there.")
    assert not (project / ".venv").exists()


def test_what_is_done_is_skipped(project: Path) -> None:
    stamp(project, "venv", "packages", "jars", "kernels")
    assert make(project, "--question", "setup").returncode == 0


@pytest.mark.parametrize("step", ["venv", "packages", "jars", "kernels"])
def test_a_step_without_its_stamp_is_repeated(project: Path, step: str) -> None:
    stamp(project, "venv", "packages", "jars", "kernels")
    (project / ".venv" / ".stamps" / step).unlink()
    assert make(project, "--question", "setup").returncode == 1


@pytest.mark.parametrize("file", ["pyproject.toml", "requirements.lock", "pipeline/runtime/jars.py"])
def test_a_change_of_what_is_wanted_sets_up_anew(project: Path, file: str) -> None:
    stamp(project, "venv", "packages", "jars", "kernels")
    time.sleep(0.02)
    (project / file).touch()
    assert make(project, "--question", "setup").returncode == 1


def test_help_names_the_two_commands(project: Path) -> None:
    said = make(project, "help").stdout
    assert "demo" in said
    assert "test" in said
