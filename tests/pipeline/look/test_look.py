"""Files as users have them, nasty ones among them: each is answered, quickly, with what can be said of it."""

import bz2
import gzip
import json
import lzma
import os
import time
from datetime import UTC, datetime
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from foresail.pipeline.errors import InputError
from foresail.pipeline.look import Look, look_at
from foresail.pipeline.look.head import HEAD_BYTES
from foresail.pipeline.sources.mapped import Mapping
from tests.pipeline.look.samples import positions, timed, written, zipped

NOW = datetime(2026, 1, 1, tzinfo=UTC)


def look(folder: Path, content: str | bytes, name: str = "file.csv", month_first: bool = False) -> Look:
    return look_at(written(folder, name, content), NOW, month_first=month_first)


@pytest.mark.parametrize("sign", [",", ";", "\t", "|"])
def test_the_delimiter_is_found(tmp_path: Path, sign: str) -> None:
    seen = look(tmp_path, positions(sign=sign))
    assert seen.table is not None
    assert seen.table.delimiter == sign
    assert seen.readable
    assert len(seen.rows) == 10
    first = seen.rows[0]
    assert (first["track"], first["lon"], first["lat"]) == ("v0", 10.0, 57.0)
    assert first["time"] == datetime(2024, 5, 1, 10, tzinfo=UTC)


def test_decimal_commas_dates_in_two_columns_and_sentinels_are_found(tmp_path: Path) -> None:
    rows = "".join(
        f"Möwe;13.04.2024;10:{n:02d}:00;54,32{n};10,12{n};12,5;{-999 if n % 2 else '3,4'}\n" for n in range(20)
    )
    seen = look(tmp_path, "Boot;Datum;Uhrzeit;Breite;Länge;Geschwindigkeit (km/h);Tiefe\n" + rows)
    assert seen.mapping is not None
    assert seen.mapping["decimal"] == ","
    assert seen.mapping["columns"]["time"] == {
        "column": ["Datum", "Uhrzeit"],
        "format": "dd.MM.yyyy HH:mm:ss",
        "zone": "UTC",
    }
    assert seen.mapping["columns"]["track"] == "Boot"
    assert seen.mapping["columns"]["speed_kn"] == {"column": "Geschwindigkeit (km/h)", "unit": "km/h"}
    assert seen.mapping["keep"]["tiefe"] == {"column": "Tiefe", "type": "double", "missing": [-999]}
    assert seen.rows[3]["time"] == datetime(2024, 4, 13, 10, 3, tzinfo=UTC)
    assert seen.rows[3]["speed_kn"] == pytest.approx(12.5 / 1.852)


def test_a_date_that_may_be_day_or_month_first_is_a_doubt_and_not_a_silent_guess(tmp_path: Path) -> None:
    text = timed([f"03/04/2024 10:{n:02d}:00" for n in range(20)])
    seen = look(tmp_path, text)
    assert any("day first or month first" in doubt for doubt in seen.doubts)
    assert seen.mapping is not None
    assert seen.mapping["columns"]["time"]["format"] == "dd/MM/yyyy HH:mm:ss"
    assert seen.mapping_text is not None
    assert "# - time: '03/04/2024 10:00:00' may be day first or month first" in seen.mapping_text
    other = look(tmp_path, text, month_first=True)
    assert other.mapping is not None
    assert other.mapping["columns"]["time"]["format"] == "MM/dd/yyyy HH:mm:ss"


