"""What a mapping makes of cells: scales, offsets, sentinels, decimal commas, dates apart, types of kept columns."""

from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from foresail.pipeline.errors import InputError
from foresail.pipeline.look import look_at
from foresail.pipeline.sources.feeds import choose_feed
from foresail.pipeline.sources.mapped import Mapping, feed_of, read_mapping
from foresail.pipeline.sources.reading import read_messages
from foresail.pipeline.sources.storage import list_files
from tests.pipeline.look.samples import positions, timed, written

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

HEADER = "id;day;clock;x;y;v;depth;rpm;lamp;note\n"
MAPPING = """
decimal: ","
delimiter: ";"
missing: ["NULL"]
columns:
  track: id
  time: {column: [day, clock], format: dd.MM.yyyy HH:mm, zone: Europe/Oslo}
  lon: {column: x, scale: 1.0e-6}
  lat: {column: y, scale: 1.0e-6, offset: 0.5}
  speed_kmh: {column: v, unit: m/s, missing: [-1, "n/a"]}
keep:
  depth_m: {column: depth, type: double, missing: [-999], scale: 0.1}
  rpm: long
  lamp: boolean
  note: string
"""


def rows_of(spark: "SparkSession", file: Path, mapping: str) -> list[dict[str, Any]]:
    feed = feed_of(Mapping.model_validate(yaml.safe_load(mapping)))
    found = read_messages(spark, feed, list_files(spark, [str(file)])).messages
    return [row.asDict() for row in found.orderBy("line").collect()]


@pytest.mark.spark
def test_cells_become_values_as_the_mapping_says(spark: "SparkSession", tmp_path: Path) -> None:
    lines = (
        "a;01.05.2024;12:00;9900000;57000000;10,5;123;900;on;x\n",
        "a;01.05.2024;12:01;9900000;57000000;-1,0;-999,0;900,0;off;NULL\n",
        "a;01.05.2024;;9900000;57000000;n/a;NULL;NULL;NULL;007\n",
    )
    first, second, third = rows_of(spark, written(tmp_path, "a.csv", HEADER + "".join(lines)), MAPPING)
    assert first["time"].astimezone(UTC) == datetime(2024, 5, 1, 10, tzinfo=UTC)
    assert (first["lon"], first["lat"]) == (pytest.approx(9.9), pytest.approx(57.5))
    assert first["speed_kmh"] == pytest.approx(37.8)
    assert (first["depth_m"], first["rpm"], first["lamp"], first["note"]) == (pytest.approx(12.3), 900, True, "x")
    assert (second["speed_kmh"], second["depth_m"], second["rpm"], second["lamp"]) == (None, None, 900, False)
    assert second["note"] is None
    assert (third["time"], third["speed_kmh"], third["rpm"], third["note"]) == (None, None, None, "007")


@pytest.mark.spark
def test_what_look_shows_is_what_ingest_reads(spark: "SparkSession", tmp_path: Path) -> None:
    files = {
        "commas.csv": positions(sign=";", comma=True),
        "american.csv": timed([f"4/{n + 9}/2024 1:{n:02d} PM" for n in range(20)]),
        "named.csv": timed([f"{n + 1:02d}-May-2024 10:00:00.25" for n in range(20)]),
        "compact.csv": timed([f"202405011000{n:02d}" for n in range(20)]),
        "zoned.csv": timed([f"2024/05/01 10:00:{n:02d} +0200" for n in range(20)]),
        "utc.csv": timed([f"2024-05-01 10:00:{n:02d} UTC" for n in range(20)]),
        "serial.csv": timed([f"{45413.25 + n / 24:.6f}" for n in range(20)]),
        "logs.csv": timed([f'"2024-05-01 10:00:{n:02d},5"' for n in range(20)]),
        "small.csv": "vehicle_id,t,lon,lat\n"
        + "".join(f"a,{1714557600 + n},{101234567 + n},{543210000 + n}\n" for n in range(9)),
        "latin.csv": "Schiff;Zeit;Länge;Breite\n"
        + "".join(f"Möwe;01.05.2024 10:{n:02d};10,{n};54,{n}\n" for n in range(20)),
        "quoted.csv": 'mmsi,"speed, over ground",time,lon,lat\n'
        + "".join(f"219001559,1,2024-05-01T10:{n:02d}:00Z,1.{n},2.{n}\n" for n in range(20)),
        "headless.txt": "".join(f"{n % 3},2008-02-02 15:36:{n:02d},116.5{n},39.9{n}\n" for n in range(20)),
    }
    for name, text in files.items():
        seen = look_at(written(tmp_path, name, text.encode("latin-1" if name == "latin.csv" else "utf-8")))
        assert seen.mapping_text is not None
        rows = rows_of(spark, tmp_path / name, seen.mapping_text)[:10]
        for shown, read in zip(seen.rows, rows, strict=True):
            told = read["time"].astimezone(UTC) if read["time"] else None
            assert told is not None, (name, shown, seen.mapping)
            assert abs((told - shown["time"]).total_seconds()) < 1e-3, (name, shown, told)
            for column in shown.keys() - {"time"}:
                expected = pytest.approx(shown[column]) if isinstance(shown[column], float) else shown[column]
                assert read[column] == expected, (name, column)


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("columns: {track: {column: id, scale: 2}, time: t}", "scale and offset work with numbers"),
        ("columns: {track: id, time: {column: t, offset: 5}}", "an epoch's `unit`"),
        ("columns: {track: [a, b], time: t}", "only a time may be in two"),
        ("missing: [NULL]\ncolumns: {track: id, time: t}", "write it in quotes"),
        ("columns: {track: id, time: t}\nkeep: {a: number}", "keep"),
        ("columns: {track: id, time: t}\nkeep: [line]", "feed_line"),
    ],
)
def test_a_wrong_mapping_is_answered_with_what_is_wrong(tmp_path: Path, text: str, answer: str) -> None:
    with pytest.raises(InputError) as caught:
        read_mapping(written(tmp_path, "mapping.yaml", text))
    assert answer in str(caught.value)
    assert "\n" not in str(caught.value)


def test_from_may_name_the_mapping_file(tmp_path: Path) -> None:
    file = written(tmp_path, "boats.yaml", "name: boats\ncolumns: {track: id, time: t}")
    assert choose_feed(str(file), None).name == "boats"
