"""What recognise writes beside its matches comes and goes with what was asked for."""

import json
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from foresail.patterns.catalog.loader import read_catalog
from foresail.pipeline.jobs.recognise import run_recognise
from foresail.pipeline.jobs.recognise_request import RecogniseRequest
from foresail.pipeline.jobs.recognition_outputs import write_outputs
from foresail.pipeline.progress import SILENT

pytestmark = pytest.mark.spark

PATTERN = "{name: rise, domain: fleet, says: Low then high., where: {low: x < 3, high: x >= 5}, pattern: low ; high}"


def test_geojson_and_page_are_written_when_asked_and_taken_away_when_not(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "rise.yaml").write_text(PATTERN)
    (tmp_path / "e.csv").write_text(
        "track,time,x,lon,lat\na,2026-01-01T00:00:00Z,1,2,50\na,2026-01-01T00:01:00Z,6,3,51\n"
    )
    catalog = read_catalog([tmp_path / "rise.yaml"])
    request = RecogniseRequest([str(tmp_path / "e.csv")], catalog, tmp_path / "out")
    summary = run_recognise(spark, request, SILENT)
    written = write_outputs(spark, request, summary, SILENT, geojson=True, report=True)
    assert set(written) == {"geojson", "report"}
    (feature,) = json.loads(Path(written["geojson"]).read_text())["features"]
    assert feature["geometry"]["coordinates"] == [3.0, 51.0]
    assert "Low then high." in Path(written["report"]).read_text()
    assert write_outputs(spark, request, summary, SILENT) == {}
    assert not Path(written["geojson"]).exists()
    assert not Path(written["report"]).exists()


@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_a_pattern_that_reads_what_is_not_known_says_so(spark: SparkSession, tmp_path: Path, form: str) -> None:
    (tmp_path / "rise.yaml").write_text(PATTERN)
    lines = [f"a,2026-01-01T00:0{n}:00Z,{6 if n == 5 else ''},{n},50" for n in range(6)]
    (tmp_path / "e.csv").write_text("\n".join(["track,time,x,lon,lat", *lines]) + "\n")
    events = str(tmp_path / "e.csv")
    if form == "parquet":
        table = spark.read.csv(
            events, header=True, schema="track string, time timestamp, x double, lon double, lat double"
        )
        events = str(tmp_path / "e")
        table.selectExpr("*", "monotonically_increasing_id() AS offset").coalesce(1).write.parquet(events)
    request = RecogniseRequest([events], read_catalog([tmp_path / "rise.yaml"]), tmp_path / "out")
    summary = run_recognise(spark, request, SILENT)
    assert summary["matches"] == 0
    assert summary["attributes_known"] == {"x": pytest.approx(1 / 6, abs=1e-4)}
    assert summary["little_known"] == {"rise": {"x": pytest.approx(1 / 6, abs=1e-4)}}
    written = write_outputs(spark, request, summary, SILENT, report=True)
    assert "read x, known in 17% of events" in Path(written["report"]).read_text()