@pytest.mark.parametrize(
    ("times", "form"),
    [
        ([f"{n + 10}/04/2024 10:00:00" for n in range(20)], "dd/MM/yyyy HH:mm:ss"),
        ([f"4/{n + 9}/2024 1:{n:02d} PM" for n in range(20)], "M/d/yyyy h:mm a"),
        ([f"03/04/2024 10:{n:02d}:00" if n else "02/28/2024 10:00:00" for n in range(20)], "MM/dd/yyyy HH:mm:ss"),
    ],
)
def test_a_date_that_only_one_order_allows_is_no_doubt(tmp_path: Path, times: list[str], form: str) -> None:
    seen = look(tmp_path, timed(times))
    assert seen.mapping is not None
    assert seen.mapping["columns"]["time"]["format"] == form
    assert not any("month first" in doubt for doubt in seen.doubts)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("1714557600", datetime(2024, 5, 1, 10, tzinfo=UTC)),
        ("1714557600000", datetime(2024, 5, 1, 10, tzinfo=UTC)),
        ("20240501100000", datetime(2024, 5, 1, 10, tzinfo=UTC)),
        ("01-May-2024 10:00:00", datetime(2024, 5, 1, 10, tzinfo=UTC)),
        ("2024/05/01 10:00:00", datetime(2024, 5, 1, 10, tzinfo=UTC)),
        ("2024-05-01T12:00:00+02:00", datetime(2024, 5, 1, 10, tzinfo=UTC)),
        ("2024-05-01 10:00:00 UTC", datetime(2024, 5, 1, 10, tzinfo=UTC)),
        ("45413.4166666667", datetime(2024, 5, 1, 10, 0, 0, 3, tzinfo=UTC)),
    ],
)
def test_times_of_many_makers_are_read(tmp_path: Path, text: str, told: datetime) -> None:
    seen = look(tmp_path, timed([text] * 5))
    found = seen.rows[0]["time"]
    assert abs((found - told).total_seconds()) < 0.001
    assert any("UTC is assumed" in doubt for doubt in seen.doubts) == (
        ("-" in text and "UTC" not in text and "+" not in text) or "/" in text or len(text) == 14
    )


def test_the_unit_of_a_speed_is_told_by_the_positions_or_doubted(tmp_path: Path) -> None:
    metre_lat = 1 / 111_195

    def moving(speed: float, metres_per_second: float) -> str:
        rows = [
            f"t1,{1714557600 + 10 * n},0.0,{10 + n * 10 * metres_per_second * metre_lat:.7f},{speed}" for n in range(40)
        ]
        return "vehicle_id,time,lon,lat,speed\n" + "\n".join(rows) + "\n"

    for unit, factor in {"m/s": 1.0, "km/h": 1 / 3.6, "kn": 1852 / 3600, "mph": 1609.344 / 3600}.items():
        seen = look(tmp_path, moving(20.0, 20 * factor))
        assert seen.mapping is not None
        assert seen.mapping["columns"]["speed_kmh"]["unit"] == unit
        assert any(f"{unit} fits the distances" in doubt for doubt in seen.doubts)
    seen = look(tmp_path, moving(20.0, 0.0))
    assert any("the unit is unknown" in doubt for doubt in seen.doubts)


def test_whole_numbers_of_small_parts_of_a_degree_get_a_scale_and_metres_a_doubt(tmp_path: Path) -> None:
    rows = "".join(f"a,{1714557600 + n},{101234567 + n},{543210000 + n}\n" for n in range(20))
    seen = look(tmp_path, "vehicle_id,t,lon,lat\n" + rows)
    assert seen.rows[0]["lon"] == pytest.approx(10.1234567)
    assert seen.mapping is not None
    assert seen.mapping["columns"]["lat"] == {"column": "lat", "scale": 1e-07}
    rows = "".join(f"a,{1714557600 + n},{432000.5 + n},{5543210.2 + n}\n" for n in range(20))
    seen = look(tmp_path, "vehicle_id,t,x,y\n" + rows)
    assert not seen.readable
    assert any("map projection" in doubt for doubt in seen.doubts)


def test_names_the_wrong_way_round_are_told(tmp_path: Path) -> None:
    rows = "".join(f"a,2024-05-01T10:{n:02d}:00Z,{116 + n / 100},{39 + n / 100}\n" for n in range(30))
    seen = look(tmp_path, "boat,time,lat,lon\n" + rows)
    assert (seen.rows[0]["lon"], seen.rows[0]["lat"]) == (116.0, 39.0)
    assert any("the other way round" in doubt for doubt in seen.doubts)


