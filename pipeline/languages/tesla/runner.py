"""TESLA's runner: the rule sets of a catalog over files, frames and Spark's workers."""

from typing import TYPE_CHECKING

from foresail.patterns.catalog.loader import Catalog
from foresail.pipeline.languages.runner import Found
from foresail.pipeline.languages.tesla.evaluation import by_column, evaluate_sets, rule_sets_of
from foresail.pipeline.languages.tesla.events import event_tables, read_event_files
from foresail.pipeline.languages.tesla.results import RESULTS
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
        tables = read_event_files(source, by_column(rule_sets_of(catalog)))
        return evaluate_sets(catalog, tables, source.named)

    def in_frame(self, catalog: Catalog, frame: Frame, named: Named) -> Found:
        """The same in a table in memory."""
        return evaluate_sets(catalog, event_tables([frame], named, by_column(rule_sets_of(catalog))), named)

    def in_spark(self, spark: "SparkSession", request: "RecogniseRequest", progress: "Progress") -> Found | None:
        """The same by Spark's workers, keyed rules by key; the rows are written."""
        from foresail.pipeline.languages.tesla.spark import run_in_spark  # noqa: PLC0415 - only where Spark is

        return run_in_spark(spark, request, progress)


RUNNER = TeslaRunner()
