"""The same rows, ids and summary whichever engine finds them: Spark, plain processes, a frame in memory, a monitor."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

import foresail as fs
from foresail.patterns.catalog.loader import Catalog, read_text
from foresail.pipeline.jobs.recognise import run_recognise
from foresail.pipeline.jobs.recognise_request import Outputs, RecogniseRequest
from foresail.pipeline.jobs.recognition_outputs import write_outputs
from foresail.pipeline.local.recognise_job import run_local
from foresail.pipeline.progress import SILENT
from foresail.pipeline.stages.layout import by_track, write_layout

pytestmark = pytest.mark.spark

PATTERNS = """patterns:
- {name: stop, says: s, where: {slow: speed_kn < 1}, pattern: "slow{2,}", window: 2h}
- {name: surge, says: s, where: {slow: speed_kn < 1, fast: speed_kn > 6}, pattern: "any(slow, fast)", window: 10min,
   output: enumerate}
- {name: counted, says: s, where: {slow: speed_kn < 1, fast: speed_kn > 6}, pattern: "next(slow, fast)", output: count}
- {name: stay, says: s, where: {slow: speed_kn < 2}, pattern: slow, report: episodes, min_dwell: 1min, max_gap: 5min}
- {name: entry, says: s, for_each: {layer: ports, as: port}, where: {out: port.distance_m >= 9000,
   inside: port.distance_m < 9000}, pattern: "out ; inside"}
- {name: faster, says: s, where: {slow: speed_kn < 1, more: "speed_kn > left.speed_kn + 4 and source == left.source"},
   pattern: "any(slow as left, more)", window: 10min, output: enumerate}
- {name: back, says: s,
   where: {near: "distance_m(lon, lat, was.lon, was.lat) < 30000", later: seconds_since(was) > 300},
   pattern: "_ as was ; hidden _* ; near as was ; hidden _* ; later", window: 2h, report: episodes, max_gap: 30min}
