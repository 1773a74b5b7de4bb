"""`foresail recognise` on the files users have: CSV, JSON lines and Parquet, good and bad."""

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

from foresail.patterns.catalog.loader import read_catalog
from foresail.patterns.errors import PatternError
from foresail.pipeline.batch.planner import Scheme
from foresail.pipeline.errors import InputError, OutputError
from foresail.pipeline.jobs.recognise import run_recognise
from foresail.pipeline.jobs.recognise_request import RecogniseRequest
from foresail.pipeline.kafka import create_topics
from foresail.pipeline.progress import SILENT

pytestmark = pytest.mark.spark

PATTERN = """
name: rise
version: 3
domain: fleet
says: Low, then high.
where: {low: x < 3, high: x >= 5}
pattern: low ; high+
output: enumerate
"""
ROWS = [("007", 0, 1), ("007", 1, 5), ("7", 2, 5), ("007", 3, 6)]
EXPECTED = [("007", 2, [1, 2]), ("007", 3, [1, 2, 3])]


@pytest.fixture
def run(spark: SparkSession, tmp_path: Path) -> Any:
    (tmp_path / "rise.yaml").write_text(PATTERN)

    def recognise(events: str, form: str = "jsonl", **options: Any) -> tuple[dict[str, Any], list[dict[str, Any]]]:
        catalog = read_catalog([tmp_path / "rise.yaml"])
        request = RecogniseRequest([events], catalog, tmp_path / "out", form, **options)
        summary = run_recognise(spark, request, SILENT)
        if form == "jsonl":
            rows = [json.loads(line) for line in (tmp_path / "out" / "matches.jsonl").read_text().splitlines()]
        else:
            rows = [row.asDict() for row in spark.read.parquet(str(tmp_path / "out" / "matches")).collect()]
        return summary, rows

    return recognise


def seen(rows: list[dict[str, Any]]) -> list[tuple[str, int, list[int]]]:
    return sorted((row["track"], row["index"], row["events"]) for row in rows)


def write_csv(folder: Path, lines: list[str], header: str = "track,time,x") -> str:
    file = folder / "events.csv"
    file.write_text("\n".join([header, *lines]) + "\n")
    return str(file)


def test_csv_with_iso_times_out_of_order(run: Any, tmp_path: Path) -> None:
    lines = [f"{track},2024-01-01T00:00:0{s}Z,{x}" for track, s, x in reversed(ROWS)]
    summary, rows = run(write_csv(tmp_path, lines))
    assert seen(rows) == EXPECTED
    assert (summary["events"], summary["matches"], summary["matches_by_pattern"]) == (4, 2, {"rise": 2})
    assert (summary["rows"], summary["rows_by_pattern"]) == (2, {"rise": 2})
    assert (rows[0]["pattern_version"], rows[0]["time"]) == (3, "2024-01-01T00:00:01.000000Z")
    assert set(rows[0]) >= {"match_id", "instance", "start_time", "first_start_time", "registers", "count", "status"}


def test_a_plain_table_has_hours_nights_and_minutes_since_its_start(run: Any, tmp_path: Path) -> None:
    long_heard = "minutes_since_start >= 20 and hour(time) == 23 and is_night(time, 8, lat)"
    (tmp_path / "rise.yaml").write_text(
        f"{{name: late, domain: fleet, says: Late., where: {{late: '{long_heard}'}}, pattern: late, output: enumerate}}"
    )
    times = ["22:30", "22:55", "23:00", "23:15", "23:46", "23:58"]  # 31 minutes of silence before 23:46
    lines = [f"a,2024-11-05T{time}:00Z,{90.5 if time == '23:15' else 54}" for time in times]
    assert seen(run(write_csv(tmp_path, lines, "track,time,lat"))[1]) == [("a", 3, [3])]