def test_a_file_without_a_header_gets_one_in_its_mapping(tmp_path: Path) -> None:
    rows = "".join(f"{n % 3 + 1},2008-02-02 15:36:{n:02d},116.5{n},39.9{n}\n" for n in range(40))
    seen = look(tmp_path, rows, "taxis.txt")
    assert seen.mapping is not None
    assert seen.mapping["header"] == "c1,c2,c3,c4"
    assert {name: seen.mapping["columns"][name] for name in ("track", "lon", "lat")} == {
        "track": "c1",
        "lon": "c3",
        "lat": "c4",
    }
    assert any("c1: is taken for the name" in doubt for doubt in seen.doubts)


@pytest.mark.parametrize(
    ("header", "feed"),
    [
        ("MMSI,BaseDateTime,LAT,LON,SOG", "noaa"),
        ("sourcemmsi;navigationalstatus;rateofturn;lon;lat;t", "brest"),
        ("# Timestamp,Type of mobile,MMSI,Latitude,Longitude,SOG", "danish"),
    ],
)
def test_a_known_feed_needs_no_mapping(tmp_path: Path, header: str, feed: str) -> None:
    sign = ";" if ";" in header else ","
    seen = look(tmp_path, header + "\n" + sign.join("1" * len(header.split(sign))) + "\n")
    assert seen.feed == feed


def test_messages_of_json_are_known_or_mapped(tmp_path: Path) -> None:
    traccar = {"deviceId": 7, "fixTime": "2024-05-01T10:00:00Z", "longitude": 1.5, "latitude": 2.5, "speed": 3}
    assert look(tmp_path, json.dumps([traccar] * 3), "a.json").feed == "traccar"
    nested = "".join(
        json.dumps({"dev": "a", "ts": 1714557600 + n, "pos": {"lon": 1.5, "lat": 2.5}}) + "\n" for n in range(9)
    )
    seen = look(tmp_path, nested, "b.json")
    assert seen.feed == "mapped"
    assert seen.mapping is not None
    assert seen.mapping["columns"]["lon"] == "pos.lon"
    layer = {"type": "FeatureCollection", "features": [{"geometry": {"type": "Point"}, "properties": {"name": "x"}}]}
    assert look(tmp_path, json.dumps(layer), "c.geojson").kind == "geojson"


def test_parquet_is_known_or_mapped(tmp_path: Path) -> None:
    times = [datetime(2024, 5, 1, 10, n, tzinfo=UTC) for n in range(5)]
    place = {"longitude": [1.5] * 5, "latitude": [2.5] * 5}
    pq.write_table(pa.table({"Vessel": ["a"] * 5, "when": times, **place}), tmp_path / "a.parquet")
    seen = look_at(tmp_path / "a.parquet", NOW)
    assert seen.feed == "mapped"
    assert seen.rows[1]["time"] == times[1]
    pq.write_table(
        pa.table({"track": ["a"] * 5, "time": times, "lon": [1.5] * 5, "lat": [2.5] * 5}), tmp_path / "b.parquet"
    )
    assert look_at(tmp_path / "b.parquet", NOW).feed == "canonical"
    cut = look(tmp_path, (tmp_path / "a.parquet").read_bytes()[:400], "c.parquet")
    assert "cut off" in cut.faults[0]


def test_nmea_is_known_and_its_positions_are_shown(tmp_path: Path) -> None:
    line = "!AIVDM,1,1,,B,177KQJ5000G?tO`K>RA1wUbN0TKH,0*5C\n"
    seen = look(tmp_path, line * 3, "day.nmea")
    assert seen.feed == "nmea"
    assert seen.rows[0]["mmsi"] == 477553000
    assert any("carry no time" in doubt for doubt in seen.doubts)
    gps = "$GPRMC,123519,A,4807.038,N,01131.000,E,022.4,084.4,230394,003.1,W*6A\n"
    assert "no AIS sentence" in look(tmp_path, gps * 3, "gps.nmea").faults[0]


