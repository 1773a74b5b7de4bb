"""A line on standard error begins with the name of whoever says it."""

import subprocess
import sys

import pytest

SAYS = """
import logging
from foresail.pipeline.cli.log_lines import show_log_lines
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
