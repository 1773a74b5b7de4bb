"""Each adapter's traps: units, zones, sentinels left for the cleaning, codes as words."""

from datetime import datetime
from typing import TYPE_CHECKING, Any

import pytest

from foresail.pipeline.sources.feed import Feed
from foresail.pipeline.sources.feeds import find_feed
from foresail.pipeline.sources.gtfs_realtime import decode_snapshots, feed_message
from foresail.pipeline.sources.mapped import Mapping, feed_of
from foresail.pipeline.sources.reading import parse_lines
from foresail.pipeline.sources.repairs import BITS

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark


def messages(spark: "SparkSession", feed: Feed, *lines: str) -> list[Any]:
    rows = [(raw, "test", number, False) for number, raw in enumerate(lines, 1)]
    frame = spark.createDataFrame(rows, "raw string, source string, line long, recoded boolean")
    return parse_lines(frame, feed).orderBy("line").collect()


def test_marine_cadastre_is_utc_and_knows_four_digit_types(spark: "SparkSession") -> None:
    good, old, short = messages(
        spark,
        find_feed("noaa"),
        '338148873,2022-01-03T00:00:00,33.6,-117.9,0.0,280.0,511,"SMITH, ""J""",IMO0000000,,37.0,,14.0,,,,B',
        "338148873,2022-01-03T00:00:00,33.6,-117.9,0.0,280.0,511,X,IMO9,,1001,0.0,14.0,,,,B",
        "338148873,2022-01-03T00:00:00,33.6",
    )
    assert good["time"] == datetime(2022, 1, 3)  # noqa: DTZ001 - Spark hands out UTC without a zone
    assert (good["track"], good["name"], good["imo"], good["heading_deg"]) == ("338148873", 'SMITH, "J"', 0, 511.0)
    assert (old["ship_type"], old["nav_status"]) == (30, 0)
    assert (good["fault"], short["fault"]) == (None, "wrong_columns")


def test_danish_dates_are_day_first_and_stations_are_named(spark: "SparkSession") -> None:
    line = "{},{},219001559,57.5,9.9,{},0.0,1.5,10.0,11,Unknown,OXYZ,FÆRGEN,{},,10,50,GPS,4.2,Unknown,,AIS,1,2,3,4"
    ship, station = messages(
        spark,
        find_feed("danish"),
        line.format("02/01/2021 03:04:05", "Class A", "Engaged in fishing", "Fishing"),
        line.format("02/01/2021 03:04:05", "Base Station", "Unknown value", "Undefined"),
    )
    assert ship["time"] == datetime(2021, 1, 2, 3, 4, 5)  # noqa: DTZ001
    assert (ship["nav_status"], ship["ship_type"], ship["station"], ship["name"]) == (7, 30, None, "FÆRGEN")
    assert (ship["destination"], ship["imo"], ship["transceiver"]) == (None, None, "A")
    assert (station["station"], station["nav_status"], station["ship_type"]) == ("base_station", 15, None)


def test_brest_counts_epoch_seconds_and_transmitted_turns(spark: "SparkSession") -> None:
    seconds, milliseconds, none = messages(
        spark,
        find_feed("brest"),
        "228858000,0,20,5.1,90.0,91,-4.5,48.3,1443650402",
        "228858000,0,-20,5.1,90.0,91,-4.5,48.3,1443650402000",
        "228858000,0,-128,5.1,90.0,91,-4.5,48.3,",
    )
    assert seconds["time"] == milliseconds["time"] == datetime(2015, 9, 30, 22, 0, 2)  # noqa: DTZ001
    assert (seconds["repairs"], milliseconds["repairs"] != 0) == (0, True)
    assert seconds["turn_rate"] == pytest.approx((20 / 4.733) ** 2)
    assert milliseconds["turn_rate"] == -seconds["turn_rate"]
    assert (none["turn_rate"], none["time"]) == (-128.0, None)


def test_digitraffic_takes_the_external_time_in_both_its_forms(spark: "SparkSession") -> None:
    flat, feature, broken = messages(
        spark,
        find_feed("digitraffic"),
        '{"mmsi":230108610,"lon":24.9,"lat":60.1,"sog":7.3,"cog":298.0,"navStat":0,"rot":-128,"heading":511,'
        '"timestamp":42,"timestampExternal":1659212938646}',
        '{"mmsi":230108610,"type":"Feature","geometry":{"type":"Point","coordinates":[24.9,60.1]},'
        '"properties":{"mmsi":230108610,"sog":7.3,"cog":298.0,"heading":12,"timestampExternal":1659212938646}}',
        '{"mmsi": 2301',
    )
    assert flat["time"] == feature["time"] == datetime(2022, 7, 30, 20, 28, 58, 646000)  # noqa: DTZ001
    assert (flat["lon"], feature["lon"], feature["lat"], feature["heading_deg"]) == (24.9, 24.9, 60.1, 12.0)
    assert (flat["turn_rate"], broken["fault"]) == (-128.0, "unreadable")


