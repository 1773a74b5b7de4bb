"""The real feeds: what the job counts is what is known to be wrong with each file."""

from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from foresail.pipeline.jobs.ingest import ingest
from foresail.pipeline.jobs.ingest_order import IngestOrder, IngestResult
from foresail.pipeline.sinks.output_folder import claim_output
from foresail.pipeline.sources import mapped
from foresail.pipeline.sources.feeds import find_feed
from foresail.pipeline.sources.mapped import read_mapping
from foresail.pipeline.stages.policy import Policy

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.spark, pytest.mark.shared_data]

NOW = datetime(2026, 11, 1, tzinfo=UTC)
MAPPINGS = Path(mapped.__file__).parent / "mappings"
NON_SHIPS = (
    "base_station",
    "daughter_craft",
    "not_a_ship_id",
    "group_id",
    "default_id",
    "distress_beacon",
    "aid_to_navigation",
)


def run(spark: "SparkSession", out: Path, name: str, *inputs: Path) -> IngestResult:
    mapping = MAPPINGS / f"{name}.yaml"
    feed = read_mapping(mapping) if mapping.exists() else find_feed(name)
    order = IngestOrder(feed, tuple(map(str, inputs)), claim_output(out, "ingest"), Policy(), NOW)
    result = ingest(spark, order)
    assert result.rows_in == result.rows_out + result.rejected + result.duplicates
    return result


def test_the_us_sample(spark: "SparkSession", shared_data: Path, tmp_path: Path) -> None:
    result = run(spark, tmp_path / "out", "noaa", shared_data / "ais" / "noaa_us_20220103_100k.csv.gz")
    assert (result.rows_in, result.duplicates) == (99_999, 75)
    assert sum(result.reasons[reason] for reason in NON_SHIPS) == 212
    assert result.repairs["heading_not_available"] == 52_249
    assert result.repairs["course_not_available"] == 14_023
    assert result.repairs["speed_not_available"] + result.repairs["speed_at_least"] == 177
    assert result.out_of_order == 11_606, "11,640 of the file, less those of rows that are rejected"


def test_the_solent_sample_loses_only_its_one_impossible_longitude(
    spark: "SparkSession", shared_data: Path, tmp_path: Path
) -> None:
    result = run(spark, tmp_path / "out", "solent", shared_data / "ais" / "solent_20160112.csv.gz")
    assert (result.rows_in, result.tracks, result.repairs) == (18_623, 91, {"course_not_available": 1_027})
    assert result.reasons == {"position_spike": 1}
    rejected = spark.read.parquet(str(tmp_path / "out" / "rejected")).first()
    assert rejected is not None
    assert "54.83172" in rejected["raw"]


def test_the_danish_sample_has_its_headings_in_degrees(
    spark: "SparkSession", shared_data: Path, tmp_path: Path
) -> None:
    result = run(spark, tmp_path / "out", "mobilitydb_dk", shared_data / "ais" / "mobilitydb_dk_20210108.csv.gz")
    assert (result.rows_in, result.rows_out, result.tracks) == (10_000, 10_000, 5)
    events = spark.read.parquet(str(tmp_path / "out" / "events"))
    assert events.filter("heading_deg < 0 OR heading_deg >= 360 OR heading_deg IS NULL").count() == 0
    assert events.filter("heading_deg > 180").count() > 1000


def test_the_recordings_of_nmea(spark: "SparkSession", shared_data: Path, tmp_path: Path) -> None:
    result = run(spark, tmp_path / "out", "nmea", shared_data / "nmea")
    assert result.rows_in == 280 + 1487 + 1500 + 898
    assert result.reasons["unreadable"] == 69 + 100
    assert result.reasons["incomplete_message"] == 20
    assert result.reasons["other_sentence"] + result.reasons["comment"] == 1313 + 4 + 4 + 7


@pytest.mark.soak
def test_the_austin_buses(spark: "SparkSession", shared_data: Path, tmp_path: Path) -> None:
    result = run(spark, tmp_path / "out", "capmetro", shared_data / "vehicles" / "capmetro_austin_bus.csv.gz")
    assert (result.rows_in, result.tracks, result.duplicates) == (599_818, 490, 16_580)
    assert result.reasons["zero_position"] == 80
    assert result.out_of_order == 14_258, "14,260 of the file, less those of rows at 0, 0"


def test_the_liverpool_buses_are_in_winter_time(spark: "SparkSession", shared_data: Path, tmp_path: Path) -> None:
    result = run(spark, tmp_path / "out", "liverpool", shared_data / "vehicles" / "liverpool_bus_route14.csv.gz")
    assert (result.rows_in, result.rows_out, result.tracks) == (1_533, 1_533, 8)
