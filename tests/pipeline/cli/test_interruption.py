"""Ctrl-C while a job runs: as a terminal sends it, to the command and to every process it started."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from foresail.pipeline.sinks.output_folder import MARKER

FORESAIL = str(Path(sys.executable).parent / "foresail")
PATTERNS = """\
name: slow_down
says: A fast vessel becomes slow.
where: {fast: speed_kn > 5, slow: speed_kn <= 5}
pattern: fast ; slow
"""


@pytest.fixture(scope="module")
def feed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("feed")
    times = [f"2024-05-01T{n // 3600:02}:{n // 60 % 60:02}:{n % 60:02}" for n in range(0, 80_000, 8)]
    rows = (
        f"{219000000 + track},{t},{54 + n % 7 * 1e-4},9.9,{n % 9}.0\n"
        for track in range(20)
        for n, t in enumerate(times)
    )
    (folder / "noaa.csv").write_text("MMSI,BaseDateTime,LAT,LON,SOG\n" + "".join(rows))
    rows = (f"{track},{t},{n % 9}.0\n" for track in range(20) for n, t in enumerate(times))
    (folder / "events.csv").write_text("track,time,speed_kn\n" + "".join(rows))
    (folder / "slow_down.yaml").write_text(PATTERNS)
    return folder


JOBS = {
    "ingest": (["ingest", "--from", "noaa", "--input", "noaa.csv", "--out", "OUT"], "reading 1 input"),
    "recognise": (["recognise", "--events", "events.csv", "--patterns", "slow_down.yaml", "--out", "OUT"], "scheme"),
    "train": (["train", "--events", "events.csv", "--patterns", "slow_down.yaml", "--models", "OUT"], "looking at a"),
}


@pytest.mark.spark
@pytest.mark.parametrize("job", JOBS)
def test_an_interrupted_job_is_quiet_ends_with_130_and_leaves_nothing_half_written(
    job: str, feed: Path, tmp_path: Path
) -> None:
    words, begun = JOBS[job]
    out = tmp_path / "out"
    process = subprocess.Popen(
        [FORESAIL, *(str(out) if word == "OUT" else word for word in words)],
        cwd=feed,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    assert process.stderr is not None
    while not (line := process.stderr.readline()).startswith(f"foresail: {begun}"):
        assert line, "the job ended before it could be interrupted"
    time.sleep(0.7)
    os.killpg(process.pid, signal.SIGINT)
    said, told = process.communicate(timeout=120)
    assert process.returncode == 130
    assert (said, [line for line in told.splitlines() if line and not line.startswith("foresail: ")]) == ("", [])
    assert "Traceback" not in told
    assert [path.name for path in out.iterdir() if path.name != MARKER] == [] if out.exists() else True
