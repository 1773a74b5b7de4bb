"""Feeds read in this process: the same rows, reasons and repairs as were recorded before, to the last digest."""

import gzip
import json
import tarfile
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import foresail as fs
from foresail.pipeline.errors import InputError
from foresail.pipeline.feeds.reading import FeedTables, read_tables
from foresail.pipeline.sources import mapped
from foresail.pipeline.sources.feeds import find_feed
from foresail.pipeline.sources.mapped import read_mapping
from foresail.pipeline.stages.policy import Policy
from tests.pipeline.jobs.feed_digests import in_order, table_digest
from tests.pipeline.jobs.odd_feeds import write_odd_feed

NOW = datetime(2026, 11, 1, tzinfo=UTC)
BEFORE = json.loads((Path(__file__).parents[2] / "golden" / "feeds" / "before.json").read_text())
MAPPINGS = Path(mapped.__file__).parent / "mappings"
HEADER = "MMSI,BaseDateTime,LAT,LON,SOG,COG,Heading\n"
LINE = "219001559,2024-05-01T10:{:02d}:00,57.5,9.9,1.0,10.0,511\n"
REAL = {
    "noaa": ("ais/noaa_us_20220103_100k.csv.gz", {}),
    "solent": ("ais/solent_20160112.csv.gz", {}),
    "mobilitydb_dk": ("ais/mobilitydb_dk_20210108.csv.gz", {}),
    "liverpool": ("vehicles/liverpool_bus_route14.csv.gz", {}),
    "capmetro": ("vehicles/capmetro_austin_bus.csv.gz", {}),
    "noaa_split": (
        "ais/noaa_us_20220103_100k.csv.gz",
        {"jumps": "split", "same_time": "keep", "non_ships": "keep", "default_ids": "keep"},
    ),
    "noaa_reject": (
        "ais/noaa_us_20220103_100k.csv.gz",
        {
            "jumps": "reject",
            "missing_speed": "leave",
            "zero_position": "keep",
            "missing_position": "keep",
            "max_speed_kn": 20.0,
            "min_jump_m": 50.0,
        },
    ),
}
LOOSE = {"same_time": "keep", "spikes": "keep", "jumps": "reject", "non_ships": "keep", "zero_position": "keep"}


def tables(name: str, path: Path, **policy: Any) -> FeedTables:
    mapping = MAPPINGS / f"{name}.yaml"
    feed = read_mapping(mapping) if mapping.exists() else find_feed(name)
    return read_tables(feed, [str(path)], Policy(**policy), NOW)


def assert_as_before(found: FeedTables, name: str) -> None:
    before = BEFORE[name]
    for what in ("events", "rejected", "duplicates"):
        assert table_digest(in_order(getattr(found, what))) == before[what], what
    quality = before["quality"]
    assert (found.reasons, found.repairs) == (quality["reasons"], quality["repairs"])
    assert (found.rows_in, found.out_of_order) == (quality["rows_in"], quality["out_of_order"])


@pytest.mark.shared_data
@pytest.mark.parametrize("name", REAL)
def test_a_real_feed_is_read_as_before(shared_data: Path, name: str) -> None:
    path, policy = REAL[name]
    assert_as_before(
        tables(name.split("_", maxsplit=1)[0] if name.startswith("noaa") else name, shared_data / path, **policy), name
    )


@pytest.mark.shared_data
def test_the_trips_of_a_recorder_are_rejected_as_before(shared_data: Path, tmp_path: Path) -> None:
    with tarfile.open(shared_data / "vehicles" / "carobd_129trips.tar.xz") as archive:
        archive.extractall(tmp_path, filter="data")
    assert_as_before(tables("carobd", tmp_path), "carobd")


@pytest.mark.parametrize("feed", ["noaa", "danish", "brest"])
def test_odd_cells_are_read_as_before(tmp_path: Path, feed: str) -> None:
    write_odd_feed(tmp_path, feed)
    assert_as_before(tables(feed, tmp_path), f"odd_{feed}")
    if feed == "noaa":
        assert_as_before(tables(feed, tmp_path, **LOOSE), "odd_noaa_loose")


