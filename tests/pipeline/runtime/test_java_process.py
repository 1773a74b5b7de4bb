"""What Java says is cleaned, kept for the error of a failed start, and cut to the line that tells."""

import io
import os
import signal
import time
from collections import deque
from collections.abc import Iterator

import pytest

from foresail.pipeline.errors import SparkStartError
from foresail.pipeline.runtime.java_process import JavaLines, interruption_delayed, launch_java, one_line, reason_in


def spoken(lines: JavaLines, *texts: str) -> None:
    """Let a Java process say `texts` and end."""
    reading, writing = os.pipe()
    lines.listen_to(reading)
    os.write(writing, "".join(f"{text}\n" for text in texts).encode())
    os.close(writing)
    assert lines._thread is not None
    lines._thread.join(5)


def test_noise_is_dropped_and_warnings_are_kept() -> None:
    out = io.StringIO()
    lines = JavaLines(out)
    lines.pass_on()
    noise = ("WARNING: Using incubator modules: jdk.incubator.vector", "")
    worker = "Streaming TransformWithStateInPandas Python worker received parameters"
    spoken(lines, *noise, worker, "spark: WARN Disk: nearly full")
    assert out.getvalue() == "spark: WARN Disk: nearly full\n"


def test_lines_of_a_start_are_shown_when_it_has_gone_well() -> None:
    out = io.StringIO()
    lines = JavaLines(out)
    spoken(lines, "spark: WARN Port: taken")
    assert out.getvalue() == ""
    lines.pass_on()
    assert out.getvalue() == "spark: WARN Port: taken\n"


def test_lines_of_a_failed_start_become_the_reason() -> None:
    lines = JavaLines(io.StringIO())
    spoken(lines, "Exception in thread main java.lang.IllegalArgumentException: bad port", "\tat a.b.C(D.java:1)")
    assert lines.reason() == "bad port"


def test_a_closed_stream_does_not_stop_the_listening() -> None:
    out = io.StringIO()
    lines = JavaLines(out)
    lines.pass_on()
    out.close()
    spoken(lines, "one", "two")
    assert lines._thread is not None
    assert not lines._thread.is_alive()


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        (
            ["Invalid maximum heap size: -Xmxbanana", "Error: Could not create the Java Virtual Machine."],
            "Invalid maximum heap size: -Xmxbanana",
        ),
        (["hello", "goodbye."], "hello"),
        ([], "it gave no reason"),
    ],
)
def test_the_telling_line_is_found(said: list[str], reason: str) -> None:
    assert reason_in(deque(said)) == reason


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (
            "An error occurred while calling None.x.\n: java.lang.RuntimeException: No such port.\n\tat a.b",
            "No such port",
        ),
        ("java.lang.ClassNotFoundException: no.such.Class", "ClassNotFoundException: no.such.Class"),
        (
            "x failed:\nCaused by: java.lang.A$Exception: b c\nCaused by: java.io.IOException: disk is full\n",
            "disk is full",
        ),
        (
            "[PATH_NOT_FOUND] Path does not exist: file:/x. SQLSTATE: 42K03",
            "[PATH_NOT_FOUND] Path does not exist: file:/x",
        ),
    ],
)
def test_an_error_from_java_is_cut_to_its_root(text: str, line: str) -> None:
    assert one_line(RuntimeError(text)) == line


@pytest.fixture
def own_interruptions() -> Iterator[None]:
    """Python's own handler: that of the command would remember the interruption for the rest of the process."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("own_interruptions")
def test_an_interruption_waits_for_the_end_of_the_block() -> None:
    reached = []
    before = signal.getsignal(signal.SIGINT)

    def interrupted_in_the_middle() -> None:
        with interruption_delayed():
            signal.raise_signal(signal.SIGINT)
            reached.append("the end")

    with pytest.raises(KeyboardInterrupt):
        interrupted_in_the_middle()
    assert reached == ["the end"]
    assert signal.getsignal(signal.SIGINT) is before


def test_an_error_without_words_is_named_by_its_class() -> None:
    assert one_line(ValueError()) == "ValueError"


def test_a_java_that_does_not_start_says_why() -> None:
    began = time.monotonic()
    with pytest.raises(SparkStartError, match=r"Java did not start \(Invalid maximum heap size: -Xmxbanana\)"):
        launch_java({"spark.master": "local[1]", "spark.driver.memory": "banana"})
    assert time.monotonic() - began < 60
