"""Where the live line reads: messages from Kafka or from files that arrive, cleaned, and control messages."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Literal

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql import types as T  # noqa: N812

from foresail.pipeline.errors import InputError
from foresail.pipeline.runtime.session import cores_of
from foresail.pipeline.schemas import POSITION_COLUMNS
from foresail.pipeline.settings import Settings, StreamSettings
from foresail.pipeline.sources.feed import Cells, Feed
from foresail.pipeline.sources.feeds import find_feed
from foresail.pipeline.sources.fields import number, text_of, truth, whole
from foresail.pipeline.sources.lines import stream_lines
from foresail.pipeline.sources.reading import parse_lines
from foresail.pipeline.stages.clean import clean
from foresail.pipeline.stages.policy import Policy
from foresail.pipeline.stream.control.message import MOST_CHARACTERS
from foresail.pipeline.stream.messages.packing import PACKED_DDL, Packing

LONGEST_SHOWN = 100_000
"""So many characters of a rejected message are passed on: a topic takes a megabyte. The rest is where it was."""
MOST_MESSAGES = 1_000
"""Control messages that one micro-batch takes at most: ten thousand must not make positions wait."""
CANONICAL = "kafka_json"
PACKED_COLUMNS = ("packed_bucket", "packed")
ALWAYS = ("track", "mmsi", "time", "lon", "lat")
COMPLETED_BY = {"vessel_type": ("ship_type",), "speed_kn": ("speed_kmh",), "speed_kmh": ("speed_kn",)}
"""What cleaning makes a column of when the message does not have it."""
END_OF_TIME = datetime(9000, 1, 1, tzinfo=UTC)


def _truth(cell: Column) -> Column:
    return truth(cell.cast("string"))


TYPED: dict[str, Literal["double", "boolean"]] = {"double": "double", "long": "double", "boolean": "boolean"}
FURTHER_TYPES: dict[str, T.DataType] = {
    "double": T.DoubleType(),
    "long": T.LongType(),
    "string": T.StringType(),
    "boolean": T.BooleanType(),
}
READERS = {"double": number, "long": whole, "string": text_of, "boolean": _truth}


def read_messages(
    spark: SparkSession,
    settings: Settings,
    policy: Policy,
    carried: set[str] | None = None,
    packing: Packing | None = None,
) -> DataFrame:
    """Cleaned messages as they come, with `arrived` and, where one is no position, a `reason`.

    With `carried`, only these columns are sure to be read: parsing JSON is the largest part of a line's work. With
    `packing`, plain messages are in `packed` for their `packed_bucket`, and only others are rows of their own.
    """
    stream = settings.stream
    feed = with_columns(find_feed(stream.feed), stream, carried)
    if packing is not None:
        feed = passing_through(feed, PACKED_COLUMNS)
    lines = topic_lines(spark, settings, packing) if stream.source == "kafka" else file_lines(spark, stream)
    return judged(lines, feed, policy, stream.domain)


def judged(lines: DataFrame, feed: Feed, policy: Policy, domain: str) -> DataFrame:
    """`lines` (raw, source, line, recoded, arrived) parsed and cleaned, with a `reason` where one is no position."""
    # the clock of a query that runs for months cannot be a constant of its plan
    timeless = policy.model_copy(update={"latest": END_OF_TIME})
    rows = clean(parse_lines(lines, feed), timeless, domain, END_OF_TIME)
    latest = F.lit(policy.latest) if policy.latest else F.timestamp_micros("arrived") + F.expr("INTERVAL 1 DAY")
    return rows.withColumn("reason", F.coalesce("reason", F.when(F.col("time") > latest, "future_time")))


def with_columns(feed: Feed, stream: StreamSettings, carried: set[str] | None = None) -> Feed:
    """`feed` with the further columns that the settings name, and with the time of arrival."""
    further = stream.columns
    fields = feed.json_schema + "".join(f", {name} string" for name in further) if feed.json_schema else ""
    kept = parsed_fields(fields, carried) if carried is not None and feed.name == CANONICAL else None

    def columns(cells: Cells) -> dict[str, Column]:
        def known(*names: str) -> Column:
            there = [name for name in names if kept is None or name in kept]
            return cells(*there) if there else F.lit(None).cast("string")

        own = feed.columns(known)
        return {
            **own,
            **{name: READERS[kind](known(name)) for name, kind in further.items()},
            "arrived": F.col("arrived"),
        }

    schema = fields if kept is None else ", ".join(f"{name} string" for name in kept)
    types = {**feed.json_types, **{name: TYPED[kind] for name, kind in further.items() if kind in TYPED}}
    return replace(feed, columns=columns, json_schema=schema, json_types=types if feed.json_types else {})


def canonical_schema(stream: StreamSettings) -> T.StructType:
    """The columns of cleaned canonical messages, and the further ones that the settings name."""
    own = {name: kind for name, kind in POSITION_COLUMNS.items() if name != "source"}
    further = {name: FURTHER_TYPES[kind] for name, kind in stream.columns.items()}
    return T.StructType([T.StructField(name, kind) for name, kind in {**own, **further}.items()])


def passing_through(feed: Feed, names: Sequence[str]) -> Feed:
    """`feed` whose messages keep these columns of their lines."""
    own = feed.columns
    return replace(feed, columns=lambda cells: {**own(cells), **{name: F.col(name) for name in names}})


def parsed_fields(schema: str, carried: set[str]) -> list[str]:
    """The fields of canonical JSON that must be parsed for the columns that are carried."""
    wanted = {*carried, *ALWAYS, *(other for name in carried for other in COMPLETED_BY.get(name, ()))}
    return [field.split()[0] for field in schema.split(", ") if field.split()[0] in wanted]


def read_control(spark: SparkSession, settings: Settings) -> DataFrame | None:
    """Control messages as they come: `payload` and `offset`; None where nobody can send any."""
    stream = settings.stream
    if stream.source == "kafka":
        reader = spark.readStream.format("kafka").options(**_kafka(settings, stream.topics.control))
        records = reader.options(startingOffsets="earliest", maxOffsetsPerTrigger=str(MOST_MESSAGES)).load()
        return records.select(_bounded(F.col("value").cast("string")).alias("payload"), F.col("offset"))
    if stream.control_directory is None:
        return None
    stream.control_directory.mkdir(parents=True, exist_ok=True)
    text = spark.readStream.text(str(stream.control_directory))
    return text.select(_bounded(F.col("value")).alias("payload"), F.lit(0).cast("long").alias("offset"))


def _bounded(text: Column) -> Column:
    """A text that Python can decode, and of a long one as much as shows that it is too long."""
    return F.left(F.make_valid_utf8(text), F.lit(MOST_CHARACTERS + 1))


def topic_lines(spark: SparkSession, settings: Settings, packing: Packing | None) -> DataFrame:
    """The messages of the topic as lines; with `packing`, plain ones in packs."""
    stream = settings.stream
    reader = spark.readStream.format("kafka").options(**_kafka(settings, stream.topics.positions))
    records = reader.options(
        startingOffsets=stream.starting_offsets, maxOffsetsPerTrigger=str(stream.most_events)
    ).load()
    messages = records.select("value", "partition", "offset", F.unix_micros("timestamp").alias("arrived"))
    if packing is not None:
        # a call of Python costs more than the messages of a small micro-batch: one per core, not per partition
        cores = cores_of(settings.spark.master)
        messages = (messages.coalesce(cores) if cores else messages).mapInArrow(packing, PACKED_DDL)
    text = F.col("value").cast("string")
    valid = F.is_valid_utf8(text)
    return messages.select(
        F.when(valid, text).otherwise(F.decode("value", "ISO-8859-1")).alias("raw"),
        F.concat(F.lit(f"kafka:{stream.topics.positions}/"), "partition").alias("source"),
        F.col("offset").alias("line"),
        (~valid).alias("recoded"),
        "arrived",
        *(PACKED_COLUMNS if packing is not None else ()),
    )


def file_lines(spark: SparkSession, stream: StreamSettings) -> DataFrame:
    """The lines of files as they arrive in the folder of the settings."""
    if stream.directory is None:
        msg = "stream.directory: is not set, but stream.source is files. Name the folder in which files arrive."
        raise InputError(msg)
    stream.directory.mkdir(parents=True, exist_ok=True)
    return stream_lines(spark, str(stream.directory))


def _kafka(settings: Settings, topic: str) -> dict[str, str]:
    servers = settings.kafka.bootstrap_servers
    if not servers:
        msg = "kafka.bootstrap_servers: is not set. Name the broker, or set stream.source to files."
        raise InputError(msg)
    return {"kafka.bootstrap.servers": servers, "subscribe": topic, "failOnDataLoss": "true"}
