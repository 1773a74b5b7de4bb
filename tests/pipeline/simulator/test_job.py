"""The job writes the same bytes on any number of cores, in the canonical columns, and says what it wrote."""

import hashlib
import subprocess
import sys
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from foresail.pipeline.errors import OutputError
from foresail.pipeline.schemas import DERIVED_COLUMNS, POSITION_COLUMNS
from foresail.pipeline.simulator import SimulationSettings, simulate
from foresail.pipeline.stages.layout import read_layout

pytestmark = pytest.mark.spark
SMALL = {"tracks": 6, "days": 0.5, "seed": 3, "raw": True}


def digests(folder: Path) -> dict[str, str]:
    files = (file for file in folder.rglob("*") if file.is_file())
    return {str(file.relative_to(folder)): hashlib.sha256(file.read_bytes()).hexdigest() for file in files}


@pytest.fixture(scope="module")
def written(spark, tmp_path_factory):
    out = tmp_path_factory.mktemp("simulated") / "vessels"
    return simulate(spark, SimulationSettings(**SMALL), out), out


def test_the_same_seed_gives_the_same_bytes_on_other_cores(written, tmp_path) -> None:
    options = ["--tracks", "6", "--days", "0.5", "--seed", "3", "--raw", "--quiet", "--master", "local[1]"]
    command = [str(Path(sys.executable).parent / "foresail"), "simulate", "--out", str(tmp_path / "again"), *options]
    subprocess.run(command, check=True, capture_output=True, timeout=400)
    assert digests(tmp_path / "again") == digests(written[1])


def test_shuffle_partitions_and_batch_sizes_change_no_byte(spark, written, tmp_path) -> None:
    names = ("spark.sql.shuffle.partitions", "spark.sql.execution.arrow.maxRecordsPerBatch")
    before = {name: spark.conf.get(name) for name in names}
    try:
        for name, value in zip(names, ("7", "1000"), strict=True):
            spark.conf.set(name, value)
        simulate(spark, SimulationSettings(**SMALL), tmp_path / "again")
    finally:
        for name, value in before.items():
            spark.conf.set(name, value)
    assert digests(tmp_path / "again") == digests(written[1])


def test_another_seed_gives_other_tracks(spark, written, tmp_path) -> None:
    simulate(spark, SimulationSettings(**{**SMALL, "seed": 4, "raw": False}), tmp_path / "other")
    assert digests(tmp_path / "other" / "events") != digests(written[1] / "events")


def test_events_have_the_canonical_and_derived_columns_laid_out_by_track(spark, written) -> None:
    summary, out = written
    events = spark.read.parquet(str(out / "events"))
    assert events.columns == [*(name for name in POSITION_COLUMNS), *DERIVED_COLUMNS]
    assert {name: events.schema[name].dataType for name in POSITION_COLUMNS} == POSITION_COLUMNS
    layout = read_layout(out / "events")
    assert layout
    assert (layout.files, layout.rows, layout.tracks) == (summary.files, summary.positions, 6)
    for file in sorted((out / "events").glob("*.parquet")):
        rows = pq.read_table(file, columns=["track", "time"]).to_pylist()
        assert rows == sorted(rows, key=lambda row: (row["track"], row["time"]))


def test_the_summary_counts_what_is_on_disk(written) -> None:
    summary, out = written
    truth, faults = (pq.read_table(out / name).to_pylist() for name in ("truth", "faults"))
    assert summary.positions == pq.read_table(out / "events").num_rows
    assert 0 < summary.positions <= summary.positions_due == 6 * 720
    assert sum(sum(kinds.values()) for kinds in summary.truth.values()) == len(truth)
    assert sum(summary.faults.values()) == sum(row["rows"] for row in faults)
    tracks = set(pq.read_table(out / "events", columns=["track"])["track"].to_pylist())
    assert {row["track"] for row in truth} <= tracks
    assert all(row["start"] <= row["end"] for row in truth)


def test_the_fleet_writes_its_columns_and_layers(spark, tmp_path) -> None:
    summary = simulate(spark, SimulationSettings(domain="fleet", tracks=4, days=0.5), tmp_path / "fleet")
    events = pq.read_table(tmp_path / "fleet" / "events")
    assert set(events["engine"].to_pylist()) <= {"off", "idle", "parked", "moving"}
    assert events["mmsi"].null_count == events.num_rows
    assert {file.name for file in (tmp_path / "fleet" / "layers").iterdir()} == {
        "gas_stations.geojson",
        "layers.yaml",
        "weather.geojson",
    }
    assert summary.domain == "fleet"


def test_a_folder_of_someone_else_is_refused(spark, tmp_path) -> None:
    (tmp_path / "letter.txt").write_text("mine")
    with pytest.raises(OutputError, match="did not write"):
        simulate(spark, SimulationSettings(**SMALL), tmp_path)
    assert (tmp_path / "letter.txt").read_text() == "mine"
