"""What share of the events has what patterns read, told without reading anything twice."""

from math import nan
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import foresail.pipeline.stages.known_share as module
from foresail.patterns.compiler import compile_pattern
from foresail.patterns.spec import spec_of
from foresail.pipeline.batch.parquet_source import ParquetSource, Piece
from foresail.pipeline.stages.known_share import attributes_read, in_words, little_known, shares_in_files, watched

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

COLUMNS = {
    "speed_kn": pa.array([None, None, None, 1.0], pa.float64()),
    "course_deg": pa.array([nan, nan, nan, nan], pa.float64()),
    "heading_deg": pa.array([nan, 5.0, None, nan], pa.float64()),
    "name": pa.array(["a", "b", None, "c"]),
    "ice": pa.array([None, None, None, None], pa.bool_()),
    "nav_status": pa.array([1, 2, 3, 4]),
}
KNOWN = {"speed_kn": 0.25, "course_deg": 0.0, "heading_deg": 0.25, "name": 0.75, "ice": 0.0, "nav_status": 1.0}


def test_footers_tell_how_much_is_known(tmp_path: Path) -> None:
    pieces = []
    for n in range(2):
        pq.write_table(pa.table(COLUMNS), tmp_path / f"{n}.parquet")
        pieces.append(Piece(str(tmp_path / f"{n}.parquet"), (0,), 4))
    (tmp_path / "broken.parquet").write_text("no")
    source = ParquetSource((*pieces, Piece(str(tmp_path / "broken.parquet"), (), 0)), None)
    assert shares_in_files(source, list(KNOWN)) == KNOWN
    assert shares_in_files(source, ["strange"]) == {}


def test_of_many_row_groups_some_speak_for_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """NaN beside numbers, which this writer counts as values and leaves out of the least and the greatest."""
    values = [value for n in range(40) for value in (nan, nan, nan, float(n))]
    pq.write_table(pa.table({"speed_kn": pa.array(values, pa.float64())}), tmp_path / "a.parquet", row_group_size=4)
    source = ParquetSource((Piece(str(tmp_path / "a.parquet"), tuple(range(40)), len(values)),), None)
    looked_at: list[int] = []
    monkeypatch.setattr(module, "_numbers_in", lambda *_: looked_at.append(1) or 1)
    monkeypatch.setattr(module, "MOST_LOOKED_AT", 40)
    assert shares_in_files(source, ["speed_kn"]) == {"speed_kn": 0.25}
    assert len(looked_at) == 10


@pytest.mark.spark
def test_rows_are_counted_as_they_pass_through_spark(spark: "SparkSession") -> None:
    seen = watched(spark.createDataFrame(pa.table(COLUMNS)), list(KNOWN))
    assert seen.events.filter("nav_status < 3").count() == 2
    assert seen.shares() == KNOWN
    assert watched(spark.range(1), []).shares() == {}


def test_patterns_that_read_what_most_events_lack_are_told() -> None:
    slow = compile_pattern(spec_of("slow", "a ; [ice]", {"a": "speed_kn < 5 and port.distance_m < 3"}, family="port"))
    moored = compile_pattern(spec_of("moored", "a", {"a": "nav_status == 5 and name is known"}))
    read = attributes_read([slow, moored], list(COLUMNS))
    assert read == {"slow": ("speed_kn", "ice"), "moored": ("nav_status", "name")}
    told = little_known(read, KNOWN | {"speed_kn": 0.004})
    assert told == {"slow": {"speed_kn": 0.004, "ice": 0.0}}
    said = "read speed_kn, known in less than 1% of events; read ice, known in 0% of events"
    assert in_words(told["slow"]) == said
    assert little_known(read, {}) == {}
