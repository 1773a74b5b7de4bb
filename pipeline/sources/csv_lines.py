"""CSV: each line parsed in the JVM by the header of its file; a line that does not fit keeps its text and its fault."""

import csv
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
