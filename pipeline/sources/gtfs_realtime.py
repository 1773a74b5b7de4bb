"""GTFS-realtime vehicle positions: protobuf snapshots, a message for each entity; speed in m/s.

Only the fields that positions need are described to protobuf; it skips the rest of the feed by itself.
"""

from collections.abc import Iterable, Iterator
from functools import cache
from typing import Any

import pyarrow as pa
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.pandas.types import from_arrow_schema

from foresail.pipeline.sources.feed import Cells, Feed, as_messages
from foresail.pipeline.sources.fields import UNIT_FACTORS, text_of, time_from_epoch
from foresail.pipeline.sources.lines import plain_name
from foresail.pipeline.sources.storage import SourceFile, escaped

MESSAGES: dict[str, dict[str, tuple[int, str]]] = {
    "FeedMessage": {"header": (1, "FeedHeader"), "entity": (2, "FeedEntity*")},
    "FeedHeader": {"gtfs_realtime_version": (1, "string"), "timestamp": (3, "uint64")},
    "FeedEntity": {"id": (1, "string"), "is_deleted": (2, "bool"), "vehicle": (4, "VehiclePosition")},
    "VehiclePosition": {
        "trip": (1, "TripDescriptor"),
        "position": (2, "Position"),
        "current_stop_sequence": (3, "uint32"),
        "timestamp": (5, "uint64"),
        "stop_id": (7, "string"),
        "vehicle": (8, "VehicleDescriptor"),
    },
    "TripDescriptor": {"trip_id": (1, "string"), "start_date": (3, "string"), "route_id": (5, "string")},
    "VehicleDescriptor": {"id": (1, "string"), "label": (2, "string"), "license_plate": (3, "string")},
    "Position": {
        "latitude": (1, "float"),
        "longitude": (2, "float"),
        "bearing": (3, "float"),
        "odometer": (4, "double"),
        "speed": (5, "float"),
    },
}
"""Field numbers and types of the specification (gtfs.org); `*` repeats."""

ENTITY_SCHEMA = pa.schema(
    [
        ("source", pa.string()),
        ("line", pa.int64()),
        ("raw", pa.string()),
        ("recoded", pa.bool_()),
        ("fault", pa.string()),
        ("vehicle", pa.string()),
        ("label", pa.string()),
        ("timestamp", pa.float64()),
        ("latitude", pa.float64()),
        ("longitude", pa.float64()),
        ("bearing", pa.float64()),
        ("speed", pa.float64()),
        ("odometer", pa.float64()),
        ("trip_id", pa.string()),
        ("route_id", pa.string()),
        ("stop_id", pa.string()),
    ]
)


@cache
def feed_message() -> Any:
    """The class of a whole feed, built from `MESSAGES`."""
    from google.protobuf import descriptor_pb2, descriptor_pool, message_factory  # noqa: PLC0415 - only workers need it

    file = descriptor_pb2.FileDescriptorProto(name="foresail_gtfs_realtime.proto", package="transit", syntax="proto2")
    for name, fields in MESSAGES.items():
        message = file.message_type.add(name=name)
        for field, (number, kind) in fields.items():
            described = message.field.add(name=field, number=number)
            described.label = described.LABEL_REPEATED if kind.endswith("*") else described.LABEL_OPTIONAL
            inner = kind.rstrip("*")
            described.type = getattr(described, "TYPE_MESSAGE" if inner in MESSAGES else f"TYPE_{inner.upper()}")
            if inner in MESSAGES:
                described.type_name = f".transit.{inner}"
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return message_factory.GetMessageClass(pool.FindMessageTypeByName("transit.FeedMessage"))


def read_snapshots(spark: SparkSession, files: list[SourceFile]) -> DataFrame:
    """Each file as one snapshot: its bytes, and where they come from."""
    read = spark.read.format("binaryFile").load([escaped(file.path) for file in files])
    return read.select("content", plain_name(F.col("path")).alias("source"))


def decode_snapshots(snapshots: DataFrame) -> DataFrame:
    """Messages from `snapshots` (content, source): one for each entity, one for a snapshot that cannot be read."""
    entities = snapshots.select("content", "source").mapInArrow(_decode, from_arrow_schema(ENTITY_SCHEMA))
    return as_messages(entities, columns(F.col))


def _decode(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        for content, source in zip(batch.column(0).to_pylist(), batch.column(1).to_pylist(), strict=True):
            yield pa.RecordBatch.from_pylist(entities_of(content, source), schema=ENTITY_SCHEMA)


def entities_of(content: bytes, source: str) -> list[dict[str, Any]]:
    """Each entity of a snapshot as a row; one row for a snapshot that cannot be read."""
    snapshot = feed_message()()
    try:
        snapshot.ParseFromString(content)
    except Exception:
        return [{"source": source, "line": 1, "raw": content[:4096].hex(), "recoded": False, "fault": "unreadable"}]
    return [_entity(entity, source, place) for place, entity in enumerate(snapshot.entity, start=1)]


def _entity(entity: Any, source: str, place: int) -> dict[str, Any]:
    row: dict[str, Any] = {"source": source, "line": place, "raw": str(entity), "recoded": False}
    if not entity.HasField("vehicle") or not entity.vehicle.HasField("position"):
        return {**row, "fault": "not_a_position"}
    moving, place_of = entity.vehicle, entity.vehicle.position
    named = moving.vehicle
    texts = {
        "vehicle": named.id or named.label or named.license_plate or entity.id,
        "label": named.label,
        "trip_id": moving.trip.trip_id,
        "route_id": moving.trip.route_id,
        "stop_id": moving.stop_id,
    }
    # protobuf gives the bytes of a text that is not UTF-8, and a time may be any 64 bits
    recoded = {name: value.decode("latin-1") for name, value in texts.items() if isinstance(value, bytes)}
    return {
        **row,
        **{name: recoded.get(name, value) or None for name, value in texts.items()},
        "recoded": bool(recoded),
        "timestamp": float(moving.timestamp) or None,
        "latitude": place_of.latitude if place_of.HasField("latitude") else None,
        "longitude": place_of.longitude if place_of.HasField("longitude") else None,
        "bearing": place_of.bearing if place_of.HasField("bearing") else None,
        "speed": place_of.speed if place_of.HasField("speed") else None,
        "odometer": place_of.odometer if place_of.HasField("odometer") else None,
    }


def columns(cells: Cells) -> dict[str, Column]:
    """Canonical columns from one entity; the header's time is not the position's and is not used."""
    return {
        "track": text_of(cells("vehicle")),
        "name": text_of(cells("label")),
        "time": time_from_epoch(cells("timestamp")),
        "lon": cells("longitude"),
        "lat": cells("latitude"),
        "speed_kmh": cells("speed") * UNIT_FACTORS["speed_kmh"]["m/s"],
        "course_deg": cells("bearing"),
        "odometer_m": cells("odometer"),
        "trip_id": cells("trip_id"),
        "route_id": cells("route_id"),
        "stop_id": cells("stop_id"),
    }


FEED = Feed(
    name="gtfs_realtime",
    says="GTFS-realtime VehiclePosition feeds (protobuf), a snapshot a file",
    domain="fleet",
    carrier="gtfs",
    columns=columns,
)
