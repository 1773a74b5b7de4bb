"""Columns of Parquet files are told from their footers as Spark tells them; in doubt nothing is told."""

from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from foresail.pipeline.sources.parquet_schema import parquet_schema

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

INSTANT = pa.timestamp("us", "UTC")
PLAIN = pa.schema(
    [
        ("track", pa.string()), ("time", INSTANT), ("lon", pa.float64()), ("course", pa.float32()), ("a", pa.int8()),
        ("b", pa.int16()), ("c", pa.int32()), ("d", pa.int64()), ("ice", pa.bool_()), ("day", pa.date32()),
        ("name", pa.dictionary(pa.int32(), pa.string())), ("text", pa.large_string()),
        ("local", pa.timestamp("ms", "Europe/Athens")),
    ]
)  # fmt: skip


def written(folder: Path, schema: pa.Schema, name: str = "a.parquet") -> str:
    (folder / name).parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(schema.empty_table(), folder / name)
    return str(folder)


@pytest.mark.spark
def test_plain_columns_are_those_that_spark_tells(spark: "SparkSession", tmp_path: Path) -> None:
    written(tmp_path, PLAIN)
    told = parquet_schema([written(tmp_path, PLAIN, "b.parquet")])
    assert told is not None
    assert told == spark.read.parquet(str(tmp_path)).schema
    by_spark = tmp_path / "by_spark"
    spark.range(3).selectExpr("id", "cast(id as string) track", "timestamp_micros(id) time").write.parquet(
        str(by_spark)
    )
    assert parquet_schema([str(by_spark)]) == spark.read.parquet(str(by_spark)).schema


@pytest.mark.parametrize(
    "kind", [pa.timestamp("us"), pa.timestamp("ns", "UTC"), pa.uint32(), pa.decimal128(9, 2), pa.list_(pa.int32())]
)
def test_of_other_types_nothing_is_told(tmp_path: Path, kind: pa.DataType) -> None:
    assert parquet_schema([written(tmp_path, pa.schema([("track", pa.string()), ("x", kind)]))]) is None


def test_of_folders_that_hold_more_than_like_files_nothing_is_told(tmp_path: Path) -> None:
    one = pa.schema([("track", pa.string()), ("x", pa.int32())])
    assert parquet_schema([written(tmp_path / "like", one)]) is not None
    written(tmp_path / "differ", one)
    assert parquet_schema([written(tmp_path / "differ", one.set(1, pa.field("x", pa.int64())), "b.parquet")]) is None
    assert parquet_schema([written(tmp_path / "parted" / "day=1", one)]) is None
    (tmp_path / "like" / "part-0").write_bytes(b"")
    assert parquet_schema([str(tmp_path / "like")]) is None
    pq.write_table(
        pa.table({"time": pa.array([0], pa.timestamp("ns"))}),
        tmp_path / "old.parquet",
        use_deprecated_int96_timestamps=True,
    )
    assert parquet_schema([str(tmp_path / "old.parquet")]) is None
    assert parquet_schema(["s3://bucket/a"]) is None