@pytest.mark.parametrize(
    ("pack", "name"),
    [
        (gzip.compress, "a.csv.gz"),
        (bz2.compress, "a.csv.bz2"),
        (lambda data: data, "a.csv"),
    ],
)
def test_packed_files_are_looked_into(tmp_path: Path, pack: object, name: str) -> None:
    seen = look(tmp_path, pack(positions().encode()), name)  # type: ignore[operator]
    assert seen.readable
    assert len(seen.rows) == 10


def test_packings_that_ingest_cannot_read_are_told_with_the_way_out(tmp_path: Path) -> None:
    assert "`xz -dk" in look(tmp_path, lzma.compress(positions().encode()), "a.csv.xz").faults[0]
    assert "not named .gz" in look(tmp_path, gzip.compress(positions().encode()), "a.csv").faults[0]
    cut = gzip.compress(os.urandom(100_000))[:50_000]
    assert not look(tmp_path, cut, "noise.gz").readable


def test_the_largest_member_of_a_zip_is_looked_at(tmp_path: Path) -> None:
    file = zipped(tmp_path, "day.zip", {"README.txt": "hello", "data/day.csv": positions()})
    seen = look_at(file, NOW)
    assert seen.readable
    assert (seen.head.member, len(seen.head.members)) == ("data/day.csv", 2)
    with pytest.raises(InputError, match="Office file"):
        look_at(zipped(tmp_path, "book.xlsx", {"[Content_Types].xml": "<x/>"}), NOW)
    with pytest.raises(InputError, match="without files"):
        look_at(zipped(tmp_path, "none.zip", {}), NOW)


NASTY = {
    "empty": (b"", "empty"),
    "blank": (b"\n \n\t\n", "nothing but blanks"),
    "one word": (b"hello", "no delimiter"),
    "header only": (b"vehicle_id,timestamp,lon,lat\n", "a header and no rows"),
    "utf-16": (positions().encode("utf-16"), "iconv -f UTF-16"),
    "utf-16 without a mark": (positions().encode("utf-16-le"), "iconv -f UTF-16-LE"),
    "nothing but NUL": (b"\0" * 5000, "not text"),
    "noise": (bytes(range(256)) * 40, "not text"),
    "a database": (b"SQLite format 3\0" + b"\1\2\3" * 100, "SQLite"),
    "a web page": (b"<!DOCTYPE html><html>404</html>", "web page"),
    "open brackets": (b"[" * 200_000, "no message"),
    "open objects": (b'{"a":' * 100_000, "no message"),
    "lines before the header": (b"Export\nof today\n" + positions().encode(), "2 lines stand before the table"),
    "recorder": (
        b"Track\n\nWGS 84\n0,2,255,My Track,0,0,2,8421376\n0\n"
        + b"".join(b"39.98%d,116.31%d,0,492,39744.1,2008-10-23,02:53:%02d\n" % (n, n, n) for n in range(40)),
        "`tail -n +6`",
    ),
    "points in a cell": (b"id;t;geometry\n" + b"1;2024-05-01 10:00:00;POINT (10.5 57.5)\n" * 9, "a longitude"),
    "no time": (b"id,lon,lat\n" + b"a,1.5,2.5\n" * 30, "no column seems to be a time"),
}


@pytest.mark.parametrize("what", NASTY)
def test_what_cannot_be_read_is_said_in_a_line(tmp_path: Path, what: str) -> None:
    content, said = NASTY[what]
    seen = look(tmp_path, content)
    assert not seen.readable
    assert any(said in fault for fault in seen.faults), seen.faults
    assert all("\n" not in fault for fault in seen.faults)


def test_odd_text_is_read_and_told(tmp_path: Path) -> None:
    marked = look(tmp_path, b"\xef\xbb\xbf" + positions().encode())
    assert marked.columns[0].name == "vehicle_id"
    assert look(tmp_path, positions().replace("\n", "\r\n")).rows == look(tmp_path, positions()).rows
    nul = look(tmp_path, positions().replace("v1", "v\0001"))
    assert any("NUL" in doubt for doubt in nul.doubts)
    latin = look(tmp_path, positions().replace("v1", "Möwe").encode("latin-1"))
    assert latin.rows[1]["track"] == "Möwe"
    assert any("Latin-1" in doubt for doubt in latin.doubts)
    quoted = "id,time,note,lon,lat\n" + "".join(
        f'a,2024-05-01 10:{n:02d}:00,"two\nlines, ""quoted""",1.{n},2.{n}\n' for n in range(20)
    )
    seen = look(tmp_path, quoted)
    assert any("line break inside quotes" in doubt for doubt in seen.doubts)
    assert seen.rows[3]["lon"] == 1.3


