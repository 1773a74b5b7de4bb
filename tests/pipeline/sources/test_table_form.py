"""Tables that are not plain CSV: other delimiters, decimal commas, zips, read by everything that reads tables."""

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from foresail.pipeline.errors import InputError
from foresail.pipeline.sources.table import read_events
from tests.pipeline.look.samples import written, zipped

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

TABLE = (
    "track;time;x;note\na;2024-05-01T10:00:00Z;1,5;1,2 or 3\nb;2024-05-01T10:00:01Z;;7,5\nb;2024-05-01T10:00:02Z;-2;8\n"
)


def test_semicolons_and_decimal_commas_are_read(spark: "SparkSession", tmp_path: Path) -> None:
    events = read_events(spark, [str(written(tmp_path, "a.csv", TABLE))]).good
    assert dict(events.dtypes)["x"] == "double"
    assert [row.x for row in events.orderBy("time").collect()] == [1.5, None, -2.0]
    assert dict(events.dtypes)["note"] == "string"


def test_types_that_the_user_names_hold_for_decimal_commas_too(spark: "SparkSession", tmp_path: Path) -> None:
    file = str(written(tmp_path, "a.csv", TABLE))
    assert dict(read_events(spark, [file], {"x": "string"}).good.dtypes)["x"] == "string"
    typed = read_events(spark, [file], {"x": "double"})
    assert [row.x for row in typed.good.orderBy("time").collect()] == [1.5, None, -2.0]
    assert typed.rejected.count() == 0


def test_the_tables_of_a_zip_are_read_and_the_rest_is_left(spark: "SparkSession", tmp_path: Path) -> None:
    more = "track,time,x\nc,2024-05-01T10:00:00Z,4\n"
    events = read_events(spark, [str(zipped(tmp_path, "a.zip", {"d/one.csv": more, "README.txt": "hello"}))]).good
    assert [(row.track, row.x) for row in events.collect()] == [("c", 4)]
    lines = '{"track": "j", "time": 1714557600, "x": 1}\n'
    events = read_events(spark, [str(zipped(tmp_path, "b.zip", {"one.jsonl": lines}))]).good
    assert [row.track for row in events.collect()] == ["j"]


def test_a_table_without_a_track_is_answered_with_the_way_on(spark: "SparkSession", tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"no column 'track'.*foresail look"):
        read_events(spark, [str(written(tmp_path, "a.csv", "vehicle;when\na;2024-05-01\n"))])


def test_a_zip_beside_parquet_files_is_not_passed_over_by_workers_that_read_for_themselves(tmp_path: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    from foresail.pipeline.batch.parquet_source import ParquetSource, parquet_source

    times = pa.array([0], pa.timestamp("us", "UTC"))
    pq.write_table(pa.table({"track": ["a"], "time": times, "offset": [1]}), tmp_path / "a.parquet")
    assert isinstance(parquet_source([str(tmp_path)], []), ParquetSource)
    zipped(tmp_path, "b.zip", {"b.parquet": (tmp_path / "a.parquet").read_bytes()})
    assert not isinstance(parquet_source([str(tmp_path)], []), ParquetSource)
