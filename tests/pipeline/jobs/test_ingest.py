"""The whole job on small and bad inputs: every row is accounted for, and nothing is doubled."""

import gzip
import json
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow.parquet as pq
import pytest

from foresail.pipeline.errors import BalanceError, InputError
from foresail.pipeline.jobs.ingest import ingest
from foresail.pipeline.jobs.ingest_order import IngestOrder, IngestResult, check_balance
from foresail.pipeline.sinks.output_folder import claim_output
from foresail.pipeline.sources.feed import Feed
from foresail.pipeline.sources.feeds import find_feed
from foresail.pipeline.stages.layout import read_layout
from foresail.pipeline.stages.policy import Policy

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

NOW = datetime(2024, 6, 1, tzinfo=UTC)
HEADER = "MMSI,BaseDateTime,LAT,LON,SOG,COG,Heading\n"


def line(minute: int, mmsi: str = "219001559", lat: str = "57.5", lon: str = "9.9", year: int = 2024) -> str:
    return f"{mmsi},{year}-05-01T10:{minute:02d}:00,{lat},{lon},1.0,10.0,511\n"


def run(spark: "SparkSession", out: Path, *inputs: Path, feed: Feed | None = None, **order: object) -> IngestResult:
    paths = tuple(str(path) for path in inputs)
    policy = order.pop("policy", Policy())
    given = IngestOrder(feed or find_feed("noaa"), paths, claim_output(out, "ingest"), policy, NOW, **order)  # type: ignore[arg-type]
    return ingest(spark, given)


