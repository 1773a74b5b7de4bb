"""Types of a small CSV file are told without Spark: what is told is what Spark infers, and in doubt nothing is told."""

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from foresail.pipeline.sources.csv_types import csv_types
from foresail.pipeline.sources.table import read_events

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

TOLD = {
    "int": ("1", "-20", "", "0012", "2147483647"),
    "bigint": ("1", "2147483648", "999999999999999999"),
    "double": ("1", "2.50", "-0.1", "", "3000000000"),
    "timestamp": ("2024-05-01T10:00:00Z", "2024-05-01 10:00:00", "2024-05-31 10:00:00.123Z", "2023-12-30 10:00:00"),
    "boolean": ("true", "false", ""),
    "string": ("", "", ""),
    "text": ("1", "vessel-2", "2024-05-01", "true"),
    "names": ("Anna Maria", "12", ""),
    "quoted": ('"Anna, Maria"', '"b"', "c", "", '" d "'),
    "quoted numbers": ('"1.5"', "2", "", '"-3"', ""),
    "quoted times": ('"2024-05-01T10:00:00Z"', "", "", "2024-05-01 10:00:00", ""),
}
IN_DOUBT = {
    "exponent": ("1e5", "2"),
    "dates": ("2024-05-01", "2024-05-02"),
    "spaces": (" 1", "2"),
    "plus": ("+1", "2"),
    "wide": ("99999999999999999999", "1"),
    "nan": ("NaN", "1.5"),
    "no text for sure": ("12:30", "x", "1"),
    "times": ("T12:30", "T13:30"),
    "a quote inside": ('a"b', "b"),
    "quotes inside": ('"a ""b"" c"', "b"),
    "a quote that is escaped": (r'"a\"b"', "b"),
    "nothing in quotes": ('""', "b"),
    "a quote that stays open": ('"a', "b"),
    "a line end in quotes": ('"a\nb"', "c"),
    "a space before a quote": (' "a"', "b"),
    "a letter after a quote": ('"a"b', "c"),
    "ragged": ("a,b", "c"),
    "return": ("a\rb", "c"),
    "no day": ("2024-06-31T10:00:00Z", "2024-05-01T10:00:00Z"),
    "mixed": ("1", "true"),
}


def written(folder: Path, *columns: tuple[str, ...]) -> str:
    rows = zip(*(column + ("",) * (5 - len(column)) for column in columns), strict=True)
    lines = [",".join(f"c{n}" for n in range(len(columns))), *(",".join(row) + ",end" for row in rows)]
    lines[0] += ',"last"'
    file = folder / "events.csv"
    file.write_text("\n".join(lines) + "\n", encoding="utf-8", newline="")
    return str(file)


@pytest.mark.spark
def test_what_is_told_is_what_spark_infers(spark: "SparkSession", tmp_path: Path) -> None:
    file = written(tmp_path, *TOLD.values())
    told = csv_types([file], ",")
    assert told is not None
    assert told == spark.read.csv(file, header=True, inferSchema=True).schema
    kinds = [field.dataType.simpleString() for field in told]
    assert kinds == [
        "int",
        "bigint",
        "double",
        "timestamp",
        "boolean",
        *["string"] * 4,
        "double",
        "timestamp",
        "string",
    ]


@pytest.mark.parametrize("kind", list(IN_DOUBT))
def test_in_doubt_nothing_is_told(tmp_path: Path, kind: str) -> None:
    assert csv_types([written(tmp_path, IN_DOUBT[kind])], ",") is None


def test_files_of_other_kinds_are_left_to_spark(tmp_path: Path) -> None:
    file = written(tmp_path, TOLD["int"])
    assert csv_types([file], ",") is not None
    assert csv_types([str(tmp_path)], ",") is not None
    (tmp_path / "more.csv").write_text("other,last\n1,end\n")
    assert csv_types([str(tmp_path)], ",") is None, "another header"
    assert csv_types([f"{file}.gz"], ",") is None
    assert csv_types(["s3://bucket/a.csv"], ",") is None
    (tmp_path / "empty.csv").write_text("")
    assert csv_types([str(tmp_path / "empty.csv")], ",") is None


@pytest.mark.spark
def test_a_value_of_another_kind_at_the_end_is_seen(spark: "SparkSession", tmp_path: Path) -> None:
    """All rows are looked at: a guess from the first ones would reject the last one."""
    file = tmp_path / "events.csv"
    rows = "".join(f"a,{1_700_000_000 + n},{n}\n" for n in range(5000))
    file.write_text(f"track,time,x\n{rows}a,1700009999,1.5\n")
    read = read_events(spark, [str(file)])
    assert (read.good.schema["x"].dataType.simpleString(), read.rows().rejected) == ("double", {})
