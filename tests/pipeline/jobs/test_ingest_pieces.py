"""Text that workers read themselves: events, rejected rows, repeats and quality are what they were before."""

import gzip
import json
import tarfile
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from foresail.pipeline.errors import InputError
from foresail.pipeline.jobs import ingest_pieces
from foresail.pipeline.jobs.ingest import ingest
from foresail.pipeline.jobs.ingest_order import IngestOrder, IngestResult
from foresail.pipeline.sinks.output_folder import claim_output
from foresail.pipeline.sources import mapped
from foresail.pipeline.sources.feeds import find_feed
from foresail.pipeline.sources.mapped import read_mapping
from foresail.pipeline.stages.policy import Policy
from tests.pipeline.feeds.test_reading import BEFORE, LOOSE, REAL
from tests.pipeline.jobs.feed_digests import digests_of
from tests.pipeline.jobs.odd_feeds import write_odd_feed

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

NOW = datetime(2026, 11, 1, tzinfo=UTC)
MAPPINGS = Path(mapped.__file__).parent / "mappings"


def run(spark: "SparkSession", out: Path, name: str, inputs: Path, **policy: Any) -> IngestResult:
    mapping = MAPPINGS / f"{name}.yaml"
    feed = read_mapping(mapping) if mapping.exists() else find_feed(name)
    return ingest(spark, IngestOrder(feed, (str(inputs),), claim_output(out, "ingest"), Policy(**policy), NOW))


def assert_as_before(out: Path, name: str) -> None:
    found, before = digests_of(out), BEFORE[name]
    for what in ("events", "rejected", "duplicates"):
        assert found[what] == before[what], what
    for figure, value in before["quality"].items():
        assert found["quality"][figure] == value, figure


@pytest.mark.shared_data
@pytest.mark.parametrize("name", REAL)
def test_a_real_feed_is_ingested_as_before(spark: "SparkSession", shared_data: Path, tmp_path: Path, name: str) -> None:
    path, policy = REAL[name]
    run(spark, tmp_path / "out", "noaa" if name.startswith("noaa") else name, shared_data / path, **policy)
    assert_as_before(tmp_path / "out", name)


@pytest.mark.shared_data
def test_trips_in_many_files_are_rejected_as_before(spark: "SparkSession", shared_data: Path, tmp_path: Path) -> None:
    with tarfile.open(shared_data / "vehicles" / "carobd_129trips.tar.xz") as archive:
        archive.extractall(tmp_path / "in", filter="data")
    run(spark, tmp_path / "out", "carobd", tmp_path / "in")
    assert_as_before(tmp_path / "out", "carobd")


@pytest.mark.parametrize("feed", ["noaa", "danish", "brest"])
def test_odd_cells_are_ingested_as_before_in_small_pieces(
    spark: "SparkSession", tmp_path: Path, feed: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ingest_pieces, "LEAST_PIECE_BYTES", 5000)
    monkeypatch.setattr(ingest_pieces, "ROWS_PER_FILE", 2000)
    write_odd_feed(tmp_path / "in", feed)
    run(spark, tmp_path / "out", feed, tmp_path / "in")
    assert_as_before(tmp_path / "out", f"odd_{feed}")
    if feed == "noaa":
        run(spark, tmp_path / "loose", feed, tmp_path / "in", **LOOSE)
        assert_as_before(tmp_path / "loose", "odd_noaa_loose")


def test_a_line_without_end_deep_in_a_packed_file_is_refused(spark: "SparkSession", tmp_path: Path) -> None:
    file = tmp_path / "day.csv.gz"
    with gzip.open(file, "wb", compresslevel=1) as stream:
        stream.write(b"MMSI,BaseDateTime,LAT,LON\n219001559,2024-05-01T10:00:00,57.5,9.9\n")
        for _ in range(200):
            stream.write(b"x" * (1 << 20))
    with pytest.raises(InputError, match="a line of more than"):
        run(spark, tmp_path / "out", "noaa", file)
    assert not (tmp_path / "out" / "events").exists()


def test_the_layout_says_how_the_files_lie(spark: "SparkSession", tmp_path: Path) -> None:
    write_odd_feed(tmp_path / "in", "brest")
    result = run(spark, tmp_path / "out", "brest", tmp_path / "in")
    layout = json.loads((tmp_path / "out" / "events" / "_layout.json").read_text())
    assert (layout["files"], layout["rows"], layout["tracks"]) == (1, result.rows_out, result.tracks)
    assert not (tmp_path / "out" / ".ingest").exists()
