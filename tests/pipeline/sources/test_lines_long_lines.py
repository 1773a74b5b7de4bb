"""A line without end is refused at once; long files of short lines are not even read through."""

import gzip
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from foresail.pipeline.errors import InputError
from foresail.pipeline.sources.lines import LONGEST_BYTES, check_lines
from foresail.pipeline.sources.text_rows import is_document
from foresail.pipeline.sources.traccar import FEED

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def refused(path: Path) -> str:
    began = time.monotonic()
    with pytest.raises(InputError) as caught:
        check_lines([path])
    assert time.monotonic() - began < 5
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_one_line_of_a_gigabyte_and_a_half_is_refused_at_once_with_the_limit(tmp_path: Path) -> None:
    file = tmp_path / "a.csv"
    with file.open("wb") as handle:
        handle.truncate(1_500_000_000)  # zeros that take no room on the disk
    assert refused(file).startswith(f"{file}: a line of more than {LONGEST_BYTES:,} bytes, which is the limit")
    assert refused(tmp_path).startswith(f"{file}: ")


def test_an_endless_line_amid_others_is_found(tmp_path: Path) -> None:
    file = tmp_path / "a.csv"
    with file.open("wb") as handle:
        handle.write(b"track,time\n" * 1_000)
        handle.seek(2 * LONGEST_BYTES + 20_000)
        handle.write(b"\ntrack,time\n")
    assert "after byte 67,108,864" in refused(file)


def test_an_endless_line_in_a_compressed_file_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "a.csv.gz"
    with gzip.open(file, "wb", compresslevel=1) as handle:
        for _ in range(LONGEST_BYTES // (1 << 20) + 1):
            handle.write(bytes(1 << 20))
    assert str(file) in refused(file)


def test_what_has_lines_is_read_and_what_is_no_file_is_left_to_others(tmp_path: Path) -> None:
    plain, packed, broken = tmp_path / "a.csv", tmp_path / "b.csv.gz", tmp_path / "c.gz"
    plain.write_bytes(b"x" * 1_000_000 + b"\n")
    packed.write_bytes(gzip.compress(b"a\nb\n"))
    broken.write_bytes(b"no gzip")
    check_lines([plain, packed, broken, tmp_path, tmp_path / "absent", Path("hdfs://host/a.csv")])


def test_a_first_line_that_nests_without_end_is_taken_for_a_document() -> None:
    assert is_document('{"a":' * 100_000, FEED)


@pytest.fixture
def elsewhere(spark: "SparkSession", tmp_path: Path) -> str:
    """The folder of this test as a file system that is no local disk to Spark."""
    configuration = spark.sparkContext._jsc.hadoopConfiguration()  # type: ignore[union-attr]
    configuration.set("fs.viewfs.mounttable.elsewhere.link./data", tmp_path.as_uri())
    configuration.set("fs.viewfs.impl.disable.cache", "true")
    return "viewfs://elsewhere/data"


@pytest.mark.spark
@pytest.mark.parametrize("place", ["local", "elsewhere"])
def test_an_endless_line_is_refused_wherever_the_file_is(
    spark: "SparkSession", tmp_path: Path, elsewhere: str, place: str
) -> None:
    from foresail.pipeline.sources.feeds import find_feed
    from foresail.pipeline.sources.reading import read_messages
    from foresail.pipeline.sources.storage import list_files
    from foresail.pipeline.sources.table import read_events

    with (tmp_path / "a.csv").open("wb") as handle:
        handle.write(b"track,time\na,1700000000\n")
        handle.truncate(1_500_000_000)  # zeros that take no room on the disk
        handle.seek(0, 2)
        handle.write(b"\nb,1700000060\n")
    uri = f"{tmp_path.as_uri() if place == 'local' else elsewhere}/a.csv"
    began = time.monotonic()
    for read in (
        lambda: read_events(spark, [uri]),
        lambda: read_messages(spark, find_feed("danish"), list_files(spark, [uri])),
    ):
        with pytest.raises(InputError, match="a line of more than 67,108,864 bytes, which is the limit, after byte 67"):
            read()
    assert time.monotonic() - began < 20
    (tmp_path / "a.csv").write_bytes(b"track,time\n" + b"a,1700000000\n" * 100)
    (tmp_path / "b.csv.gz").write_bytes(gzip.compress(b"track,time\na,1700000000\n"))
    assert read_events(spark, [uri, uri.replace("a.csv", "b.csv.gz")]).rows().good == 101
