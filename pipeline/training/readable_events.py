"""The events that train, forecast and evaluate read, and what of their rows could not be read."""

from collections.abc import Mapping, Sequence
from typing import Protocol

from pyspark.sql import DataFrame, SparkSession

from foresail.patterns.catalog.loader import Catalog
from foresail.pipeline.quality.measure import check_some_good
from foresail.pipeline.sources.parquet_files import events_folder
from foresail.pipeline.sources.table import RowCounts, read_events
from foresail.pipeline.stages.derive import with_start


class Request(Protocol):
    """The part of a request that says what is read."""

    @property
    def events(self) -> Sequence[str]:
        """Files, folders or a Spark table."""

    @property
    def catalog(self) -> Catalog:
        """The patterns, which say what must be derived."""

    @property
    def types(self) -> Mapping[str, str] | None:
        """Types of columns that the user names."""

    @property
    def time_unit(self) -> str | None:
        """The unit of epoch times, where the user names it."""


def readable_events(spark: SparkSession, request: Request) -> tuple[DataFrame, RowCounts]:
    """The events, and how many rows became none and why; that all of them were rejected is a fault."""
    read = read_events(spark, [*map(events_folder, request.events)], request.types, request.time_unit)
    rows = read.rows()
    check_some_good(rows, request.events)
    return with_start(read.good, request.catalog), rows
