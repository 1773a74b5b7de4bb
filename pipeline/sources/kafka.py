"""Kafka topics as lines: the value is the text, `source` names topic and partition, `line` is the offset."""

import re
from dataclasses import dataclass

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812

from foresail.pipeline.errors import InputError

SCHEME = "kafka://"


@dataclass(frozen=True, slots=True)
class Topic:
    """A topic and the brokers that hold it."""

    servers: str
    name: str


def parse_topic(address: str) -> Topic:
    """`kafka://host:9092[,host:9092]/topic` as a topic."""
    found = re.fullmatch(r"kafka://([^/]+)/([\w.\-]+)", address)
    if not found:
        msg = f"{address}: not a topic. Write kafka://host:9092/topic."
        raise InputError(msg)
    return Topic(found.group(1), found.group(2))


def read_topic(spark: SparkSession, topic: Topic) -> DataFrame:
    """Everything the topic holds now."""
    options = {"kafka.bootstrap.servers": topic.servers, "subscribe": topic.name, "failOnDataLoss": "true"}
    reader = spark.read.format("kafka").options(**options, startingOffsets="earliest", endingOffsets="latest")
    return _as_lines(reader.load())


def _as_lines(records: DataFrame) -> DataFrame:
    text = F.col("value").cast("string")
    valid = F.is_valid_utf8(text)
    return records.select(
        F.when(valid, text).otherwise(F.decode("value", "ISO-8859-1")).alias("raw"),
        F.concat(F.lit("kafka:"), "topic", F.lit("/"), "partition").alias("source"),
        F.col("offset").alias("line"),
        (~valid).alias("recoded"),
    )