def test_a_frame_of_positions_says_what_was_left_out(tmp_path: Path) -> None:
    file = tmp_path / "day.csv"
    file.write_text(HEADER + LINE.format(0) + LINE.format(1) + LINE.format(1) + "219001559,soon,1,2,,,\n")
    with pytest.warns(fs.ForesailWarning, match=r"2 of 4 rows were rejected: 1 no_time.*1 repeats"):
        frame = fs.read_feed("noaa", file, now=NOW)
    assert frame["track"].tolist() == ["219001559"] * 2
    assert frame["gap_s"].tolist()[1] == 60.0
    assert frame["source"].unique().tolist() == [str(file)]


def test_a_feed_of_other_carriers_names_the_way(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="foresail ingest --from nmea"):
        fs.read_feed("nmea", tmp_path)


def read_noaa(path: Path) -> FeedTables:
    return read_tables(find_feed("noaa"), [str(path)], Policy(), NOW)


def test_a_gzip_that_ends_in_the_middle_is_read_as_far_as_it_goes(tmp_path: Path) -> None:
    text = HEADER + "".join(LINE.format(n % 60).replace("219001559", f"2{n:08d}") for n in range(20_000))
    whole = gzip.compress(text.encode(), mtime=0)
    (tmp_path / "day.csv.gz").write_bytes(whole[: len(whole) // 2])
    found = read_noaa(tmp_path)
    assert found.reasons["truncated_file"] == 1
    assert found.rows_in == found.events.num_rows + found.rejected.num_rows + found.duplicates.num_rows
    assert found.events.num_rows > 5_000
    assert found.events.column("lat").unique().to_pylist() == [57.5], "no half a line becomes a position"


def test_an_endless_line_is_refused_before_it_fills_the_memory(tmp_path: Path) -> None:
    file = tmp_path / "day.csv.gz"
    with gzip.open(file, "wb", compresslevel=1) as stream:
        stream.write((HEADER + LINE.format(0)).encode())
        for _ in range(200):
            stream.write(b"x" * (1 << 20))
    with pytest.raises(InputError, match="a line of more than"):
        read_noaa(file)


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_line_ends_of_all_kinds_number_lines_alike(tmp_path: Path, end: str) -> None:
    (tmp_path / "day.csv").write_bytes((HEADER + LINE.format(0) + "\n" + LINE.format(1)).replace("\n", end).encode())
    found = read_noaa(tmp_path)
    assert found.events.column("offset").to_pylist() == [2, 4]
    assert found.rejected.to_pylist()[0] | {"source": ""} == {
        "source": "",
        "line": 3,
        "reason": "blank_line",
        "raw": "",
    }


def test_a_mark_quotes_headers_and_encodings_where_they_do_not_belong(tmp_path: Path) -> None:
    header = HEADER.strip() + ",VesselName\n"
    rows = [LINE.format(n).strip() for n in range(6)]
    text = header + f'{rows[0]},"never closed\n{rows[1]},"A ""B"" C"\n' + header + f"{rows[2]},Ærø\n"
    mixed = f"{rows[3]},CAF\xc9\n".encode("latin-1") + f'{rows[4]},"a"b\n'.encode()
    (tmp_path / "day.csv").write_bytes(b"\xef\xbb\xbf" + text.encode() + mixed)
    found = read_noaa(tmp_path)
    assert found.events.column("name").to_pylist() == ["never closed", 'A "B" C', "Ærø", "CAFÉ", '"a"b']
    assert (found.reasons, found.repairs["encoding"]) == ({"header_line": 1}, 1)


def test_a_column_that_changes_its_type_after_many_rows_loses_values_and_no_row(tmp_path: Path) -> None:
    rows = [LINE.format(n % 60).replace("219001559", f"2{n:08d}") for n in range(40_000)]
    changed = [row.replace(",1.0,10.0", ",fast,10.0") for row in rows[-5:]]
    (tmp_path / "day.csv").write_text(HEADER + "".join(rows[:-5] + changed))
    found = read_noaa(tmp_path)
    assert found.events.num_rows == 40_000
    assert found.events.column("speed_kn").null_count == 5


def test_what_comes_out_is_typed_as_canonical_positions_are(tmp_path: Path) -> None:
    (tmp_path / "day.csv").write_text(HEADER + LINE.format(0))
    schema = read_noaa(tmp_path).events.schema
    assert schema.field("time").type == pa.timestamp("us", "UTC")
    assert (schema.field("nav_status").type, schema.field("cargo").type) == (pa.int32(), pa.int32())