def test_traccar_speeds_are_knots_and_the_fix_gives_the_time(spark: "SparkSession") -> None:
    line = (
        '{"deviceId":7,"fixTime":%s,"serverTime":"2024-05-01T18:00:00.000+00:00","latitude":37.9,"longitude":23.7,'
        '"speed":10,"course":90,"valid":true,"attributes":{%s,"sat":9,"fuel":55,"alarm":"sos"}}'
    )
    on, off, unknown = messages(
        spark,
        find_feed("traccar"),
        line % ('"2024-05-01T12:00:00.000+02:00"', '"ignition":true,"motion":true'),
        line % ("1714557600000", '"ignition":false,"motion":false'),
        line % ("1714557600000", '"motion":false'),
    )
    assert on["time"] == off["time"] == datetime(2024, 5, 1, 10)  # noqa: DTZ001
    assert (on["speed_kn"], on["speed_kmh"], on["fuel_level"], on["satellites"]) == (10.0, 18.52, 0.55, 9)
    assert [row["engine"] for row in (on, off, unknown)] == ["moving", "off", "parked"]


def test_gtfs_entities_become_messages_with_their_own_time(spark: "SparkSession") -> None:
    snapshot = feed_message()()
    snapshot.header.timestamp = 1
    bus = snapshot.entity.add(id="e1").vehicle
    bus.vehicle.id, bus.timestamp, bus.trip.route_id = "bus1", 1714557600, "14"
    bus.position.latitude, bus.position.longitude, bus.position.speed = 53.4, -2.9, 10.0
    snapshot.entity.add(id="e2").is_deleted = True
    contents = [(snapshot.SerializeToString(), "a"), (b"\xff\xff\xff", "b")]
    frame = spark.createDataFrame(contents, "content binary, source string")
    position, deleted, broken = decode_snapshots(frame).orderBy("source", "line").collect()
    assert position["time"] == datetime(2024, 5, 1, 10)  # noqa: DTZ001
    assert (position["track"], position["speed_kmh"], position["route_id"]) == ("bus1", 36.0, "14")
    assert (deleted["fault"], broken["fault"]) == ("not_a_position", "unreadable")
    assert "is_deleted: true" in deleted["raw"]


def test_gtfs_times_and_texts_that_no_table_holds_cost_no_other_entity(spark: "SparkSession") -> None:
    snapshot = feed_message()()
    for name, timestamp in (("bus1", 1714557600), ("bus2", 2**64 - 1), ("bus3", 1714557600)):
        bus = snapshot.entity.add(id=name).vehicle
        bus.vehicle.id, bus.timestamp = name, timestamp
        bus.position.latitude, bus.position.longitude = 53.4, -2.9
    content = snapshot.SerializeToString().replace(b"bus3", b"bus\xe9")
    frame = spark.createDataFrame([(content, "a")], "content binary, source string")
    good, late, accented = decode_snapshots(frame).orderBy("line").collect()
    assert (good["track"], good["time"]) == ("bus1", datetime(2024, 5, 1, 10))  # noqa: DTZ001
    assert late["time"] is None or late["time"].year > 2500
    assert accented["track"] == "bus\u00e9"
    assert accented["repairs"] & BITS["encoding"]


def test_canonical_json_reads_iso_and_epoch_times(spark: "SparkSession") -> None:
    iso, epoch = messages(
        spark,
        find_feed("kafka_json"),
        '{"track":"a","time":"2024-05-01T10:00:00Z","lon":1.5,"lat":2,"engine":"idle","ice":true,"satellites":4}',
        '{"mmsi":219001559,"time":1714557600,"lon":1.5,"lat":2,"speed_kn":3.5}',
    )
    assert iso["time"] == epoch["time"]
    assert (iso["engine"], iso["ice"], iso["satellites"], epoch["track"]) == ("idle", True, 4, "219001559")


def test_a_mapping_converts_units_zones_codes_and_decimal_signs(spark: "SparkSession") -> None:
    mapping = Mapping.model_validate(
        {
            "domain": "fleet",
            "delimiter": ";",
            "header": "id;when;x;y;v;h;state",
            "columns": {
                "track": "id",
                "time": {"column": "when", "format": "dd.MM.yyyy HH:mm", "zone": "Europe/Berlin"},
                "lon": {"column": "x", "decimal": ","},
                "lat": "y",
                "speed_kmh": {"column": "v", "unit": "m/s"},
                "heading_deg": {"column": "h", "unit": "rad"},
                "engine": {"column": "state", "codes": {"AN": "moving", "AUS": "off"}},
            },
            "constants": {"ice": True},
            "keep": ["state"],
        }
    )
    (row,) = messages(spark, feed_of(mapping), "b1;01.07.2024 12:30;7,5;50.1;10;-1.5707963267948966;an")
    assert row["time"] == datetime(2024, 7, 1, 10, 30)  # noqa: DTZ001
    assert (row["lon"], row["speed_kmh"], row["engine"], row["ice"], row["state"]) == (7.5, 36.0, "moving", True, "an")
    assert row["heading_deg"] == pytest.approx(270)
