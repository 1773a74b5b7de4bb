"""Minutes since the start of a track, for tables that did not come through `foresail ingest`, which derives them."""

from collections.abc import Iterable

from pyspark.sql import DataFrame

from foresail.patterns.catalog.entry import PatternEntry
from foresail.pipeline.stages.derive import MINUTES, with_minutes


def with_start(events: DataFrame, catalog: Iterable[PatternEntry]) -> DataFrame:
    """`events` with `minutes_since_start`, if a pattern reads it and they do not have it; else as they are."""
    if MINUTES in events.columns or not any(MINUTES in entry.model_dump_json() for entry in catalog):
        return events
    return with_minutes(events)
