import gzip
import io
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from foresail.pipeline.errors import InputError
from foresail.pipeline.local.files import Reading, ReadTable, read_tables

ROWS = "track,time,speed_kn,in_port\n007,2024-01-01T00:00:00Z,1.5,true\n008,2024-01-01T00:01:00Z,,false\n"


def read(file: Path, text: str | bytes, **reading: object) -> ReadTable:
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    return read_tables([str(file)], Reading(**reading))  # type: ignore[arg-type]


def test_types_are_inferred_and_a_track_keeps_its_zeros(tmp_path: Path) -> None:
    table = read(tmp_path / "e.csv", ROWS).table
    assert table["track"].to_pylist() == ["007", "008"]
    assert table["speed_kn"].to_pylist() == [1.5, None]
    assert table["in_port"].to_pylist() == [True, False]


def test_compressed_and_marked_files_are_read(tmp_path: Path) -> None:
    packed = read(tmp_path / "e.csv.gz", gzip.compress(b"\xef\xbb\xbf" + ROWS.encode()))
    assert packed.table.column_names == ["track", "time", "speed_kn", "in_port"]


def test_lines_that_do_not_fit_are_kept(tmp_path: Path) -> None:
    found = read(tmp_path / "e.csv", ROWS + "009,2024-01-01T00:02:00Z\n")
    assert (found.table.num_rows, found.unreadable) == (2, ("009,2024-01-01T00:02:00Z",))
    lines = read(tmp_path / "e.jsonl", '{"track": "a", "time": 1}\n{"track": \n[1]\n')
    assert (lines.table.num_rows, len(lines.unreadable)) == (1, 2)


def test_other_delimiters_and_decimal_commas(tmp_path: Path) -> None:
    table = read(tmp_path / "e.csv", "track;time;speed_kn;name\na;2024-01-01;1,5;x,y\na;2024-01-02;2;z\n").table
    assert table["speed_kn"].to_pylist() == [1.5, 2.0]
    assert table["name"].to_pylist() == ["x,y", "z"]


def test_json_values_of_several_types_are_texts(tmp_path: Path) -> None:
    table = read(tmp_path / "e.jsonl", '{"track": 1, "x": 1, "y": 1}\n{"track": 2, "x": "a", "y": 2.5}\n').table
    assert table["x"].to_pylist() == ["1", "a"]
    assert table["y"].to_pylist() == [1.0, 2.5]
    assert table["track"].to_pylist() == ["1", "2"]


def test_types_can_be_said_and_misfits_are_null(tmp_path: Path) -> None:
    table = read(
        tmp_path / "e.csv", "track,code,depth\na,01,x\nb,02,3.5\n", types={"code": "string", "depth": "double"}
    )
    assert table.table["code"].to_pylist() == ["01", "02"]
    assert table.table["depth"].to_pylist() == [None, 3.5]
    with pytest.raises(InputError, match=r"--types dept: there is no such column. Did you mean 'depth'"):
        read(tmp_path / "e.csv", "track,depth\na,1\n", types={"dept": "double"})


def test_folders_and_the_events_of_a_command_are_read(tmp_path: Path) -> None:
    (tmp_path / "out" / "events").mkdir(parents=True)
    for n in range(2):
        pq.write_table(pa.table({"track": [f"t{n}"], "time": [n]}), tmp_path / "out" / "events" / f"{n}.parquet")
    assert read_tables([str(tmp_path / "out")], Reading()).table["track"].to_pylist() == ["t0", "t1"]


@pytest.mark.parametrize("content", [ROWS.encode(), b'{"track": "007", "time": 1}\n', None])
def test_standard_input_tells_its_form(content: bytes | None, monkeypatch: pytest.MonkeyPatch) -> None:
    if content is None:
        sink = io.BytesIO()
        pq.write_table(pa.table({"track": ["007"], "time": [1]}), sink)
        content = sink.getvalue()
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))
    assert read_tables(["-"], Reading()).table["track"].to_pylist()[0] == "007"


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("e.csv", "", "is empty"),
        ("e.csv", b"track,time\n\xff\xfe,1\n", "is not UTF-8"),
        ("e.csv", b"track\0,time\n", "is no text"),
        ("e.parquet", "no", "cannot be read as parquet"),
        ("e.txt", "track\n", "neither CSV, JSON lines nor Parquet"),
        ("e.jsonl", "[]\n", "holds no JSON object"),
        ("e.csv", "track,x,x\na,1,2\n", "several columns 'x'"),
    ],
)
def test_what_cannot_be_read_is_told(tmp_path: Path, name: str, content: str | bytes, said: str) -> None:
    with pytest.raises(InputError, match=said):
        read(tmp_path / name, content)


def test_a_missing_file_is_told_with_the_nearest(tmp_path: Path) -> None:
    (tmp_path / "events.csv").touch()
    with pytest.raises(InputError, match=r"no such file or folder. Did you mean 'events.csv'"):
        read_tables([str(tmp_path / "event.csv")], Reading())
