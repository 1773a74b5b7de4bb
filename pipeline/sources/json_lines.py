"""JSON: one message a line, or a whole document that lists them; parsed in the JVM by the feed's explicit schema."""

import json

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812

from pipeline.sources.csv_lines import LONGEST_LINE_CHARACTERS
from pipeline.sources.feed import Feed, as_messages

MISFIT = "misfit_text"


def is_document(first_line: str, feed: Feed) -> bool:
    """Whether a file that begins so is one document and not a message a line."""
    start = first_line.lstrip()
    if not start.startswith("{"):
        return start.startswith("[")
    try:
        message = json.loads(start)
    except ValueError:
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
    """Messages from `lines` (raw, source, line, recoded)."""
    readable = F.when(F.length("raw") <= LONGEST_LINE_CHARACTERS, F.col("raw"))
    schema = f"{feed.json_schema}, {MISFIT} string"
    parsed = F.from_json(readable, schema, {"columnNameOfCorruptRecord": MISFIT})
    rows = lines.withColumn("cells", parsed).withColumn("fault", _fault())

    def cells(*names: str) -> Column:
        return F.coalesce(*[F.col(f"cells.{name}") for name in names])

    return as_messages(rows, feed.columns(cells))


def _fault() -> Column:
    return (
        F.when(F.trim("raw") == "", "blank_line")
        .when(F.length("raw") > LONGEST_LINE_CHARACTERS, "line_too_long")
        .when(F.col("cells").isNull() | F.col(f"cells.{MISFIT}").isNotNull(), "unreadable")
    )
