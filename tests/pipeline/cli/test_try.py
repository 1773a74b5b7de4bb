"""`foresail try`: the runner of this process on the command line."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from foresail.pipeline.cli import foresail
from foresail.pipeline.errors import InputError

EVENTS = """mmsi,ts,speed_kn
1,2024-01-01T00:00:00Z,5
1,2024-01-01T00:10:00Z,0.5
1,2024-01-01T00:20:00Z,0.2
1,2024-01-01T00:30:00Z,0.1
2,2024-01-01T00:30:00Z,7
"""
SLOW = ("--pattern", "slow{3,}", "--where", "slow: speed_kn < 1")
NAMES = ("--track-column", "mmsi", "--time-column", "ts")


def run(*arguments: str, stdin: str | None = None) -> Result:
    return CliRunner().invoke(foresail, ["try", *arguments], input=stdin)


@pytest.fixture
def events(tmp_path: Path) -> Path:
    file = tmp_path / "events.csv"
    file.write_text(EVENTS, encoding="utf-8")
    return file


def test_a_pattern_of_the_command_line_is_found(events: Path) -> None:
    done = run("--events", str(events), *NAMES, *SLOW)
    assert done.exit_code == 0, done.output
    assert "2024-01-01 00:30:00  4" in done.stdout
    assert "pattern: 1 match on 1 track" in done.stdout


def test_json_is_a_line_per_row_and_nothing_else(events: Path) -> None:
    done = run("--events", "-", *NAMES, *SLOW, "--json", stdin=EVENTS.replace("Z", "") + "9,noon,1\n")
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    assert [(row["pattern"], row["track"], row["index"]) for row in rows] == [("pattern", "1", 4)]
    assert rows[0]["time"] == "2024-01-01T00:30:00.000000Z"
    assert "taken as UTC" in done.stderr
    assert "1 row of 6 left out: 1 whose time cannot be read" in done.stderr


def test_nothing_found_is_no_row_and_leads_to_why(events: Path) -> None:
    fast = ("--pattern", "[speed_kn > 90]")
    assert run("--events", str(events), *NAMES, *fast, "--json").stdout == ""
    assert "foresail why --events" in run("--events", str(events), *NAMES, *fast).stdout


def test_a_file_of_patterns_and_built_in_ones(events: Path, tmp_path: Path) -> None:
    file = tmp_path / "mine.yaml"
    file.write_text("name: fast\nsays: Fast.\npattern: '[speed_kn > 6]'\n", encoding="utf-8")
    done = run("--events", str(events), *NAMES, "--patterns", str(file), "--json")
    assert [json.loads(line)["track"] for line in done.stdout.splitlines()] == ["2"]
    built_in = run("--events", str(events), *NAMES, "--domain", "fleet", "--set", "route.min_stop_min=20")
    assert isinstance(built_in.exception, InputError), "none of them fits"
    events.write_text(EVENTS.replace("speed_kn", "gap_s"), encoding="utf-8")
    built_in = run("--events", str(events), *NAMES, "--domain", "maritime")
    assert built_in.exit_code == 0, built_in.output
    assert "not looked for: " in built_in.stderr


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        ((), 2, "name what to look for"),
        (("--pattern", "slow", "--where", "slow < 1"), 2, "not of the form NAME: CONDITION"),
        (("--pattern", "slow{3,"), 1, "pattern.pattern:1:8"),
        (("--pattern", "[sped_kn < 1]"), 1, "Did you mean 'speed_kn'"),
    ],
)
def test_faults_are_one_line(events: Path, arguments: tuple[str, ...], code: int, said: str) -> None:
    script = "import sys; from foresail.pipeline.cli import main; main()"
    command = [sys.executable, "-c", script, "try", "--events", str(events), *NAMES, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == code
    assert said in done.stderr
    assert "Traceback" not in done.stderr


def test_watching_runs_again_when_a_file_changes(events: Path, tmp_path: Path) -> None:
    file = tmp_path / "mine.yaml"
    file.write_text("name: fast\nsays: Fast.\npattern: '[speed_kn > 90]'\n", encoding="utf-8")
    command = [sys.executable, "-m", "foresail", "try", "--events", str(events), *NAMES, "--patterns", str(file)]
    with subprocess.Popen(
        [*command, "--json", "--watch"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        env=os.environ | {"PYTHONUNBUFFERED": "1"},
    ) as watching:  # fmt: skip
        try:
            assert watching.stderr is not None
            assert watching.stdout is not None
            assert "waiting for a change" in watching.stderr.readline()
            time.sleep(0.02)
            file.write_text("name: fast\nsays: Fast.\npattern: '[speed_kn > 6'\n", encoding="utf-8")
            assert "mine.yaml:3" in watching.stderr.readline()
            while "waiting" not in watching.stderr.readline():
                pass
            file.write_text("name: fast\nsays: Fast.\npattern: '[speed_kn > 6]'\n", encoding="utf-8")
            assert json.loads(watching.stdout.readline())["track"] == "2"
        finally:
            watching.terminate()


def test_python_m_foresail_is_the_command_and_loads_neither_spark_nor_pandas(events: Path) -> None:
    done = subprocess.run([sys.executable, "-m", "foresail", "--version"], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("python -m foresail, version 0") or "version 0" in done.stdout
    script = (
        "import sys\n"
        f"sys.argv = ['foresail', 'try', '--events', {str(events)!r}, *{NAMES!r}, *{SLOW!r}]\n"
        "from foresail.pipeline.cli import foresail\n"
        "foresail.main(standalone_mode=False)\n"
        "print(sorted({'pyspark', 'pandas', 'geopandas', 'scipy.linalg'} & set(sys.modules)))\n"
    )
    said = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert said.stdout.splitlines()[-1] == "[]"
