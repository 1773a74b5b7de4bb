"""What is read without Spark's parser must be what Spark's parser and cleaning make of it, value for value."""

import math
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as F  # noqa: N812

from foresail.pipeline.settings import StreamSettings
from foresail.pipeline.sources.feeds import find_feed
from foresail.pipeline.stages.policy import Policy
from foresail.pipeline.stream.messages.positions import Positions, plain_positions
from foresail.pipeline.stream.messages.scanning import spark_places
from foresail.pipeline.stream.query.plan import plain_feed
from foresail.pipeline.stream.query.source import judged, with_columns
from tests.pipeline.stream.messages.messages import FURTHER, some_messages

ARRIVED = 1_760_000_000_000_000
MANY, SEED = 6_000, 11
CARRIED = {
    "maritime": {"mmsi", "speed_kn", "course_deg", "heading_deg", "turn_rate", "nav_status", "vessel_type", "length_m"},
    "fleet": {"speed_kn", "speed_kmh", "course_deg", "heading_deg", "engine", "fuel_level", "satellites"},
}


def read_plainly(messages: list[bytes], stream: StreamSettings, carried: set[str]) -> Positions:
    feed = plain_feed(stream, Policy(), carried)
    assert feed is not None
    values = pa.array(messages, pa.binary())
    cuts, data = (np.frombuffer(values.buffers()[n], dtype=kind) for n, kind in ((1, np.int32), (2, np.uint8)))
    return plain_positions(data, cuts[: len(messages) + 1], np.full(len(messages), ARRIVED), feed)


def same(one: Any, other: Any) -> bool:
    if isinstance(one, float) and isinstance(other, float) and one == 0.0 == other:
        return math.copysign(1, one) == math.copysign(1, other)
    return type(one) is type(other) and bool(one == other)


@pytest.mark.spark
@pytest.mark.parametrize("domain", ["maritime", "fleet"])
def test_plain_messages_are_cleaned_as_spark_cleans_them(spark: SparkSession, domain: Any) -> None:
    messages = some_messages(SEED, MANY, domain)
    stream = StreamSettings(columns=FURTHER, domain=domain, source="kafka")
    carried = CARRIED[domain] | set(FURTHER) | {"lon", "lat", "accelerating"}
    plain = read_plainly(messages, stream, carried)

    rows = list(zip(range(MANY), map(bytearray, messages), strict=True))
    text, valid = F.col("value").cast("string"), F.is_valid_utf8(F.col("value").cast("string"))
    lines = spark.createDataFrame(rows, "line long, value binary").select(
        F.when(valid, text).otherwise(F.decode("value", "ISO-8859-1")).alias("raw"),
        F.lit("here").alias("source"),
        "line",
        (~valid).alias("recoded"),
        F.lit(ARRIVED).alias("arrived"),
    )
    clean = judged(lines, with_columns(find_feed("kafka_json"), stream, carried), Policy(), domain)
    place = F.pmod(F.hash("track"), F.lit(5)).alias("place")
    by_line = {
        row.line: row
        for row in clean.select("line", "track", F.unix_micros("time").alias("time_us"), "reason", place, *carried)
        .orderBy("line")
        .collect()
    }
    places = spark_places(plain.track, 5)
    taken = np.flatnonzero(plain.plain)
    columns = {name: plain.columns[name].to_pylist() for name in carried}
    for n, line in enumerate(taken):
        want, text_ = by_line[int(line)], messages[line]
        assert want.reason is None, text_
        got = {"track": plain.track[n].as_py(), "time_us": int(plain.time_us[n]), "place": int(places[n])}
        got |= {name: columns[name][n] for name in carried}
        for name, value in got.items():
            assert same(value, want[name]), (name, value, want[name], text_)
    assert len(taken) > MANY / 20, "the corpus is odd on purpose, but not all of it"


def test_messages_as_producers_write_them_are_all_plain() -> None:
    messages = [
        b'{"track": "211000001", "time": "2024-01-31T10:20:30Z", "lon": 8.123456, "lat": 54.5, "speed_kn": 12.3}',
        b'{"track":"a","mmsi":211000001,"time":1700000000.25,"lon":-8,"lat":54.5000000000000001,"heading_deg":511}',
        b'{ "name" : "EMMA \\"M\\"", "mmsi":211000001.0, "time":1700000000123, "lon":8, "lat":54, "speed_kn":null }',
    ]
    read = read_plainly(messages, StreamSettings(source="kafka"), {"lon", "lat", "speed_kn", "heading_deg"})
    assert read.plain.all()
    assert read.track.to_pylist() == ["211000001", "a", "211000001"]
    assert read.time_us.tolist() == [1706696430000000, 1700000000250000, 1700000000123000]
    assert read.columns["speed_kn"].to_pylist() == [12.3, None, None]
    assert read.columns["heading_deg"].to_pylist() == [None, None, None]


def test_only_the_mmsi_of_a_ship_is_plain_up_to_the_border_of_its_kind() -> None:
    ships = {199_999_999: False, 200_000_000: True, 799_999_999: True, 800_000_000: False, 0: False, 123_456_789: False}
    messages = [b'{"mmsi":%d,"time":1700000000,"lon":8.5,"lat":54.5}' % mmsi for mmsi in ships]
    read = read_plainly(messages, StreamSettings(source="kafka"), {"lon", "lat"})
    assert read.plain.tolist() == list(ships.values())


def values_read(domain: str, name: str, values: list[float]) -> list[float | None]:
    messages = [b'{"track":"a","time":1700000000,"lon":8.5,"lat":54.5,"%b":%a}' % (name.encode(), v) for v in values]
    read = read_plainly(messages, StreamSettings(source="kafka", domain=domain), {"lon", "lat", name})
    assert read.plain.all()
    return read.columns[name].to_pylist()


def test_values_are_known_up_to_the_border_of_what_a_feed_can_mean() -> None:
    assert values_read("maritime", "speed_kn", [102.2, 102.3, 0, -0.1]) == [102.2, None, 0.0, None]
    for name in ("course_deg", "heading_deg"):
        assert values_read("maritime", name, [0, 359.9, 360, -1]) == [0.0, 359.9, None, None]
        assert values_read("fleet", name, [0, 359.9, 360, 361, -1]) == [0.0, 359.9, 0.0, None, None]
    assert values_read("maritime", "turn_rate", [-128, -127, 127, -126, 0]) == [None, None, None, -126.0, 0.0]
    assert values_read("fleet", "speed_kmh", [1000, 1000.5, 0, -1]) == [1000.0, None, 0.0, None]


@pytest.mark.parametrize(
    "changes",
    [{"source": "files"}, {"feed": "danish"}, {"columns": {"speed_kn": "string"}}],
)
def test_other_lines_go_through_sparks_parser(changes: dict[str, Any]) -> None:
    assert plain_feed(StreamSettings(**{"source": "kafka", **changes}), Policy(), {"lon", "lat"}) is None


def test_the_rim_of_the_earth_is_on_it() -> None:
    places = {(180, 90): True, (-180, -90): True, (180.1, 0): False, (0, 90.1): False}
    messages = [b'{"track":"a","time":1700000000,"lon":%a,"lat":%a}' % place for place in places]
    read = read_plainly(messages, StreamSettings(source="kafka"), {"lon", "lat"})
    assert read.plain.tolist() == list(places.values())
