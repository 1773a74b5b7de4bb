"""One job at a time writes to a folder; the next one hears who does, and finds no rubbish of those that were killed."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from foresail.pipeline.errors import OutputError
from foresail.pipeline.sinks.holding import held_output, sweep
from foresail.pipeline.sinks.output_folder import MARKER, owner_of

HOLDS = """
import sys, time
from pathlib import Path
from foresail.pipeline.sinks.holding import held_output
with held_output(Path(sys.argv[1]), "ingest"):
    (Path(sys.argv[1]) / ".events.staging").mkdir()
    print("held", flush=True)
    time.sleep(60)
"""


@pytest.fixture
def holder(tmp_path: Path) -> "Iterator[subprocess.Popen[str]]":
    process = subprocess.Popen([sys.executable, "-c", HOLDS, str(tmp_path)], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "held\n"
    yield process
    process.kill()
    process.wait()


def hold(path: Path, command: str = "ingest") -> None:
    with held_output(path, command):
        pass


def test_the_second_job_is_told_who_holds_the_folder_and_since_when(
    tmp_path: Path, holder: "subprocess.Popen[str]"
) -> None:
    said = rf"`foresail ingest` is writing there \(process {holder.pid} on \S+ since 20[-\d]+ [:\d]+ UTC\)"
    with pytest.raises(OutputError, match=said):
        hold(tmp_path)
    assert (tmp_path / ".events.staging").exists(), "what the other one works on is left alone"


def test_a_holder_that_is_killed_holds_no_more_and_its_rubbish_is_swept(
    tmp_path: Path, holder: "subprocess.Popen[str]"
) -> None:
    os.kill(holder.pid, signal.SIGKILL)
    holder.wait()
    with held_output(tmp_path, "ingest"):
        assert not (tmp_path / ".events.staging").exists()
    assert [entry.name for entry in tmp_path.iterdir()] == [MARKER]


def test_the_marker_names_the_holder_only_while_it_holds(tmp_path: Path) -> None:
    with held_output(tmp_path, "ingest", lambda: datetime(2026, 5, 1, 12, 30, tzinfo=UTC)):
        assert f"process {os.getpid()} on " in (tmp_path / MARKER).read_text()
        assert "since 2026-05-01 12:30:00 UTC" in (tmp_path / MARKER).read_text()
        assert owner_of(tmp_path) == "ingest"
    assert (tmp_path / MARKER).read_text() == "foresail ingest\n"
    hold(tmp_path)


def test_leftovers_go_and_a_result_that_was_being_replaced_comes_back(tmp_path: Path) -> None:
    for name in ("events", ".events.former", ".rejected.former", ".matches.jsonl.staging.parts", ".ingest"):
        (tmp_path / name).mkdir()
    (tmp_path / ".quality.json.staging").write_text("half")
    (tmp_path / ".rejected.former" / "whole").write_text("")
    (tmp_path / "mine.txt").write_text("")
    sweep(tmp_path)
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["events", "mine.txt", "rejected"]
    assert (tmp_path / "rejected" / "whole").exists()
