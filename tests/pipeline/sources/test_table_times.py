"""Times of any table: integers of every width, units told from the numbers, and what is no time set aside alone."""

from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from foresail.pipeline.sources.table import Events, read_events

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

EPOCH_S = 1_714_557_600
MOMENT = datetime(2024, 5, 1, 10, tzinfo=UTC)


def times(events: Events) -> list[datetime]:
    rows = events.good.selectExpr("unix_micros(time) AS us").orderBy("us").collect()
    return [datetime.fromtimestamp(row["us"] / 1e6, UTC) for row in rows]


@pytest.mark.parametrize("unit", [None, "s"])
def test_a_csv_of_epoch_seconds_is_read(spark: "SparkSession", tmp_path: Path, unit: str | None) -> None:
    file = tmp_path / "events.csv"
    file.write_text(f"track,time,x\na,{EPOCH_S},1\na,{EPOCH_S + 60},2\n")
    assert times(read_events(spark, [str(file)], time_unit=unit))[0] == MOMENT


@pytest.mark.parametrize(
    ("kind", "value", "unit"),
    [
        (pa.int8(), 60, "s"),
        (pa.int16(), 60, "s"),
        (pa.uint16(), 60, "s"),
        (pa.int32(), EPOCH_S, "s"),
        (pa.uint32(), EPOCH_S, "s"),
        (pa.int64(), EPOCH_S, "s"),
        (pa.int64(), EPOCH_S * 1_000, "ms"),
        (pa.int64(), EPOCH_S * 1_000_000, "us"),
        (pa.int64(), EPOCH_S * 1_000_000_000, "ns"),
        (pa.uint64(), EPOCH_S * 1_000_000_000, "ns"),
        (pa.decimal128(16, 3), EPOCH_S, "s"),
        (pa.float64(), float(EPOCH_S), "s"),
        (pa.string(), str(EPOCH_S * 1_000), "ms"),
    ],
)
def test_epochs_of_every_width_and_unit_are_read(
    spark: "SparkSession", tmp_path: Path, kind: Any, value: Any, unit: str
) -> None:
    file = tmp_path / "events.parquet"
    pq.write_table(pa.table({"track": ["a"], "time": pa.array([value], kind)}), file)
    expected = MOMENT if value != 60 else datetime(1970, 1, 1, 0, 1, tzinfo=UTC)
    for given in (None, unit):
        assert times(read_events(spark, [str(file)], time_unit=given)) == [expected], given


def test_a_number_that_is_no_time_is_rejected_alone(spark: "SparkSession", tmp_path: Path) -> None:
    file = tmp_path / "events.csv"
    rows = [EPOCH_S, 99_999_999_999_999_999_999, EPOCH_S + 60, -99_999_999_999_999_999_999, EPOCH_S + 120]
    file.write_text("track,time\n" + "".join(f"a,{time}\n" for time in rows))
    for unit in (None, "s"):
        events = read_events(spark, [str(file)], time_unit=unit)
        assert times(events)[0] == MOMENT
        assert events.good.count() == 3
        assert [row["reason"] for row in events.rejected.collect()] == ["bad_time", "bad_time"]


def test_texts_that_only_look_like_numbers_are_no_times(spark: "SparkSession", tmp_path: Path) -> None:
    file = tmp_path / "events.jsonl"
    odd = ["NaN", "Infinity", "9" * 20, "\uff11\uff17\uff11\uff14\uff15\uff15\uff17\uff16\uff10\uff10", "soon"]
    lines = [f'{{"track": "a", "time": "{time}"}}\n' for time in (str(EPOCH_S), *odd, "2024-05-01T10:00:00Z")]
    file.write_text("".join(lines), encoding="utf-8")
    events = read_events(spark, [str(file)])
    assert times(events) == [MOMENT, MOMENT]
    assert [row["reason"] for row in events.rejected.collect()] == ["bad_time"] * len(odd)
