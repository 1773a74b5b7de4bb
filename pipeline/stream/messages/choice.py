"""Which lines read plain messages by themselves, and how."""

from datetime import datetime

from pyspark.sql import types as T  # noqa: N812

from foresail.pipeline.schemas import POSITION_COLUMNS
from foresail.pipeline.settings import StreamSettings
from foresail.pipeline.sources.feeds import find_feed
from foresail.pipeline.stages.policy import Policy
from foresail.pipeline.stream.messages.positions import Kind, PlainFeed
from foresail.pipeline.stream.messages.scan_kernel import MOST_FIELDS
from foresail.pipeline.stream.query.source import CANONICAL, parsed_fields

FURTHER: dict[str, Kind] = {"double": "number", "long": "long", "string": "text", "boolean": "boolean"}


def plain_feed(stream: StreamSettings, policy: Policy, carried: set[str]) -> PlainFeed | None:
    """How plain messages of a topic are read; None where all must go through Spark's parser."""
    feed = find_feed(stream.feed)
    if stream.source != "kafka" or feed.name != CANONICAL or set(stream.columns) & set(POSITION_COLUMNS):
        return None
    schema = feed.json_schema + "".join(f", {name} string" for name in stream.columns)
    kinds = {**{name: _kind(kind) for name, kind in POSITION_COLUMNS.items()}, **_further(stream)}
    fields = {name: kinds[name] for name in parsed_fields(schema, carried)}
    wanted = tuple(name for name in fields if name in carried and name not in ("track", "time"))
    if len(fields) > MOST_FIELDS:
        return None
    latest = None if policy.latest is None else _micros(policy.latest)
    return PlainFeed(fields, wanted, stream.domain, _micros(policy.earliest), latest)


def _further(stream: StreamSettings) -> dict[str, Kind]:
    return {name: FURTHER[kind] for name, kind in stream.columns.items()}


def _kind(kind: T.DataType) -> Kind:
    match kind:
        case T.DoubleType():
            return "number"
        case T.IntegerType():
            return "integer"
        case T.LongType():
            return "long"
        case T.BooleanType():
            return "boolean"
        case _:
            return "text"


def _micros(moment: datetime) -> int:
    return round(moment.timestamp() * 1e6)
