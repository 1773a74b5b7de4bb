"""Workers read Parquet files themselves only where the footers say that nothing can be wrong with a row."""

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from foresail.pipeline.batch.parquet_source import ParquetSource, Piece, Unfit, in_pieces, parquet_source

MICROS = pa.timestamp("us", tz="UTC")
GOOD = {
    "track": pa.array(["a", "a", "b"]),
    "time": pa.array([0, 1, 2]).cast(MICROS),
    "offset": pa.array([0, 1, 2]),
    "speed": pa.array([1.0, None, 3.0]),
}


def write(folder: Path, name: str = "events.parquet", changed: dict[str, Any] | None = None, **options: Any) -> str:
    folder.mkdir(parents=True, exist_ok=True)
    columns = {name: values for name, values in {**GOOD, **(changed or {})}.items() if values is not None}
    pq.write_table(pa.table(columns), folder / name, **options)
    return str(folder)


def test_files_with_tracks_and_times_in_every_row_are_read_by_workers(tmp_path: Path) -> None:
    folder = write(tmp_path, row_group_size=2)
    assert parquet_source([folder], ["speed"]) == ParquetSource(
        (Piece(str(tmp_path / "events.parquet"), (0, 1), 3),), None
    )


FAULTS: dict[str, tuple[dict[str, Any], str]] = {
    "no column": ({"speed": None}, "has no plain column 'speed'"),
    "plain times": ({"time": pa.array([0, 1, 2])}, "times that are no UTC timestamps"),
    "local times": ({"time": pa.array([0, 1, 2]).cast(pa.timestamp("us"))}, "times that are no UTC timestamps"),
    "numbers as tracks": ({"track": pa.array([1, 2, 3])}, "tracks that are no texts"),
    "texts as offsets": ({"offset": pa.array(["0", "1", "2"])}, "offsets that are no integers"),
    "no time": ({"time": pa.array([0, None, 2]).cast(MICROS)}, "may have rows without time"),
    "no track": ({"track": pa.array(["a", None, "b"])}, "may have rows without track"),
    "blank track": ({"track": pa.array(["a", " ", "b"])}, "may have rows with a blank track"),
    "empty track": ({"track": pa.array(["a", "", "b"])}, "may have rows with a blank track"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_what_spark_must_look_at_is_said_with_the_file(tmp_path: Path, fault: str) -> None:
    changed, says = FAULTS[fault]
    folder = write(tmp_path, changed=changed)
    found = parquet_source([folder], ["speed"])
    assert isinstance(found, Unfit)
    assert found.reason.startswith("events.parquet: ")
    assert says in found.reason


def test_files_that_differ_in_types_and_folders_that_are_columns_are_left_to_spark(tmp_path: Path) -> None:
    write(tmp_path / "two", "a.parquet")
    other = write(tmp_path / "two", "b.parquet", {"speed": pa.array([1, 2, 3])})
    assert parquet_source([other], ["speed"]) == Unfit("the files differ in the types of their columns")
    assert isinstance(parquet_source([other], []), ParquetSource)
    write(tmp_path / "days" / "day=1")
    assert parquet_source([str(tmp_path / "days")], []) == Unfit("folders named COLUMN=VALUE are columns")
    assert parquet_source(["s3://bucket/events"], []) == Unfit("the events are not in files of this machine")
    (tmp_path / "none").mkdir()
    assert parquet_source([str(tmp_path / "none")], []) == Unfit("the events are not in Parquet files")


def test_row_groups_are_put_together_until_a_piece_has_its_share(tmp_path: Path) -> None:
    columns = {
        "track": pa.array(["a"] * 12),
        "time": pa.array(list(range(12))).cast(MICROS),
        "offset": pa.array(list(range(12))),
    }
    folder = write(tmp_path, changed={**columns, "speed": None}, row_group_size=2)
    source = parquet_source([folder], [])
    assert isinstance(source, ParquetSource)
    file = str(tmp_path / "events.parquet")
    # twelve rows for twice two workers: a share of three rows, so that two row groups make a piece
    assert in_pieces(source, 2) == (Piece(file, (0, 1), 4), Piece(file, (2, 3), 4), Piece(file, (4, 5), 4))
    assert in_pieces(source, 100) == tuple(Piece(file, (group,), 2) for group in range(6))
    # a share of six rows: the last piece is what is left
    uneven = ParquetSource((Piece(file, (0, 1, 2, 3), 12),), None)
    assert in_pieces(uneven, 1) == (Piece(file, (0, 1, 2), 6), Piece(file, (3,), 2))


def test_files_whose_footers_do_not_tell_of_gaps_are_left_to_spark(tmp_path: Path) -> None:
    found = parquet_source([write(tmp_path, write_statistics=False)], [])
    assert found == Unfit("events.parquet: may have rows without track")
