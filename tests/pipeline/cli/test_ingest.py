"""The command: what it needs, what it shows, and the JSON that other tools rely on."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner
from rich.console import Console

from foresail.pipeline.cli import foresail
from foresail.pipeline.cli.ingest import notes_on, show_result
from foresail.pipeline.jobs.ingest_order import IngestResult


def test_the_command_says_what_it_needs() -> None:
    found = CliRunner().invoke(foresail, ["ingest", "--from", "noaa"])
    assert found.exit_code == 2
    assert "--input" in found.output


def test_the_list_names_every_feed_and_choice() -> None:
    found = CliRunner().invoke(foresail, ["ingest", "--list"])
    assert found.exit_code == 0
    assert all(word in found.output for word in ("noaa", "gtfs_realtime", "mapped", "jumps", "same_time"))


def test_the_summary_shows_the_balance_and_warns_of_what_was_guessed(capsys: pytest.CaptureFixture[str]) -> None:
    result = IngestResult(
        "nmea",
        rows_in=5,
        rows_out=3,
        rejected=1,
        duplicates=1,
        reasons={"comment": 1},
        duplicate_kinds={"same_time": 1},
        repairs={"time_from_file": 3},
        files_read=("a.log",),
    )
    show_result(result, Path("out"), Console(width=120))
    shown = capsys.readouterr().out
    assert "a comment line of the recording" in shown
    assert "received_at=TIME" in shown
    assert notes_on(IngestResult("noaa", files_read=("a",))) == ["the input has no rows."]


@pytest.mark.spark
def test_the_last_line_is_json_and_a_fault_is_one_line(tmp_path: Path) -> None:
    command = [
        sys.executable,
        "-c",
        "from foresail.pipeline.cli import main; main()",
        "ingest",
        "--json",
        "--out",
        str(tmp_path / "out"),
    ]
    file = tmp_path / "in.csv"
    file.write_text(
        "MMSI,BaseDateTime,LAT,LON\n219001559,2024-05-01T10:00:00,57.5,9.9\n219001559,2024-05-01T10:01:00,0,0\n"
    )
    done = subprocess.run(
        [*command, "--from", "noaa", "--input", str(file)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    summary = json.loads(done.stdout.splitlines()[-1])
    expected = {"rows_in": 2, "rows_out": 1, "rejected": 1, "duplicates": 0, "reasons": {"zero_position": 1}}
    assert {key: summary[key] for key in expected} == expected
    assert summary["seconds"] > 0
    assert {path.name for path in (tmp_path / "out").iterdir()} >= {
        "events",
        "rejected",
        "quality.html",
        "quality.json",
    }
    wrong = subprocess.run([*command, "--from", "noa", "--input", "x"], capture_output=True, text=True, check=False)
    assert wrong.returncode == 2
    assert wrong.stderr.strip().splitlines()[-1].startswith("foresail: --from noa: unknown feed. Did you mean 'noaa'?")
