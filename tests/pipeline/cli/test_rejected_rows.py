"""Commands that read tables and write no rejected rows say when most of them were rejected, and why."""

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner, Result

from foresail.pipeline.cli import foresail
from foresail.pipeline.errors import InputError
from foresail.pipeline.sources.table import read_events

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

PATTERN = """
name: rise
says: A value rises.
where: {low: x < 2, high: x >= 2}
pattern: low ; high
forecast: {order: 1, horizon: 5, threshold: 0.2}
"""
COUNT_ONLY = ("--count-only", "--from", "2023-11-14", "--to", "2023-11-16")


def run(*arguments: object) -> Result:
    return CliRunner().invoke(foresail, [str(argument) for argument in arguments])


def table(folder: Path, good: int, bad_times: int, without_track: int = 0) -> Path:
    rows = [f"a,{1_700_000_000 + 60 * n},{n % 4}" for n in range(good)]
    rows += ["a,soon,1"] * bad_times + [",1700000000,1"] * without_track
    file = folder / "events.csv"
    file.write_text("track,time,x\n" + "\n".join(rows) + "\n", encoding="utf-8")
    return file


@pytest.fixture
def patterns(tmp_path: Path) -> Path:
    file = tmp_path / "rise.yaml"
    file.write_text(PATTERN, encoding="utf-8")
    return file


@pytest.fixture
def shared_session(spark: "SparkSession", monkeypatch: pytest.MonkeyPatch) -> None:
    """Commands take the session of the tests and leave it running."""
    monkeypatch.setattr("foresail.pipeline.runtime.session.start_spark", lambda *_given, **_options: spark)
    monkeypatch.setattr(spark, "stop", lambda: None)


@pytest.mark.spark
def test_rows_are_counted_by_what_is_wrong_with_them(spark: "SparkSession", tmp_path: Path) -> None:
    rows = read_events(spark, [str(table(tmp_path, 5, 2, 1))]).rows()
    assert (rows.good, rows.rejected) == (5, {"bad_time": 2, "no_track": 1})
    assert rows.summary == {"rows_read": 8, "rejected": 3, "rejected_reasons": {"bad_time": 2, "no_track": 1}}


@pytest.mark.spark
@pytest.mark.usefixtures("shared_session")
def test_train_forecast_and_evaluate_warn_when_most_rows_are_rejected(
    tmp_path: Path, patterns: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    events, models = table(tmp_path, 240, 300), tmp_path / "models"
    shared = ("--events", events, "--patterns", patterns, "--json", "--quiet")
    for arguments in (
        ("train", "--models", models),
        ("train", "--models", tmp_path / "counts", *COUNT_ONLY),
        ("train", "--models", tmp_path / "by_day", *COUNT_ONLY, "--each-day"),
        ("forecast", "--models", models, "--out", tmp_path / "forecast"),
        ("evaluate", "--folds", 2, "--orders", "0", "--out", tmp_path / "evaluated"),
    ):
        done = run(*arguments, *shared)
        assert done.exit_code == 0, done.output
        assert "WARNING: 300 of 540 rows were rejected: 300 bad_time (have a time that cannot be read)" in done.stderr
        assert "events.csv is CSV" in done.stderr, "it also says what the file looks like"
        summary = json.loads(done.stdout.splitlines()[-1])
        assert (summary["rejected"], summary["rejected_share"]) == (300, 0.5556)
    monkeypatch.setenv("FORESAIL_REJECTED__WARN_SHARE", "0.6")
    monkeypatch.setenv("FORESAIL_REJECTED__FAIL_SHARE", "0.5")
    for count_only in ((), COUNT_ONLY):
        done = run("train", "--models", models, *count_only, *shared)
        assert (done.exit_code, "WARNING" in done.stderr) == (1, False)


@pytest.mark.spark
@pytest.mark.usefixtures("shared_session")
def test_where_every_row_is_rejected_there_is_nothing_to_learn_from(tmp_path: Path, patterns: Path) -> None:
    events = table(tmp_path, 0, 7)
    done = run("train", "--events", events, "--patterns", patterns, "--models", tmp_path / "models")
    assert isinstance(done.exception, InputError)
    assert f"{events}: 7 of 7 rows were rejected: 7 bad_time" in str(done.exception)
    assert not (tmp_path / "models").exists()
    counted = run("train", "--events", events, "--patterns", patterns, "--models", tmp_path / "models", *COUNT_ONLY)
    assert str(counted.exception) == str(done.exception)


def test_replay_warns_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from contextlib import nullcontext

    sent = {
        "events": 1, "duplicates": 0, "topic": "t", "seconds": 1.0, "events_per_second": 1,
        "rows_read": 4, "rejected": 3, "rejected_reasons": {"no_time": 3},
    }  # fmt: skip
    monkeypatch.setattr("foresail.pipeline.runtime.session.running_spark", lambda *_: nullcontext())
    monkeypatch.setattr("foresail.pipeline.stream.replay.run_replay", lambda *_: sent)
    done = run("replay", "--events", table(tmp_path, 1, 3), "--bootstrap", "h:1")
    assert done.exit_code == 0
    assert "WARNING: 3 of 4 rows were rejected: 3 no_time (have no time)" in done.stderr
