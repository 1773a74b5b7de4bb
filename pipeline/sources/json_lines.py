"""JSON: one message a line, or a whole document that lists them; parsed in the JVM by the feed's explicit schema."""

import json
from collections.abc import Mapping

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812

from foresail.pipeline.sources.csv_lines import LONGEST_LINE_CHARACTERS
from foresail.pipeline.sources.feed import Feed, as_messages

MISFIT = "misfit_text"


def is_document(first_line: str, feed: Feed) -> bool:
    """Whether a file that begins so is one document and not a message a line."""
    start = first_line.lstrip()
    if not start.startswith("{"):
        return start.startswith("[")
    try:
        message = json.loads(start)
    except (ValueError, RecursionError):
        return True
    return bool(feed.json_list) and feed.json_list.removeprefix("$.") in message


def looks_like_json(first_line: str) -> bool:
    """Whether a file that begins so can be JSON at all."""
    return first_line.lstrip().startswith(("{", "["))


def explode_documents(documents: DataFrame, feed: Feed) -> DataFrame:
    """The messages that each document lists, numbered; a document that lists none is itself the message."""
    listed = F.from_json("raw", "array<string>")
    if feed.json_list:
        listed = F.coalesce(F.from_json(F.get_json_object("raw", feed.json_list), "array<string>"), listed)
    messages = F.coalesce(listed, F.array("raw"))
    return documents.select("source", "recoded", F.posexplode(messages).alias("place", "raw")).select(
        "raw", "source", (F.col("place") + 1).cast("long").alias("line"), "recoded"
    )


def parse_json(lines: DataFrame, feed: Feed) -> DataFrame:
    """Messages from `lines` (raw, source, line, recoded).

    A number that is asked for as text is printed again by the parser, which takes longer than all the rest. So fields
    that the feed says are numbers are read as such, and only a message that has text there is read as text.
    """
    readable = F.when(~_too_long(), F.col("raw"))
    rows = lines.withColumn("cells", _parsed(readable, feed.json_schema, feed.json_types))
    if feed.json_types:
        misfit = F.col("cells").isNotNull() & F.col(f"cells.{MISFIT}").isNotNull()
        rows = rows.withColumn("spelled", F.when(misfit, _parsed(readable, feed.json_schema, {})))
    rows = rows.withColumn("fault", _fault("spelled" if feed.json_types else "cells"))

    def cell(name: str) -> Column:
        value = F.col(f"cells.{name}")
        if not feed.json_types:
            return value
        spelled, kind = F.col(f"spelled.{name}"), feed.json_types.get(name, "string")
        other = spelled.try_cast("double") if kind == "double" else spelled
        own = value.cast("string") if kind == "boolean" else value
        return F.when(F.col("spelled").isNull(), own).otherwise(other)

    def cells(*names: str) -> Column:
        return F.coalesce(*map(cell, names))

    return as_messages(rows, feed.columns(cells))


def _parsed(text: Column, schema: str, types: Mapping[str, str]) -> Column:
    """`text` as the fields of `schema`, those of `types` typed; what does not fit is in MISFIT."""
    fields = [field.split(" ", 1) for field in schema.split(", ")] if types else []
    typed = ", ".join(f"{name} {types.get(name, kind)}" for name, kind in fields) or schema
    return F.from_json(text, f"{typed}, {MISFIT} string", {"columnNameOfCorruptRecord": MISFIT})


def _too_long() -> Column:
    """Whether the text has too many characters; only one with as many bytes needs to be counted."""
    limit = LONGEST_LINE_CHARACTERS
    return (F.octet_length("raw") > limit) & (F.length("raw") > limit)


def _fault(cells: str) -> Column:
    unreadable = F.col("cells").isNull() | F.col(f"{cells}.{MISFIT}").isNotNull()
    return F.when(F.trim("raw") == "", "blank_line").when(_too_long(), "line_too_long").when(unreadable, "unreadable")
