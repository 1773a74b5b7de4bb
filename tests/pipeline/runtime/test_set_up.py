"""Set-up steps fail in one line, leave nothing half-made, and repeat what a kill left unfinished."""

import subprocess
import sys
from pathlib import Path

import pytest

from foresail.pipeline.runtime import set_up

CLOSED = "http://127.0.0.1:9"
"""Nothing listens there: what a machine without a network is to an installer."""


def run_step(step: str, folder: Path, python: str = sys.executable) -> "subprocess.CompletedProcess[str]":
    environment = {
        "PATH": "/usr/bin:/bin",
        "HOME": str(folder),
        "http_proxy": CLOSED,
        "https_proxy": CLOSED,
        "PIP_INDEX_URL": f"{CLOSED}/simple",
        "PIP_TIMEOUT": "2",
        "PIP_CONFIG_FILE": "/dev/null",
        "UV_DEFAULT_INDEX": f"{CLOSED}/simple",
        "UV_HTTP_TIMEOUT": "2",
    }
    command = [python, set_up.__file__, step]
    return subprocess.run(command, capture_output=True, text=True, check=False, cwd=folder, env=environment)


def test_without_a_network_the_first_set_up_says_so_and_leaves_nothing(tmp_path: Path) -> None:
    done = run_step("environment", tmp_path)
    assert done.returncode == 1
    lines = done.stderr.splitlines()
    assert lines[0] == "foresail: making .venv"
    assert len(lines) == 2
    assert "Connect to the network and run make again" in lines[1]
    assert not (tmp_path / ".venv").exists()


def test_a_place_that_cannot_hold_an_environment_is_one_line(tmp_path: Path) -> None:
    (tmp_path / ".venv").write_text("a file where the environment should be")
    done = run_step("environment", tmp_path)
    assert done.returncode == 1
    assert len(done.stderr.splitlines()) == 2


class FakeInstaller:
    """A stand-in for uv in a folder of its own, which notes how it was called."""

    def __init__(self, folder: Path, script: str = "exit 0") -> None:
        self.calls = folder / "calls"
        binary = folder / ".venv" / "bin" / "uv"
        binary.parent.mkdir(parents=True)
        (folder / ".venv" / ".stamps").mkdir()
        binary.write_text(f'#!/bin/sh\necho "$@" >> "{self.calls}"\n{script}\n')
        binary.chmod(0o755)


def test_packages_are_installed_once_as_locked(tmp_path: Path) -> None:
    installer = FakeInstaller(tmp_path)
    assert run_step("packages", tmp_path).returncode == 0
    call = installer.calls.read_text()
    assert "--constraint requirements.lock" in call
    assert "--reinstall" not in call


def test_after_a_kill_all_packages_are_installed_anew(tmp_path: Path) -> None:
    installer = FakeInstaller(tmp_path, script="kill -9 $PPID; sleep 1")
    assert run_step("packages", tmp_path).returncode == -9
    (tmp_path / ".venv" / "bin" / "uv").write_text(f'#!/bin/sh\necho "$@" >> "{installer.calls}"\n')
    assert run_step("packages", tmp_path).returncode == 0
    assert run_step("packages", tmp_path).returncode == 0
    first, after_the_kill, after_success = installer.calls.read_text().splitlines()
    assert ["--reinstall" in call for call in (first, after_the_kill, after_success)] == [False, True, False]


@pytest.mark.parametrize(
    ("says", "expected"),
    [
        ("error: failed to write: No space left on device (os error 28)", "the disk is full"),
        ("error: Permission denied (os error 13)", "cannot be written"),
        (
            "error: Request failed\n  Caused by: dns error",
            "Connect to the network and run make again. (Caused by: dns error)",
        ),
        ("", "no reason given"),
    ],
)
def test_a_failed_install_is_one_line_with_the_way_out(tmp_path: Path, says: str, expected: str) -> None:
    FakeInstaller(tmp_path, script=f"cat <<'END'\n{says}\nEND\nexit 2")
    done = run_step("packages", tmp_path)
    assert done.returncode == 1
    assert expected in done.stderr.splitlines()[1]
    assert len(done.stderr.splitlines()) == 2
