"""`foresail simulate` as a user meets it: one readable line for a wrong wish, one line of JSON for a right one."""

import subprocess
import sys
from pathlib import Path

import pytest

FORESAIL = str(Path(sys.executable).parent / "foresail")


def run(*options):
    return subprocess.run([FORESAIL, "simulate", *options], capture_output=True, text=True, timeout=120, check=False)


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["--domain", "flet"], "Did you mean 'fleet'?"),
        (["--tracks", "0"], "--tracks: 0 is out of range"),
        (["--days", "-2"], "--days: -2 is out of range"),
        (["--start", "yesterday"], "'yesterday' is not a time"),
    ],
)
def test_a_wrong_wish_ends_with_one_line_and_writes_nothing(tmp_path, options, says) -> None:
    ended = run("--out", str(tmp_path / "out"), *options)
    assert ended.returncode == 2
    assert says in ended.stderr
    assert len(ended.stderr.strip().splitlines()) == 1
    assert not (tmp_path / "out").exists()


def test_a_missing_folder_is_wrong_usage() -> None:
    assert run("--tracks", "3").returncode == 2


def test_help_names_every_option() -> None:
    text = run("--help").stdout
    for option in ("--domain", "--tracks", "--days", "--step", "--seed", "--out", "--region", "--no-faults", "--json"):
        assert option in text
