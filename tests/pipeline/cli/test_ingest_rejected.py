"""A job that rejects what it reads says so: a warning on standard error, and exit code 1 where nothing is left."""

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner, Result

from foresail.pipeline.cli import foresail
from tests.pipeline.look.samples import positions, written, zipped

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark


@pytest.fixture
def shared_session(spark: "SparkSession", monkeypatch: pytest.MonkeyPatch) -> None:
    """Commands take the session of the tests and leave it running."""
    monkeypatch.setattr("foresail.pipeline.runtime.session.start_spark", lambda *_given, **_options: spark)
    monkeypatch.setattr(spark, "stop", lambda: None)


def run(*arguments: object) -> Result:
    return CliRunner().invoke(foresail, [str(argument) for argument in arguments])


def wrong(rows: int, good: int = 0) -> str:
    header = "MMSI,BaseDateTime,LAT,LON\n"
    bad = "".join(f"219001559,0{n % 9 + 1}/13/2024 10:00,57.5,9.9\n" for n in range(rows))
    return header + bad + "".join(f"219001559,2024-05-01T10:{n:02d}:00,57.5,9.9\n" for n in range(good))


@pytest.mark.usefixtures("shared_session")
def test_everything_rejected_is_a_warning_and_exit_code_1(tmp_path: Path) -> None:
    file = written(tmp_path, "in.csv", wrong(20))
    done = run("ingest", "--from", "noaa", "--input", file, "--out", tmp_path / "out", "--json", "--quiet")
    assert done.exit_code == 1
    assert "WARNING: 20 of 20 rows were rejected: 20 no_time" in done.stderr
    assert "in.csv is CSV cut by ','" in done.stderr
    summary = json.loads(done.stdout.splitlines()[-1])
    assert (summary["rejected_share"], len(summary["warnings"])) == (1.0, 1)
    assert "20 of 20 rows were rejected" in (tmp_path / "out" / "quality.html").read_text()


@pytest.mark.usefixtures("shared_session")
def test_most_rejected_is_a_warning_and_settings_say_how_much_is_most(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = written(tmp_path, "in.csv", wrong(6, good=4))
    done = run("ingest", "--from", "noaa", "--input", file, "--out", tmp_path / "out")
    assert (done.exit_code, "WARNING: 6 of 10" in done.stderr) == (0, True)
    monkeypatch.setenv("FORESAIL_REJECTED__WARN_SHARE", "0.7")
    monkeypatch.setenv("FORESAIL_REJECTED__FAIL_SHARE", "0.55")
    done = run("ingest", "--from", "noaa", "--input", file, "--out", tmp_path / "out")
    assert (done.exit_code, "WARNING" in done.stderr) == (1, False)


@pytest.mark.usefixtures("shared_session")
def test_the_members_of_a_zip_are_ingested_under_their_names(tmp_path: Path) -> None:
    file = zipped(
        tmp_path,
        "days.zip",
        {"one.csv": wrong(0, good=5), "two.csv": wrong(1, good=2).replace("219001559", "219001560")},
    )
    done = run("ingest", "--from", "noaa", "--input", file, "--out", tmp_path / "out", "--json")
    summary = json.loads(done.stdout.splitlines()[-1])
    assert (summary["rows_in"], summary["rows_out"], summary["rejected"]) == (8, 7, 1)
    assert summary["files_read"] == [f"{file}/one.csv", f"{file}/two.csv"]
    import pyarrow.parquet as pq

    events = pq.read_table(tmp_path / "out" / "events", columns=["source"])
    assert set(events.column("source").to_pylist()) == {f"{file}/one.csv", f"{file}/two.csv"}


@pytest.mark.usefixtures("shared_session")
def test_a_mapping_that_look_wrote_is_what_ingest_reads(tmp_path: Path) -> None:
    file, mapping = written(tmp_path, "trips.csv", positions(sign=";", comma=True)), tmp_path / "trips.yaml"
    assert run("look", file, "--mapping", mapping).exit_code == 0
    done = run("ingest", "--from", mapping, "--input", file, "--out", tmp_path / "out", "--json")
    summary = json.loads(done.stdout.splitlines()[-1])
    assert (done.exit_code, summary["rows_out"], summary["rejected"]) == (0, 40, 0)


@pytest.mark.usefixtures("shared_session")
def test_a_table_of_which_every_row_is_rejected_ends_recognition_with_code_1(tmp_path: Path) -> None:
    table = written(tmp_path, "t.csv", "track,time,x\n" + "a,soon,1\n" * 5)
    catalog = written(
        tmp_path, "c.yaml", "patterns: [{name: p, domain: fleet, says: A., where: {a: x > 0}, pattern: a}]"
    )
    done = run("recognise", "--events", table, "--patterns", catalog, "--out", tmp_path / "out", "--json", "-q")
    assert done.exit_code == 1, done.output
    assert "WARNING: 5 of 5 rows were rejected" in done.stderr
    assert json.loads(done.stdout.splitlines()[-1])["rejected_share"] == 1.0
