"""A small world for the pages: a vessel with a hostile name enters a port, and its matches are written."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession

from foresail.geo import Layer, read_layers
from foresail.patterns.catalog.loader import Catalog, read_catalog
from foresail.pipeline.jobs.recognise import run_recognise
from foresail.pipeline.jobs.recognise_request import RecogniseRequest
from foresail.pipeline.progress import SILENT

EVIL = "<img src=x onerror=alert(1)>"
PATTERNS = """
patterns:
- name: entry
  domain: maritime
  says: A vessel outside is seen inside <the port>.
  for_each: {layer: ports, as: port, radius_m: 20000}
  where: {outside: port.distance_m >= 5000, inside: port.distance_m < 5000}
  pattern: outside ; inside
- name: fast
  domain: maritime
  says: A vessel is fast.
  where: {hurries: speed_kn > 12}
  pattern: hurries{2,}
  report: episodes
- name: never
  domain: maritime
  says: What does not happen.
  where: {flies: speed_kn > 900}
  pattern: flies
"""
START = datetime(2026, 3, 2, tzinfo=UTC)
STEP_DEG = 0.02


@dataclass(frozen=True, slots=True)
class World:
    """What a recognition run read and wrote."""

    events: DataFrame
    catalog: Catalog
    layers: tuple[Layer, ...]
    matches: Path
    request: RecogniseRequest
    summary: dict[str, Any]


def position(track: str, n: int) -> tuple[str, datetime, float, float, float, str]:
    """Westwards past the port at 0 E, fast from the third position to the thirtieth."""
    return (track, START + timedelta(minutes=n), STEP_DEG * (5 - n), 50.0, 15.0 if 2 <= n < 30 else 5.0, EVIL)


@pytest.fixture(scope="session")
def world(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> World:
    """Two tracks of 40 positions and one port."""
    folder = tmp_path_factory.mktemp("world")
    (folder / "patterns.yaml").write_text(PATTERNS)
    (folder / "ports.csv").write_text(f'name,lon,lat\n"{EVIL}",0.0,50.0\n')
    (folder / "layers.yaml").write_text("layers: [{name: ports, kind: port, file: ports.csv, name_column: name}]")
    rows = [position(track, n) for track in ("a", "b") for n in range(40)]
    frame = spark.createDataFrame(
        rows, "track string, time timestamp, lon double, lat double, speed_kn double, name string"
    )
    frame.write.parquet(str(folder / "events"))
    request = RecogniseRequest(
        [str(folder / "events")],
        read_catalog([folder / "patterns.yaml"]),
        folder / "out",
        layers=folder / "layers.yaml",
        layer_cache=folder / "cache",
    )
    summary = run_recognise(spark, request, SILENT)
    layers = read_layers(folder / "layers.yaml", folder / "cache")
    events = spark.read.parquet(str(folder / "events"))
    return World(events, request.catalog, layers, folder / "out" / "matches", request, summary)
