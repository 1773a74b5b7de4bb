"""Spark's Java process: started so that what it says reaches the user without noise, and a failed start says why."""

import logging
import os
import re
import sys
import threading
from collections import deque
from collections.abc import Mapping
from typing import TYPE_CHECKING, TextIO

from foresail.pipeline.errors import SparkStartError
from foresail.pipeline.runtime.interruption import has_been_interrupted, interruption_delayed

if TYPE_CHECKING:
    from py4j.java_gateway import JavaGateway

KEPT_LINES = 200
NOISE = re.compile(
    r"WARNING: Using incubator modules"
    r"|Using Spark's default log4j profile"
    r"|Setting default log level to"
    r"|To adjust logging level use"
    r"|(Starting )?Streaming TransformWithStateInPandas Python worker"
    r"|\s*$"
    r"|WARNING: (An illegal|A terminally deprecated|A restricted|Please consider|Use --enable-native-access)"
)
TELLING = re.compile(
    r"(?:Exception in thread \S+ |Caused by: |Error: )?(?:[\w.$]+(?:Exception|Error): )?(?P<reason>.+)"
)


class JavaLines:
    """What a Java process says: kept while it starts, in case it fails; passed on, without noise, once it is up."""

    def __init__(self, passes_on: TextIO) -> None:
        self._passes_on = passes_on
        self._kept: deque[str] = deque(maxlen=KEPT_LINES)
        self._lock = threading.Lock()
        self._is_up = False
        self._thread: threading.Thread | None = None

    def listen_to(self, pipe: int) -> None:
        """Read from `pipe` until its other end is closed."""
        self._thread = threading.Thread(target=self._listen, args=(pipe,), daemon=True, name="java-lines")
        self._thread.start()

    def pass_on(self) -> None:
        """Show what was said during the start, and from now on every line."""
        with self._lock:
            self._is_up = True
            for line in self._kept:
                _write(self._passes_on, line)

    def reason(self) -> str:
        """The line that tells most of why Java ended."""
        if self._thread:
            self._thread.join(timeout=5)
        return reason_in(self._kept)

    def _listen(self, pipe: int) -> None:
        with os.fdopen(pipe, encoding="utf-8", errors="replace") as lines:
            for line in lines:
                if NOISE.match(line) or has_been_interrupted():
                    continue
                with self._lock:
                    if self._is_up:
                        _write(self._passes_on, line)
                    else:
                        self._kept.append(line)


def launch_java(conf: Mapping[str, str]) -> "tuple[JavaGateway, JavaLines]":
    """The gateway to a new Java process that has `conf`, and what it says."""
    from pyspark import SparkConf  # noqa: PLC0415 - Spark costs half a second to import; commands without it don't pay
    from pyspark.java_gateway import launch_gateway  # noqa: PLC0415

    # py4j tells of every connection that ends when a job is interrupted
    logging.getLogger("py4j").setLevel(logging.CRITICAL)
    spark_conf = SparkConf(loadDefaults=False).setAll(list(conf.items()))
    reading, writing = os.pipe()
    lines = JavaLines(sys.stderr)
    lines.listen_to(reading)
    said_to = {"stdout": writing, "stderr": writing}  # standard output is for results
    try:
        with interruption_delayed():  # a Java process that is interrupted while it starts would never end
            gateway = launch_gateway(spark_conf, popen_kwargs=said_to)  # type: ignore[no-untyped-call]
    except Exception:
        os.close(writing)
        msg = f"spark: Java did not start ({lines.reason()}). Check spark.driver_memory, --master and --conf."
        raise SparkStartError(msg) from None
    os.close(writing)
    return gateway, lines


def reason_in(lines: "deque[str]") -> str:
    """The line that tells most of why Java ended: an error or exception, else the last one said."""
    said = [line.strip() for line in lines if line.strip() and not line.lstrip().startswith("at ")]
    telling = [line for line in said if re.search(r"Error|Exception|Invalid|Unrecognized|cannot|must", line)]
    chosen = (telling or said or ["it gave no reason"])[0]
    found = TELLING.fullmatch(chosen)
    return (found["reason"] if found else chosen).rstrip(".")[:300]


def _write(stream: TextIO, line: str) -> None:
    try:
        stream.write(line)
        stream.flush()
    except (OSError, ValueError):  # the stream was closed: Java must not block on a full pipe for that
        return


def one_line(error: BaseException) -> str:
    """What an error that crossed from Java says at its root, in one line, without class names and error codes."""
    root: BaseException | None = error
    while root is not None:
        error, root = root, getattr(root, "_cause", None)
    text = str(error).strip() or type(error).__name__
    lines = [line.strip() for line in text.splitlines()]
    lines = [line for line in lines if line and not line.startswith(("An error occurred while calling", "at "))]
    causes = [line.removeprefix("Caused by: ") for line in lines if line.startswith("Caused by: ")]
    first = (causes[-1:] or lines[:1] or [text])[0]
    return re.sub(r"\s*SQLSTATE: \w+$", "", _without_class(first)).strip().rstrip(".:")[:300]


def _without_class(line: str) -> str:
    """`Bad value` of `java.lang.RuntimeException: Bad value`; a message of one word says nothing without its class."""
    kind, message = re.fullmatch(r":?\s*((?:[\w.$]+(?:Exception|Error): )*)(.*)", line).groups()  # type: ignore[union-attr]
    if " " in message or not kind:
        return message
    return f"{kind.rstrip(': ').rpartition('.')[2]}: {message}"