def test_json_lines_and_parquet_give_the_same_rows_and_ids(run: Any, spark: SparkSession, tmp_path: Path) -> None:
    file = tmp_path / "events.jsonl"
    file.write_text(
        "".join(json.dumps({"track": t, "time": 1_704_067_200_000 + 1000 * s, "x": x}) + "\n" for t, s, x in ROWS)
    )
    _, from_json = run(str(file))
    frame = spark.createDataFrame([(t, 1_704_067_200 + s, x) for t, s, x in ROWS], "track string, time long, x long")
    frame.write.parquet(str(tmp_path / "table.parquet"))
    _, from_parquet = run(str(tmp_path / "table.parquet"), form="parquet")
    assert seen(from_json) == seen(from_parquet) == EXPECTED
    assert {row["match_id"] for row in from_json} == {row["match_id"] for row in from_parquet}
    assert not (tmp_path / "out" / "matches.jsonl").exists()


def test_bad_rows_are_kept_with_their_reason(run: Any, tmp_path: Path) -> None:
    lines = ["a,1704067200,1", ",1704067201,5", "a,,5", "a,soon,5", "a,1704067204,much", "a,1704067205,5"]
    summary, rows = run(write_csv(tmp_path, lines), types={"x": "double"})
    rejected = [json.loads(line) for line in (tmp_path / "out" / "rejected.jsonl").read_text().splitlines()]
    assert sorted(row["reason"] for row in rejected) == ["bad_time", "no_time", "no_track", "unreadable"]
    assert (summary["events"], summary["rejected"], seen(rows)) == (2, 4, [("a", 2, [1, 2])])
    assert "a,1704067204,much" in {row["raw"] for row in rejected}


def test_equal_times_follow_the_order_of_the_file(run: Any, tmp_path: Path) -> None:
    _, rows = run(write_csv(tmp_path, ["a,5,1", "a,5,5", "a,5,5"]))
    assert seen(rows) == [("a", 2, [1, 2]), ("a", 3, [1, 2, 3])]
    assert len({row["match_id"] for row in rows}) == 2


def test_a_table_without_rows_finds_nothing(run: Any, tmp_path: Path) -> None:
    summary, rows = run(write_csv(tmp_path, []), types={"x": "double"})
    assert (summary["events"], summary["matches"], rows) == (0, 0, [])


def test_running_again_replaces_what_was_found_before(run: Any, tmp_path: Path) -> None:
    run(write_csv(tmp_path, ["a,1,1", "a,2,5"]))
    _, rows = run(write_csv(tmp_path, ["a,1,1"]))
    assert rows == []


def write_parquet(folder: Path, name: str, rows: list[tuple[str, int, int]], lon: float | None = None) -> Path:
    folder.mkdir(exist_ok=True)
    columns = {
        "track": pa.array([row[0] for row in rows]),
        "time": pa.array([1_704_067_200_000_000 + row[1] * 1_000_000 for row in rows]).cast(pa.timestamp("us", "UTC")),
        "offset": pa.array(range(len(rows))),
        "x": pa.array([row[2] for row in rows]),
    }
    if lon is not None:
        columns |= {"lon": pa.array([lon + n for n in range(len(rows))]), "lat": pa.array([5.0] * len(rows))}
    pq.write_table(pa.table(columns), folder / name, compression="none", use_dictionary=False)
    return folder / name


def test_matches_are_where_their_events_were(run: Any, tmp_path: Path) -> None:
    write_parquet(tmp_path / "events", "a.parquet", ROWS, lon=10.0)
    _, rows = run(str(tmp_path / "events"))
    assert sorted((row["index"], row["lon"], row["lat"]) for row in rows) == [(2, 11.0, 5.0), (3, 13.0, 5.0)]


def test_a_corrupt_file_is_named_or_left_out_when_asked(run: Any, tmp_path: Path) -> None:
    write_parquet(tmp_path / "events", "a.parquet", ROWS)
    (tmp_path / "events" / "b.parquet").write_bytes(b"PAR1 this is no Parquet PAR1")
    with pytest.raises(InputError, match=r"b.parquet: cannot be read as Parquet .* --skip-corrupt"):
        run(str(tmp_path / "events"))
    summary, rows = run(str(tmp_path / "events"), skip_corrupt=True)
    assert seen(rows) == EXPECTED
    assert [Path(name).name for name in summary["corrupt_files"]] == ["b.parquet"]


