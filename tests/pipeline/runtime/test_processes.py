"""A process is known by its number only while it runs."""

import os
import subprocess
import sys

from foresail.pipeline.runtime.processes import command_line, is_alive


def test_this_process_is_alive_and_has_a_command_line() -> None:
    assert is_alive(os.getpid())
    assert "py" in command_line(os.getpid())


def test_a_process_that_ended_is_not() -> None:
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    assert not is_alive(ended.pid)
    assert command_line(ended.pid) == ""


def test_another_users_process_is_alive_too() -> None:
    assert is_alive(1)
