"""Every match comes with the positions it marked, whole, and with no others."""

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

from foresail.patterns.catalog.loader import read_catalog
from foresail.pipeline.jobs.recognise import run_recognise
from foresail.pipeline.jobs.recognise_request import RecogniseRequest
from foresail.pipeline.jobs.recognition_outputs import write_outputs
from foresail.pipeline.progress import SILENT

pytestmark = pytest.mark.spark

RISE = 'domain: fleet, says: Low then high., where: {low: x < 3, high: x >= 5}, pattern: "any(low, high)"'
CATALOG = f"""
patterns:
- {{name: listed, {RISE}, output: enumerate}}
- {{name: detected, {RISE}}}
- {{name: lasting, domain: fleet, says: High., where: {{high: x >= 5}}, pattern: high, report: episodes}}
"""
START = datetime(2026, 3, 2, tzinfo=UTC)
VALUES = {"a": [1, 4, 6, 7], "b": [4, 2, 4, 5, 0], "c": [4]}


@pytest.fixture
def marked(spark: SparkSession, tmp_path: Path) -> dict[str, list[Any]]:
    """By pattern and track the values of x and the places of the positions that matches marked."""
    (tmp_path / "catalog.yaml").write_text(CATALOG)
    rows = [(track, n, x) for track, values in VALUES.items() for n, x in enumerate(values)]
    table = {
        "track": [track for track, _, _ in rows],
        "time": pa.array([START + timedelta(minutes=n) for _, n, _ in rows], pa.timestamp("us", tz="UTC")),
        "offset": [n for _, n, _ in rows],
        "index": ["another column of that name"] * len(rows),
        "x": [x for _, _, x in rows],
        "lon": [float(n) for _, n, _ in rows],
        "lat": [50.0] * len(rows),
    }
    pq.write_table(pa.table(table), tmp_path / "events.parquet")
    request = RecogniseRequest(
        [str(tmp_path / "events.parquet")], read_catalog([tmp_path / "catalog.yaml"]), tmp_path / "out"
    )
    summary = run_recognise(spark, request, SILENT)
    written = write_outputs(spark, request, summary, SILENT, positions=True)
    found: dict[str, list[Any]] = {}
    matches: dict[str, list[Any]] = {}
    for row in spark.read.parquet(written["positions"]).orderBy("match_id", "index").collect():
        minutes = row["index"] - 1
        assert (row.time.timestamp(), row.lon) == ((START + timedelta(minutes=minutes)).timestamp(), minutes)
        assert row.x == VALUES[row.track][minutes]
        matches.setdefault(row.match_id, [row.pattern, row.track]).append(row["index"])
    for pattern, track, *numbers in matches.values():
        found.setdefault(pattern, []).append((track, numbers))
    assert write_outputs(spark, request, summary, SILENT) == {}
    assert not Path(written["positions"]).exists()
    return {pattern: sorted(told) for pattern, told in found.items()}


def test_matches_have_the_positions_that_they_marked(marked: dict[str, list[Any]]) -> None:
    assert marked["listed"] == [("a", [1, 3]), ("a", [1, 4]), ("b", [2, 4])]
    assert marked["detected"] == [("a", [1, 2, 3]), ("a", [1, 2, 3, 4]), ("b", [2, 3, 4])]
    assert marked["lasting"] == [("a", [3, 4]), ("b", [4])]
