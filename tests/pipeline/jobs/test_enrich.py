"""`foresail enrich` as a user runs it: tables in, the same rows out with more columns, one line when it cannot."""

import json
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

from foresail.pipeline.cli.enrich import command
from foresail.pipeline.errors import PipelineError
from foresail.pipeline.stages.layout import by_track, read_layout, write_layout

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

PORTS = "name,lon,lat\nBrest,-4.49,48.38\nLe Conquet,-4.78,48.36\n"
EVENTS = """track,time,lon,lat,speed_kn
007,2026-01-01T00:00:00,-4.50,48.38,5.0
007,2026-01-01T00:10:00,-5.90,48.38,5.0
008,2026-01-01T00:00:00,,48.38,5.0
009,2026-01-01T00:00:00,-200,48.38,5.0
,2026-01-01T00:00:00,-4.50,48.38,5.0
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "ports.csv").write_text(PORTS, encoding="utf-8")
    (tmp_path / "events.csv").write_text(EVENTS, encoding="utf-8")
    layers = "layers: [{name: ports, kind: port, file: ports.csv, radius_m: 5000}]\n"
    (tmp_path / "layers.yaml").write_text(layers, encoding="utf-8")
    monkeypatch.setenv("FORESAIL_LAYERS__DIRECTORY", str(tmp_path / "cache"))
    return tmp_path


def run(folder: Path, events: str, *more: str) -> dict:
    order = ["--events", str(folder / events), "--layers", str(folder / "layers.yaml"), "--out", str(folder / "out")]
    said = CliRunner().invoke(command, [*order, "--json", "--quiet", *more], catch_exceptions=False)
    assert said.exit_code == 0, said.output
    return json.loads(said.stdout.splitlines()[-1])


def test_a_table_comes_back_with_the_columns_of_its_layers(spark: "SparkSession", folder: Path) -> None:
    summary = run(folder, "events.csv")
    assert (summary["events"], summary["rejected"], summary["positions_unknown"]) == (4, 1, 2)
    assert summary["attributes"] == {"in_port": 1}
    (layer,) = summary["layers"]
    assert (layer["name"], layer["features"], layer["strategy"]) == ("ports", 2, "worker")
    assert len(layer["version"]) == 12
    rows = spark.read.parquet(str(folder / "out" / "events")).orderBy("track", "time").collect()
    assert [row["track"] for row in rows] == ["007", "007", "008", "009"]
    assert [row["in_port"] for row in rows] == [True, False, None, None]
    assert [row["port_name"] for row in rows] == ["Brest", "Le Conquet", None, None]
    assert rows[0]["port_distance_m"] == pytest.approx(741, abs=1)
    assert rows[0]["speed_kn"] == 5.0


def test_integer_times_are_enriched_in_the_unit_that_is_asked_for(spark: "SparkSession", folder: Path) -> None:
    (folder / "epochs.csv").write_text("track,time,lon,lat\n007,1714557600,-4.50,48.38\n", encoding="utf-8")
    for unit, expected_us in (("s", 1_714_557_600_000_000), ("ms", 1_714_557_600_000)):
        assert run(folder, "epochs.csv", "--time-unit", unit)["events"] == 1
        (row,) = spark.read.parquet(str(folder / "out" / "events")).selectExpr("unix_micros(time) AS us").collect()
        assert row["us"] == expected_us


def test_a_source_laid_out_by_track_stays_so(spark: "SparkSession", folder: Path) -> None:
    rows = "track string, time timestamp, lon double, lat double, offset long"
    made = spark.createDataFrame([(f"v{n % 7}", None, -4.5, 48.0, n) for n in range(70)], rows)
    made = made.selectExpr("track", "timestamp_seconds(offset) time", "lon", "lat", "offset")
    (folder / "ingested").mkdir()
    write_layout(by_track(made, 3), folder / "ingested" / "events", 3)
    summary = run(folder, "ingested")
    assert summary["laid_out_by_track"]
    layout = read_layout(folder / "out" / "events")
    assert layout is not None
    assert (layout.files, layout.rows, layout.tracks) == (3, 70, 7)


def test_files_enriched_in_place_have_the_rows_that_spark_makes(spark: "SparkSession", folder: Path) -> None:
    dice = np.random.default_rng(5)
    rows = 4000
    still = np.repeat(dice.uniform((-6, 47), (-3, 49), (rows // 8, 2)), 8, axis=0)
    still[::97] = np.nan
    events = pa.table(
        {
            "track": pa.array([f"v{n // 500}" for n in range(rows)]),
            "time": pa.array(np.arange(rows) * 1_000_000 + 1_767_225_600_000_000).cast(pa.timestamp("us", "UTC")),
            "lon": pa.array(still[:, 0], from_pandas=True),
            "lat": pa.array(still[:, 1], from_pandas=True),
            "offset": np.arange(rows),
            "note": pa.array([None if n % 3 else f"n{n}" for n in range(rows)]),
        }
    )
    (folder / "plain").mkdir()
    pq.write_table(events, folder / "plain" / "a.parquet", row_group_size=900)
    summary = run(folder, "plain")
    found = pq.read_table(folder / "out" / "events")
    through = run(folder, "plain", "--time-unit", "us")  # asks for a look at times, which Spark takes
    names = [*events.column_names, "in_port", "port_name", "port_distance_m"]
    expected = spark.read.parquet(str(folder / "out" / "events")).orderBy("offset").toArrow()
    assert found.column_names == expected.column_names == names
    assert found.select(events.column_names).equals(events), "rows, values and order stay"
    assert found.drop_columns("time").to_pylist() == expected.drop_columns("time").to_pylist()
    kept = ("events", "rejected", "positions_unknown", "attributes")
    assert [summary[key] for key in kept] == [through[key] for key in kept]
    assert summary["attributes"]["in_port"] > 0
    assert pq.read_table(folder / "out" / "rejected").num_rows == 0


def test_a_damaged_file_is_one_line_and_leaves_what_was_there(spark: "SparkSession", folder: Path) -> None:
    times = pa.array([1_767_225_600_000_000] * 5000).cast(pa.timestamp("us", "UTC"))
    noise = np.random.default_rng(1).uniform(0, 1, 5000)
    columns = {"track": ["a"] * 5000, "time": times, "lon": noise, "lat": noise, "offset": range(5000)}
    (folder / "bad").mkdir()
    file = folder / "bad" / "a.parquet"
    pq.write_table(pa.table(columns), file, use_dictionary=False)
    content = bytearray(file.read_bytes())
    content[4:400] = bytes(396)
    file.write_bytes(content)
    with pytest.raises(PipelineError, match="is corrupt") as fault:
        run(folder, "bad")
    assert "\n" not in str(fault.value)
    assert not (folder / "out" / "events").exists()


@pytest.mark.parametrize(
    ("layers", "said"),
    [
        (
            "layers: [{name: ports, kind: port, file: none.csv}]",
            r"layer 'ports', .*none.csv, does not exist",
        ),
        ("layers: [{name: ports, kind: speed, file: ports.csv, name_column: x}]", "has no column 'x'"),
        ("layer: []", "no list of layers"),
    ],
)
def test_a_layer_that_cannot_be_used_is_one_line(spark: "SparkSession", folder: Path, layers: str, said: str) -> None:
    (folder / "layers.yaml").write_text(layers, encoding="utf-8")
    with pytest.raises(PipelineError, match=said) as fault:
        run(folder, "events.csv")
    assert "\n" not in str(fault.value)


def test_an_out_folder_with_foreign_files_is_refused(folder: Path) -> None:
    (folder / "out").mkdir()
    (folder / "out" / "mine.txt").write_text("keep", encoding="utf-8")
    with pytest.raises(PipelineError, match="did not write"):
        run(folder, "events.csv")
