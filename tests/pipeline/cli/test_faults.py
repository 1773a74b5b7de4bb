"""Faults a user can mend are one line; faults of the program keep their trace.

A line on standard error begins with the name of whoever says it.
"""

import errno
import subprocess
import sys

import pytest

from foresail.pipeline.cli.faults import sentence_of
from foresail.pipeline.errors import OutputError


def test_our_own_errors_say_what_they_say() -> None:
    assert sentence_of(OutputError("x: is full. Empty it.")) == "x: is full. Empty it."


@pytest.mark.parametrize(
    ("number", "says"),
    [
        (errno.ENOSPC, "/data/x: No space left on device. Free some space and try again."),
        (errno.EACCES, "/data/x: Permission denied. Set its rights, or name another place."),
        (errno.EROFS, "/data/x: Read-only file system. Name a place that can be written."),
        (errno.EIO, "/data/x: Input/output error. Check the place and try again."),
    ],
)
def test_faults_of_the_system_name_the_place_and_the_way_out(number: int, says: str) -> None:
    import os

    assert sentence_of(OSError(number, os.strerror(number), "/data/x")) == says


def test_a_fault_of_the_system_without_a_place_still_reads() -> None:
    assert sentence_of(OSError("odd")) == "the machine: odd. Check the place and try again."


def test_what_spark_refuses_is_one_line() -> None:
    from pyspark.errors import AnalysisException

    sentence = sentence_of(AnalysisException("[PATH_NOT_FOUND] Path does not exist: file:/x. SQLSTATE: 42K03\nmore"))
    assert sentence is not None
    assert sentence.startswith("spark: [PATH_NOT_FOUND] Path does not exist: file:/x. Run `foresail --verbose")
    assert "\n" not in sentence


def test_a_fault_of_the_program_has_no_sentence() -> None:
    assert sentence_of(ValueError("x")) is None


def test_a_strangers_error_of_the_same_name_is_not_ours() -> None:
    stranger = type("PatternError", (Exception,), {"__module__": "elsewhere"})
    assert sentence_of(stranger("x")) is None


SAYS = """
import logging
from foresail.pipeline.cli.faults import show_log_lines
show_log_lines({verbose})
logging.getLogger("kafka.conn").error("connection refused")
logging.getLogger("foresail.pipeline.stream.query.job").warning("the broker is gone")
logging.getLogger("matplotlib.font_manager").warning("no font")
"""


@pytest.mark.parametrize(("verbose", "kafka"), [(False, []), (True, ["kafka: connection refused"])])
def test_a_library_speaks_under_its_own_name_and_kafka_only_when_asked(verbose: bool, kafka: list[str]) -> None:
    done = subprocess.run(
        [sys.executable, "-c", SAYS.format(verbose=verbose)], capture_output=True, text=True, check=True
    )
    assert done.stderr.splitlines() == [*kafka, "foresail: the broker is gone", "matplotlib: no font"]
