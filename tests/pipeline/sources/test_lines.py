"""Files as numbered lines: none is lost, each knows its number, whatever the encoding and the splitting."""

import gzip
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from foresail.pipeline.errors import InputError
from foresail.pipeline.sources.lines import read_lines, read_lines_in_order
from foresail.pipeline.sources.storage import fingerprint, first_line, is_sound, list_files

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark


def test_lines_of_split_and_whole_files_have_their_own_numbers(spark: "SparkSession", tmp_path: Path) -> None:
    many = 700_000
    (tmp_path / "big one+[x].csv").write_text("".join(f"{n:08d}\n" for n in range(1, many + 1)))
    with gzip.open(tmp_path / "small.csv.gz", "wt") as file:
        file.write("00000001\n00000002\n")
    files = list_files(spark, [str(tmp_path)])
    lines = read_lines(spark, files)
    assert lines.rdd.getNumPartitions() > 1
    wrong = lines.filter("cast(raw AS long) != line").count()
    counts = dict(lines.groupBy("source").count().collect())
    assert wrong == 0
    assert counts == {str(tmp_path / "big one+[x].csv"): many, str(tmp_path / "small.csv.gz"): 2}
    big = [file for file in files if file.may_be_split]
    assert read_lines_in_order(spark, big).rdd.getNumPartitions() == 1


def test_names_that_are_not_utf_8_are_read_as_latin_1(spark: "SparkSession", tmp_path: Path) -> None:
    (tmp_path / "names.csv").write_bytes(b"CAF\xc9\n" + "ÉTÉ\n".encode())
    rows = read_lines(spark, list_files(spark, [str(tmp_path / "names.csv")])).orderBy("line").collect()
    assert [(row["raw"], row["recoded"]) for row in rows] == [("CAFÉ", True), ("ÉTÉ", False)]


def test_a_file_is_looked_at_without_loading_it(spark: "SparkSession", tmp_path: Path) -> None:
    plain, packed, broken = tmp_path / "a.csv", tmp_path / "b.csv.gz", tmp_path / "c.csv.gz"
    plain.write_bytes(b"\xef\xbb\xbfa,b\n1,2\n")
    packed.write_bytes(gzip.compress(b"a,b\n" + bytes(range(32, 127)) * 1000))
    broken.write_bytes(packed.read_bytes()[:60])
    files = {Path(file.name).name: file for file in list_files(spark, [str(tmp_path)])}
    assert first_line(spark, files["a.csv"]) == "a,b"
    assert first_line(spark, files["b.csv.gz"]) == "a,b"
    assert [is_sound(spark, files[name]) for name in ("a.csv", "b.csv.gz", "c.csv.gz")] == [True, True, False]
    assert len({fingerprint(spark, file) for file in files.values()}) == 3


def test_an_input_that_names_nothing_is_a_fault(spark: "SparkSession", tmp_path: Path) -> None:
    for given in (str(tmp_path / "absent.csv"), str(tmp_path), str(tmp_path / "*.csv")):
        with pytest.raises(InputError, match="no such file or folder"):
            list_files(spark, [given])
