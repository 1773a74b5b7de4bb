"""TESLA's runner: the rule sets of a catalog over files and frames."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import pyarrow as pa

from foresail.patterns.catalog.loader import Catalog
from foresail.patterns.tesla.entry import TeslaEntry
from foresail.patterns.tesla.machine import Session
from foresail.pipeline.languages.runner import Found, count_rows
from foresail.pipeline.languages.tesla.events import EventTables, event_tables, notify, read_event_files
from foresail.pipeline.languages.tesla.results import RESULTS, composite_table, joined, limit_notes, schema_of
from foresail.pipeline.local.frames import Frame
from foresail.pipeline.local.sorted_events import Named

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from foresail.pipeline.jobs.recognise_request import RecogniseRequest
    from foresail.pipeline.local.trying import EventSource
    from foresail.pipeline.progress import Progress


class TeslaRunner:
    """How rule sets are run."""

    results = RESULTS

    def in_files(self, catalog: Catalog, source: "EventSource") -> Found:
        """What rules find in files, in this process."""
        sets = rule_sets_of(catalog)
        return _found(sets, read_event_files(source, _by_column(sets)), source.named)

    def in_frame(self, catalog: Catalog, frame: Frame, named: Named) -> Found:
        """The same in a table in memory."""
        sets = rule_sets_of(catalog)
        return _found(sets, event_tables([frame], named, _by_column(sets)), named)

    def in_spark(self, spark: "SparkSession", request: "RecogniseRequest", progress: "Progress") -> Found | None:
        """Not yet by Spark's workers."""
        del spark, request, progress
        return None


RUNNER = TeslaRunner()


def rule_sets_of(catalog: Catalog) -> list[TeslaEntry]:
    """The rule sets of a catalog."""
    return [entry for entry in catalog.others if isinstance(entry, TeslaEntry)]


def _by_column(sets: Sequence[TeslaEntry]) -> bool:
    """Whether any of them needs the column `type`."""
    return any(not entry.types for entry in sets)


def _found(sets: Sequence[TeslaEntry], tables: EventTables, named: Named) -> Found:
    plans = [entry.plan() for entry in sets]
    schema = schema_of(plans)
    notes = list(tables.notes)
    limits: dict[str, int] = {}
    parts: list[pa.Table] = []
    for entry, plan in zip(sets, plans, strict=True):
        session = Session(plan.lowered)
        notified = notify(entry, plan, tables, named, session.dictionary)
        notes += notified.notes
        composites = session.advance(notified.notifications)
        parts.append(composite_table(plan, composites, session.dictionary, schema))
        limits |= {f"rows of rule '{plan.resolved[n].name}'": count for n, count in session.limited().items()}
    table = joined(parts, schema)
    counts = count_rows(table, "rule", [rule.name for plan in plans for rule in plan.resolved])
    notes += limit_notes(limits)
    return Found(table, counts, tables.events, tuple(dict.fromkeys(notes)), tables.rejected, limits)
