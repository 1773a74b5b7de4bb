"""The process around a local Airflow; Airflow itself is run by the tests of the schedules."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

STUBBORN = "import os, signal, subprocess, sys, time; signal.signal(signal.SIGINT, signal.SIG_IGN);" + (
    "part = subprocess.Popen(['sleep', '600']); open(sys.argv[1], 'w').write(f'{os.getpid()} {part.pid} ');"
    "time.sleep(600)"
)
RUN = (
    "import os, sys; from foresail.pipeline.runtime.local_airflow import run_until_interrupted;"
    "sys.exit(run_until_interrupted(sys.argv[1:], dict(os.environ), patience_s=1.0))"
)


@pytest.mark.parametrize("told", [signal.SIGINT, signal.SIGTERM])
def test_whatever_does_not_stop_when_asked_is_ended_with_all_its_parts(tmp_path: Path, told: signal.Signals) -> None:
    started = tmp_path / "started"
    command = [sys.executable, "-c", RUN, sys.executable, "-c", STUBBORN, str(started)]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    while not started.exists() or not started.read_text().endswith(" "):
        assert process.poll() is None
        time.sleep(0.05)
    process.send_signal(told)
    assert "stopping Airflow" in process.communicate(timeout=60)[1]
    assert process.returncode == 0
    assert [number for number in started.read_text().split() if is_running(int(number))] == []


def is_running(number: int) -> bool:
    try:
        os.kill(number, 0)
    except ProcessLookupError:
        return False
    state = Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()[0]
    return state != "Z"  # what nobody has waited for yet has ended