def test_one_line_is_enough(tmp_path: Path) -> None:
    seen = look(tmp_path, "v1,2024-05-01T10:00:00Z,10.1,57.2,3.4")
    assert seen.readable
    assert any("nothing tells which is which" in doubt for doubt in seen.doubts)


def test_no_more_than_a_head_is_read_of_a_line_of_a_gigabyte(tmp_path: Path) -> None:
    file = tmp_path / "long.csv"
    with file.open("wb") as stream:
        stream.write(b"x" * (2 << 20))
        stream.truncate(1 << 30)  # a hole: the disk need not hold it
    began = time.monotonic()
    seen = look_at(file, NOW)
    assert time.monotonic() - began < 5
    assert len(seen.head.data) == HEAD_BYTES
    assert not seen.head.whole
    assert "longer than 1,048,576 bytes" in seen.faults[0]


def test_a_zip_bomb_is_looked_at_but_not_unpacked(tmp_path: Path) -> None:
    seen = look_at(zipped(tmp_path, "bomb.zip", {"b.csv": b"0" * 50_000_000}), NOW)
    assert len(seen.head.data) == HEAD_BYTES


def test_every_mapping_that_is_written_can_be_read(tmp_path: Path) -> None:
    import yaml

    odd = 'ID: #1,zeit [utc],lon °,lat,"a: b",yes\n' + "".join(
        f"a,2024-05-01 10:{n:02d}:00,1.{n},2.{n},NULL,{n}\n" for n in range(20)
    )
    for text in (odd, positions(sign=";", comma=True), timed(["03/04/2024 10:00:00"] * 9)):
        seen = look(tmp_path, text)
        assert seen.mapping_text is not None
        read = yaml.safe_load(seen.mapping_text)
        assert read == seen.mapping
        Mapping.model_validate(read)


def test_a_folder_is_looked_at_by_its_first_file(tmp_path: Path) -> None:
    written(tmp_path, "b.csv", "x")
    written(tmp_path, "a.csv", positions())
    written(tmp_path, ".hidden", "x")
    seen = look_at(tmp_path, NOW)
    assert (seen.head.path.name, seen.head.files) == ("a.csv", 2)
    with pytest.raises(InputError, match="no such file"):
        look_at(tmp_path / "absent", NOW)


def test_a_snapshot_of_gtfs_realtime_is_known(tmp_path: Path) -> None:
    from foresail.pipeline.sources.gtfs_realtime import feed_message

    snapshot = feed_message()()
    snapshot.header.gtfs_realtime_version = "2.0"
    entity = snapshot.entity.add(id="1")
    entity.vehicle.vehicle.id = "bus 7"
    entity.vehicle.timestamp = 1714557600
    entity.vehicle.position.latitude, entity.vehicle.position.longitude = 57.5, 9.875
    seen = look(tmp_path, snapshot.SerializeToString(), "now.pb")
    assert seen.feed == "gtfs_realtime"
    assert (seen.rows[0]["track"], seen.rows[0]["lon"]) == ("bus 7", 9.875)


def test_the_user_may_say_whether_it_is_vessels_or_vehicles(tmp_path: Path) -> None:
    file = written(tmp_path, "a.csv", timed(["1714557600"] * 9).replace("mmsi", "id").replace("\n2190", "\n"))
    assert look_at(file, NOW).domain == "fleet"
    assert any("vessels or vehicles?" in doubt for doubt in look_at(file, NOW).doubts)
    told = look_at(file, NOW, domain="maritime")
    assert told.domain == "maritime"
    assert not any("vessels or vehicles?" in doubt for doubt in told.doubts)