- {name: rush, says: s, where: {slow: speed_kn < 1, fast: speed_kn > 12}, pattern: "slow ; fast{4,}"}
"""
CATALOG = Catalog(read_text(PATTERNS, "patterns"))
SAME = (
    "events", "rejected", "matches", "matches_by_pattern", "rows", "rows_by_pattern", "omitted", "attributes_known",
    "little_known", "skipped",
)  # fmt: skip


@pytest.fixture(scope="module")
def layers(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("layers")
    points = [((10.2, 55.2), "A"), ((10.6, 55.7), "B"), ((10.6, 55.71), "B")]
    features = [
        {"type": "Feature", "properties": {"NAME": name}, "geometry": {"type": "Point", "coordinates": place}}
        for place, name in points
    ]
    (folder / "ports.geojson").write_text(json.dumps({"type": "FeatureCollection", "features": features}))
    file = folder / "layers.yaml"
    file.write_text("layers:\n- {name: ports, kind: port, file: ports.geojson, name_column: NAME, radius_m: 5000}\n")
    return file


def events(rows: int = 3000) -> pa.Table:
    rng = np.random.default_rng(7)
    seconds = 1_700_000_000 + np.sort(rng.integers(0, 40_000, rows))
    return pa.table(
        {
            "track": rng.choice([f"t{n}" for n in range(25)], rows),
            "time": pa.array(seconds * 1_000_000).cast(pa.timestamp("us", tz="UTC")),
            "offset": np.arange(rows),
            "source": pa.array(rng.choice(["a", "b"], rows), mask=rng.random(rows) < 0.1),
            "speed_kn": pa.array(np.abs(rng.normal(3, 3, rows)), mask=rng.random(rows) < 0.05),
            "lon": 10 + rng.random(rows),
            "lat": 55 + rng.random(rows),
        }
    )


def rows_of(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / "matches.jsonl").read_text(encoding="utf-8").splitlines()]


def run_both(
    spark: SparkSession, given: Path, layers: Path, tmp_path: Path
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    found, summaries = [], []
    for name in ("spark", "local"):
        out = tmp_path / f"out-{name}"
        request = RecogniseRequest([str(given)], CATALOG, out, "jsonl", layers=layers, layer_cache=tmp_path / "cache")
        if name == "local":
            run = run_local(request, SILENT, Outputs(geojson=True, report=True, positions=True))
        else:
            run = run_recognise(spark, request, SILENT)
            run |= write_outputs(spark, request, run, SILENT, geojson=True, report=True, positions=True)
        summaries.append({key: run[key] for key in SAME})
        found.append(rows_of(out))
        rejected = (out / "rejected.jsonl").read_text(encoding="utf-8").splitlines()
        assert len(rejected) == run["rejected"]
    assert summaries[0] == summaries[1]
    assert_same_outputs(tmp_path / "out-spark", tmp_path / "out-local")
    return found[0], found[1]


def assert_same_outputs(one: Path, other: Path) -> None:
    """The same GeoJSON, the same positions of matches and the same page, letter by letter."""
    maps = [json.loads((folder / "matches.geojson").read_text(encoding="utf-8")) for folder in (one, other)]
    assert maps[0] == maps[1]
    tables = [pq.read_table(folder / "positions") for folder in (one, other)]
    assert tables[0].column_names == tables[1].column_names
    key = [("match_id", "ascending"), ("index", "ascending")]
    # which number orders events of one time is each engine's own where the file has none
    rows = [table.drop_columns("offset").sort_by(key).to_pylist() for table in tables]
    assert rows[0] == rows[1]
    pages = [(folder / "report.html").read_text(encoding="utf-8") for folder in (one, other)]
    assert pages[0] == pages[1]
    assert "Event by event" in pages[0]
    assert "Why not" in pages[0]


def test_parquet_that_is_not_laid_out_is_sorted_with_spilled_files(
    spark: SparkSession, layers: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "events"
    folder.mkdir()
    for n in range(3):
        pq.write_table(events().slice(n * 1000, 1000), folder / f"{n}.parquet", row_group_size=300)
    by_spark, by_local = run_both(spark, folder, layers, tmp_path)
    assert {row["pattern"] for row in by_spark} == set(CATALOG.names) - {"rush"}
    assert by_local == by_spark


def test_files_of_whole_tracks_are_read_in_place(spark: SparkSession, layers: Path, tmp_path: Path) -> None:
    table = spark.createDataFrame(events().to_pandas())
    write_layout(by_track(table, 3), tmp_path / "events", 3)
    by_spark, by_local = run_both(spark, tmp_path / "events", layers, tmp_path)
    assert len(by_spark) > 100
    assert by_local == by_spark


def test_a_csv_with_rows_that_are_no_events(spark: SparkSession, layers: Path, tmp_path: Path) -> None:
    file = tmp_path / "events.csv"
    text = events().to_pandas().assign(time=lambda f: f["time"].dt.strftime("%Y-%m-%dT%H:%M:%SZ")).to_csv(index=False)
    file.write_text(text + ",2024-01-01T00:00:00Z,1,2,10,55\nx,noon,1,2,10,55\nshort,row\n", encoding="utf-8")
    by_spark, by_local = run_both(spark, file, layers, tmp_path)
    assert by_local == by_spark


def comparable(frame: pd.DataFrame) -> list[tuple[str, ...]]:
    held = frame.copy()
    for name in ("time", "start_time", "first_start_time"):
        stamps = pd.to_datetime(held[name])
        held[name] = stamps.dt.tz_localize("UTC") if stamps.dt.tz is None else stamps.dt.tz_convert("UTC")
    held["events"] = [None if e is None else tuple(int(x) for x in e) for e in held["events"]]
    held = held.drop(columns="registers").astype({"count": "Int64", "omitted": "Int64"})
    plain = held.astype(object).where(held.notna(), None)
    return sorted(tuple(map(str, row)) for row in plain.itertuples(index=False))


def test_a_spark_frame_gives_the_rows_of_a_frame_in_memory(spark: SparkSession, layers: Path) -> None:
    frame = events().to_pandas()
    here = fs.find(frame, CATALOG, layers=layers)
    there = fs.find(spark.createDataFrame(frame), CATALOG, layers=layers)
    assert type(there).__module__.startswith("pyspark")
    assert list(here.columns) == there.columns
    assert comparable(here) == comparable(there.toPandas())


def test_faults_of_a_spark_frame_are_those_of_any(spark: SparkSession) -> None:
    frame = spark.createDataFrame(events(5).to_pandas())
    with pytest.raises(fs.InputError, match=r"no column 'mmsi'"):
        fs.find(frame, "loitering", track="mmsi")
    with pytest.raises(fs.InputError, match=r"Run fs.enrich"):
        fs.find(frame, fs.pattern("p", "[port_distance_m < 5]"))