def test_every_kind_of_bad_file_in_one_folder_is_accounted_for(spark: "SparkSession", tmp_path: Path) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    (folder / "a_good.csv").write_text(HEADER + line(0) + line(1) + "\n" + HEADER + line(2).replace(",511", ""))
    (folder / "b_empty.csv").write_text("")
    (folder / "c_header_only.csv").write_text(HEADER)
    (folder / "d_semicolon.csv").write_text((HEADER + line(3)).replace(",", ";"))
    whole = gzip.compress((HEADER + "".join(line(n % 60, f"2{n:08d}") for n in range(5000))).encode(), mtime=0)
    (folder / "e_truncated.csv.gz").write_bytes(whole[: len(whole) // 2])
    (folder / "f_strange.txt").write_text("Dear all,\nplease find attached\n")
    (folder / "g_long.csv").write_text(HEADER + "x," * 5_000_000 + "\n" + line(4))
    (folder / "h_names.csv").write_bytes(
        b"MMSI,BaseDateTime,LAT,LON,VesselName\n219001559,2024-05-01T10:05:00,57.5,9.9,CAF\xc9\n"
    )
    (folder / "i_times.csv").write_text(HEADER + line(6, year=1970) + line(7, year=2099) + "219001559,soon,1,2,,,\n")
    (folder / "j_places.csv").write_text(
        HEADER
        + line(8, lat="91", lon="181")
        + line(9, lat="0", lon="0")
        + line(10, lat="", lon="")
        + line(11, lat="300")
        + line(12, lat="109.9", lon="57.5")
        + line(13, mmsi="0")
        + line(14, mmsi="992191234")
        + line(15, mmsi="")
    )
    result = run(spark, tmp_path / "out", folder)
    assert result.rows_in == result.rows_out + result.rejected + result.duplicates
    assert result.reasons | {"truncated_file": 1} == result.reasons
    expected = {
        "blank_line": 1, "header_line": 1, "wrong_columns": 1, "wrong_format": 2, "line_too_long": 1,
        "implausible_time": 1, "future_time": 1, "no_time": 1, "position_not_available": 1, "zero_position": 1,
        "no_position": 1, "position_out_of_range": 2, "default_id": 1, "aid_to_navigation": 1, "no_id": 1,
        "truncated_file": 1,
    }  # fmt: skip
    assert {reason: result.reasons.get(reason) for reason in expected} == expected
    assert result.repairs["encoding"] == 1
    assert "swapped_coordinates" not in result.repairs, "109.9 is far from the track's 9.9, whichever way round"
    assert [Path(name).name for name in result.files_truncated] == ["e_truncated.csv.gz"]
    assert [Path(name).name for name in result.files_strange] == ["f_strange.txt"]
    rejected = {row["reason"]: row for row in pq.read_table(tmp_path / "out" / "rejected").to_pylist()}
    assert (rejected["zero_position"]["line"], rejected["zero_position"]["raw"]) == (
        3,
        line(9, lat="0", lon="0").strip(),
    )
    assert Path(rejected["zero_position"]["source"]).name == "j_places.csv"
    assert len(rejected["line_too_long"]["raw"]) == 10_000_000
    names = set(pq.read_table(tmp_path / "out" / "events", columns=["name"]).column("name").to_pylist())
    assert "CAFÉ" in names
    quality = json.loads((tmp_path / "out" / "quality.json").read_text())
    assert quality["before"]["rows"] == result.rows_in
    assert quality["after"]["rows"] == result.rows_out
    assert "<svg" in (tmp_path / "out" / "quality.html").read_text()


def test_an_input_without_rows_gives_an_empty_result(spark: "SparkSession", tmp_path: Path) -> None:
    (tmp_path / "empty.csv").write_text("")
    (tmp_path / "header.csv").write_text(HEADER)
    result = run(spark, tmp_path / "out", tmp_path / "empty.csv", tmp_path / "header.csv")
    assert (result.rows_in, result.rows_out, result.rejected, result.tracks) == (0, 0, 0, 0)
    assert spark.read.parquet(str(tmp_path / "out" / "events")).count() == 0


def test_appending_keeps_the_layout_and_takes_nothing_in_twice(spark: "SparkSession", tmp_path: Path) -> None:
    ships = [f"2190015{n:02d}" for n in range(20)]
    first, second = tmp_path / "first.csv", tmp_path / "second.csv"
    first.write_text(HEADER + "".join(line(minute, ship) for minute in (10, 20) for ship in ships))
    second.write_text(HEADER + "".join(line(minute, ship) for minute in (30, 20, 15) for ship in ships))
    out = tmp_path / "out"
    assert run(spark, out, first).rows_out == 40
    again = run(spark, out, first, append=True)
    assert (again.rows_in, again.rows_stored, len(again.files_skipped)) == (0, 40, 1)
    more = run(spark, out, first, second, append=True)
    assert (more.rows_in, more.rows_out, more.duplicates, more.rows_stored) == (60, 40, 20, 80)
    assert more.duplicate_kinds == {"exact_duplicate": 20}
    layout = read_layout(out / "events")
    assert layout is not None
    assert (layout.rows, layout.tracks) == (80, 20)
    events = spark.read.parquet(str(out / "events"))
    rows = [(row["track"], row["time"], row["gap_s"]) for row in events.collect()]
    assert rows == sorted(rows, key=lambda row: row[:2])
    assert {row[2] for row in rows} == {None, 300.0, 600.0}, "what came later is a neighbour of what was there"
    assert pq.ParquetFile(next((out / "events").glob("*.parquet"))).num_row_groups == 1
    assert run(spark, out, first).rows_stored == 40, "without append the folder is made anew"


def test_a_feed_without_speeds_gets_those_of_the_way(spark: "SparkSession", tmp_path: Path) -> None:
    header = "MMSI,BaseDateTime,LAT,LON\n"
    first, second = tmp_path / "first.csv", tmp_path / "second.csv"
    first.write_text(header + "".join(f"219001559,2024-05-01T10:{n:02d}:00,{57.5 + n * 0.001},9.9\n" for n in (0, 2)))
    second.write_text(header + "219001559,2024-05-01T10:01:00,57.5,9.9\n219001559,2024-05-01T11:00:00,57.6,9.9\n")

    def speeds(out: Path, **order: object) -> list[tuple[float | None, bool, float]]:
        run(spark, out, first, **order)
        if order.get("policy") is None:
            run(spark, out, first, second, append=True)
        events = pq.read_table(out / "events").sort_by("time")
        columns = (events.column(name).to_pylist() for name in ("speed_kn", "speed_implied", "minutes_since_start"))
        return [(speed and round(speed, 2), implied, since) for speed, implied, since in zip(*columns, strict=True)]

    assert speeds(tmp_path / "out") == [
        (None, False, 0.0),
        (0.0, True, 1.0),
        (7.2, True, 2.0),  # from where it was a minute ago: what the first ingest made of it is gone
        (None, False, 0.0),
    ]
    assert speeds(tmp_path / "left", policy=Policy(missing_speed="leave")) == [(None, False, 0.0), (None, False, 2.0)]


def test_static_data_gives_ship_types_and_its_absence_is_said(spark: "SparkSession", tmp_path: Path) -> None:
    moving, static = tmp_path / "dynamic.csv", tmp_path / "static.csv"
    brest = find_feed("brest")
    moving.write_text(f"{brest.header}\n228858000,0,0,5.1,90.0,91,-4.5,48.3,1443650402\n")
    static.write_text("sourcemmsi,shipname,shiptype,t\n228858000,OLD,70,1\n228858000,NEW,30,2\n228858000,,,3\n")
    assert run(spark, tmp_path / "out", moving, feed=brest, static=static).rows_out == 1
    (row,) = pq.read_table(tmp_path / "out" / "events").to_pylist()
    assert (row["ship_type"], row["vessel_type"], row["name"]) == (30, "fishing", "NEW")
    before = (tmp_path / "out" / "quality.json").read_bytes()
    with pytest.raises(InputError, match=r"absent.csv: no such file of static data"):
        run(spark, tmp_path / "out", moving, feed=brest, static=tmp_path / "absent.csv")
    assert (tmp_path / "out" / "quality.json").read_bytes() == before, "a job that fails leaves the folder as it was"


def test_a_file_of_another_feed_is_answered_with_the_feed_it_looks_like(spark: "SparkSession", tmp_path: Path) -> None:
    file = tmp_path / "ships.csv"
    file.write_text(f"{find_feed('danish').header}\n")
    with pytest.raises(InputError, match=r"not a file of the feed 'noaa'.*It looks like --from danish"):
        run(spark, tmp_path / "out", file)


def test_canonical_parquet_comes_back_as_it_was_with_its_further_columns(spark: "SparkSession", tmp_path: Path) -> None:
    table = spark.sql(
        "SELECT 'a' AS track, timestamp_micros(1714557600123456) AS time, 1.5D AS lon, 50.0D AS lat, 7 AS crew "
        "UNION ALL SELECT NULL, timestamp_micros(1714557600123456), 1.5D, 50.0D, 8"
    )
    table.write.parquet(str(tmp_path / "in"))
    result = run(spark, tmp_path / "out", tmp_path / "in", feed=find_feed("canonical"))
    assert (result.rows_in, result.rows_out, result.reasons) == (2, 1, {"no_id": 1})
    (row,) = pq.read_table(tmp_path / "out" / "events").to_pylist()
    assert (row["track"], row["crew"], row["time"].microsecond) == ("a", 7, 123456)
    (rejected,) = pq.read_table(tmp_path / "out" / "rejected").to_pylist()
    assert json.loads(rejected["raw"])["crew"] == 8


def test_json_documents_and_lines_are_told_apart(spark: "SparkSession", tmp_path: Path) -> None:
    message = {"deviceId": 1, "fixTime": "2024-05-01T10:00:00Z", "latitude": 1.0, "longitude": 2.0, "speed": 3}
    (tmp_path / "list.json").write_text(json.dumps([message, {**message, "deviceId": 2}], indent=1))
    (tmp_path / "lines.json").write_text(json.dumps({**message, "deviceId": 3}) + "\nnot json\n")
    feed = find_feed("traccar")
    result = run(spark, tmp_path / "out", tmp_path / "list.json", tmp_path / "lines.json", feed=feed)
    assert (result.rows_in, result.rows_out, result.tracks, result.reasons) == (4, 3, 3, {"unreadable": 1})


def test_a_balance_that_does_not_hold_is_a_fault() -> None:
    check_balance(IngestResult("noaa", rows_in=3, rows_out=1, rejected=1, duplicates=1))
    with pytest.raises(BalanceError, match="3 rows in, but 1 out"):
        check_balance(IngestResult("noaa", rows_in=3, rows_out=1))
