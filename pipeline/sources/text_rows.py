"""CSV: each line parsed in the JVM by the header of its file; a line that does not fit keeps its text and its fault.

JSON: one message a line, or a whole document that lists them; parsed in the JVM by the feed's explicit schema.
"""

import csv
import json
from collections.abc import Mapping
from contextlib import suppress

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812

from foresail.pipeline.sources.feed import Feed, as_messages

LONGEST_LINE_CHARACTERS = 1 << 20
"""A longer line is no message but a broken file; parsing it would only exhaust the memory."""
DELIMITERS = (",", ";", "\t", "|")


def fields_of(header: str, delimiter: str) -> list[str]:
    """The names in a header line, plain: no quotes, no `#`, lower case."""
    names = header.split(delimiter)
    if '"' in header:  # a name in quotes may hold the delimiter
        with suppress(csv.Error):
            names = next(csv.reader([header], delimiter=delimiter), names)
    return [name.strip().strip('"').lstrip("#").strip().lower() for name in names]


def fits(feed: Feed, header: str, delimiter: str) -> bool:
    """Whether `header`, split by `delimiter`, has every field that the feed cannot do without."""
    fields = set(fields_of(header, delimiter))
    return all(fields & {name.lower() for name in names} for names in feed.required)


def delimiter_of(feed: Feed, header: str) -> str | None:
    """The delimiter by which `header` is one of the feed's, its own first; None when there is none."""
    candidates = (feed.delimiter, *(sign for sign in DELIMITERS if sign != feed.delimiter))
    return next((delimiter for delimiter in candidates if fits(feed, header, delimiter)), None)


def parse_csv(lines: DataFrame, feed: Feed, header: str, delimiter: str) -> DataFrame:
    """Messages from `lines` (raw, source, line, recoded), none of which is the header of its file."""
    fields = fields_of(header, delimiter) + ([""] if feed.trailing_delimiter else [])
    schema = ", ".join(f"c{place} string" for place in range(len(fields))) + ", misfit string"
    options = {"sep": delimiter, "escape": '"', "columnNameOfCorruptRecord": "misfit"}
    readable = F.when(F.length("raw") <= LONGEST_LINE_CHARACTERS, F.col("raw"))
    rows = lines.withColumn("cells", F.from_csv(readable, schema, options)).withColumn("fault", _fault(header))
    return as_messages(rows, _columns(feed, fields))


def _columns(feed: Feed, fields: list[str]) -> dict[str, Column]:
    used: set[str] = set()

    def cells(*names: str) -> Column:
        for name in names:
            if name.lower() in fields:
                used.add(name.lower())
                return F.col(f"cells.c{fields.index(name.lower())}")
        return F.lit(None).cast("string")

    columns = feed.columns(cells)
    if feed.keep_rest:
        columns |= {name: cells(name) for name in fields if name and name not in used and name not in columns}
    return columns


def _fault(header: str) -> Column:
    return (
        F.when(F.trim("raw") == "", "blank_line")
        .when(F.length("raw") > LONGEST_LINE_CHARACTERS, "line_too_long")
        .when(F.trim("raw") == header.strip(), "header_line")
        .when(F.col("cells.misfit").isNotNull(), "wrong_columns")
    )


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
    rows = rows.withColumn("fault", _json_fault("spelled" if feed.json_types else "cells"))

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


def _json_fault(cells: str) -> Column:
    unreadable = F.col("cells").isNull() | F.col(f"{cells}.{MISFIT}").isNotNull()
    return F.when(F.trim("raw") == "", "blank_line").when(_too_long(), "line_too_long").when(unreadable, "unreadable")
