"""What an adapter is: a name, the form its messages come in, and a mapping from their fields to canonical columns.

Messages are the common form behind all adapters: where they come from (`source`, `line`, `raw`), a `fault` when the
text could not be read, the canonical columns as the feed has them (nothing cleaned yet), and any further columns.
Adapters see columns, not files, so one adapter serves a batch and a stream.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812

from foresail.pipeline.schemas import POSITION_COLUMNS
from foresail.pipeline.sources.repairs import mark_repairs

Cells: TypeAlias = Callable[..., Column]
"""`cells("SOG", "sog_knots")` is the text of the first field of these names that the feed has, or a null."""

Rules: TypeAlias = Callable[[Any, Any], dict[str, Any]]
"""Columns from cells and a set of functions: `pipeline.sources.fields` or `pipeline.feeds.array_fields`."""

Carrier: TypeAlias = Literal["csv", "json", "nmea", "gtfs", "parquet"]
Domain: TypeAlias = Literal["maritime", "fleet"]


@dataclass(frozen=True, slots=True)
class Feed:
    """One adapter; `columns` gives canonical and further columns, and may give `station` and `repair_<kind>`."""

    name: str
    says: str
    domain: Domain
    carrier: Carrier
    columns: Callable[[Cells], dict[str, Column]]
    arrays: Rules | None = None
    """The same over whole batches of cells; None where only Spark can read the feed."""
    required: tuple[tuple[str, ...], ...] = ()
    """Each a field the feed must have, by any of its names."""
    header: str = ""
    """The header of a CSV stream, where no first line can be looked at."""
    headless: bool = False
    """Whether the files have no header line of their own."""
    delimiter: str = ","
    trailing_delimiter: bool = False
    """Whether lines end with a delimiter that the header does not have."""
    json_schema: str = ""
    """The fields of a JSON message, as a Spark DDL schema; all of them text unless nested."""
    json_types: Mapping[str, Literal["double", "boolean"]] = field(default_factory=dict)
    """Fields that are usually no text; where one is, the message is read once more as text. Not for nested schemas."""
    json_list: str = ""
    """Where the messages are when a whole document holds them, e.g. `$.features`."""
    keep_rest: bool = False
    """Whether fields that no column uses pass through under their own names."""


def as_messages(rows: DataFrame, columns: dict[str, Column], source: str = "source", line: str = "line") -> DataFrame:
    """`rows` (raw, recoded, fault and their origin) as messages: `columns`, typed; null where the feed is silent."""
    repairs = {name.removeprefix("repair_"): made for name, made in columns.items() if name.startswith("repair_")}
    repairs["encoding"] = F.col("recoded")
    canonical = [
        columns.get(name, F.lit(None)).try_cast(kind).alias(name)
        for name, kind in POSITION_COLUMNS.items()
        if name not in ("source", "offset")
    ]
    further = [
        value.alias(name)
        for name, value in columns.items()
        if name not in POSITION_COLUMNS and name != "station" and not name.startswith("repair_")
    ]
    return rows.select(
        F.col(source).alias("source"),
        F.col(line).alias("line"),
        "raw",
        "fault",
        columns.get("station", F.lit(None)).cast("string").alias("station"),
        mark_repairs(repairs).alias("repairs"),
        *canonical,
        *further,
    )