def test_damaged_pages_are_named_or_left_out_when_asked(run: Any, tmp_path: Path) -> None:
    write_parquet(tmp_path / "events", "a.parquet", ROWS)
    damaged = write_parquet(tmp_path / "events", "b.parquet", [("z", n, n % 7) for n in range(500)])
    content = bytearray(damaged.read_bytes())
    content[4:400] = b"\xff" * 396
    damaged.write_bytes(content)
    with pytest.raises(InputError, match=r"b.parquet: is corrupt .* --skip-corrupt"):
        run(str(tmp_path / "events"))
    summary, rows = run(str(tmp_path / "events"), skip_corrupt=True)
    assert seen(rows) == EXPECTED
    assert [Path(name).name for name in summary["corrupt_files"]] == ["b.parquet"]


def test_the_summary_tells_the_scheme_and_where_the_time_went(run: Any, tmp_path: Path) -> None:
    write_parquet(tmp_path / "events", "a.parquet", ROWS)
    summary, _ = run(str(tmp_path / "events"), form="parquet")
    assert (summary["scheme"], summary["events"], summary["rejected"]) == ("partition", 4, 0)
    assert "not laid out by track" in summary["scheme_reason"]
    assert set(summary["seconds_by_step"]) == {"reading", "compiling", "planning", "recognising", "writing"}
    assert summary["spark_stages"]


def test_the_source_scheme_needs_something_that_vouches_for_whole_tracks(run: Any, tmp_path: Path) -> None:
    write_parquet(tmp_path / "events", "a.parquet", ROWS)
    with pytest.raises(InputError, match=r"--scheme source: the Parquet files are not laid out by track. Take"):
        run(str(tmp_path / "events"), scheme=Scheme.SOURCE)


@pytest.mark.kafka
def test_a_topic_keyed_by_track_is_read_where_it_lies(run: Any, broker: str, spark: SparkSession) -> None:
    records = [(t, json.dumps({"track": t, "time": f"2024-01-01T00:00:0{s}Z", "x": x})) for t, s, x in ROWS]
    frame = spark.createDataFrame([*records, ("7", "no json")], "key string, value string")
    create_topics(broker, ["recognised"])
    options = {"kafka.bootstrap.servers": broker, "topic": "recognised"}
    frame.write.format("kafka").options(**options).save()
    summary, rows = run(f"kafka://{broker}/recognised", scheme=Scheme.SOURCE)
    assert (seen(rows), summary["scheme"], summary["rejected"]) == (EXPECTED, "source", 1)


REFUSED = {
    "no track": ("vessel,time,x", ["a,1,1"], {}, InputError, "no column 'track'"),
    "an unknown attribute": ("track,time,xx", ["a,1,1"], {}, PatternError, "unknown attribute 'x'. Did you mean 'xx'"),
    "a column of the wrong type": ("track,time,x", ["a,1,high"], {}, PatternError, "x"),
    "an unknown column type": ("track,time,x", ["a,1,1"], {"types": {"x": "dbl"}}, InputError, "Types: string, double"),
    "types of no column": ("track,time,x", ["a,1,1"], {"types": {"y": "double"}}, InputError, "no such column"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be_read_is_refused_in_one_line(run: Any, tmp_path: Path, case: str) -> None:
    header, lines, options, error, said = REFUSED[case]
    with pytest.raises(error) as caught:
        run(write_csv(tmp_path, lines, header), **options)
    assert said in str(caught.value)


def test_a_missing_file_and_a_foreign_folder_are_refused(run: Any, tmp_path: Path) -> None:
    write_csv(tmp_path, ["a,1,1"])
    with pytest.raises(InputError, match=r"evnts.csv: no such file.*Did you mean 'events.csv'"):
        run(str(tmp_path / "evnts.csv"))
    (tmp_path / "out" / "thesis.txt").write_text("mine")
    (tmp_path / "out" / ".foresail").unlink()
    with pytest.raises(OutputError, match="did not write"):
        run(str(tmp_path / "events.csv"))
    assert (tmp_path / "out" / "thesis.txt").read_text() == "mine"
