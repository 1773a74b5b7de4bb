"""Rule sets by Spark's workers: each task reads the input and keeps the events of its keys.

Positions in the input and the order of events at one instant are so the same as in one process.
"""

import json
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING

import pyarrow as pa

from foresail.arrow_bytes import table_from_bytes, table_to_bytes
from foresail.patterns.catalog.loader import Catalog
from foresail.pipeline.languages.recognise_job import write_rows
from foresail.pipeline.languages.runner import Found, count_rows
from foresail.pipeline.languages.tesla.evaluation import Share, by_column, evaluate_sets, rule_sets_of
from foresail.pipeline.languages.tesla.events import read_event_files
from foresail.pipeline.languages.tesla.results import RESULTS, joined, limit_notes, schema_of
from foresail.pipeline.local.sorted_events import Named
from foresail.pipeline.local.trying import EventSource

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from foresail.pipeline.jobs.recognise_request import RecogniseRequest
    from foresail.pipeline.progress import Progress

SHIPPED = "rows binary, told string"


def run_in_spark(spark: "SparkSession", request: "RecogniseRequest", progress: "Progress") -> Found:
    """Find the composites and write them; rules without a key are told."""
    sets = rule_sets_of(request.catalog)
    plans = [entry.plan() for entry in sets]
    for plan in plans:
        for group in plan.groups:
            if group.keys is None:
                names = ", ".join(plan.resolved[number].name for number in group.rules[:5])
                progress.say(f"{plan.name}: {names} run on one task: {group.why}")
    tasks = max(spark.sparkContext.defaultParallelism, 1)
    source = EventSource(tuple(request.events), Named(time_unit=request.time_unit), request.types or {})
    with progress.step("recognising"):
        shares = spark.range(0, tasks, 1, tasks).mapInArrow(_task(request.catalog, source, tasks), SHIPPED).collect()
    told = [json.loads(row["told"]) for row in shares]
    schema = schema_of(plans)
    table = joined([table_from_bytes(bytes(row["rows"])) for row in shares], schema)
    write_rows(RESULTS, table, request.out, request.form)
    limits: dict[str, int] = {}
    for one in told:
        for name, number in one["limits"].items():
            limits[name] = limits.get(name, 0) + number
    notes = dict.fromkeys([*(note for one in told for note in one["notes"]), *limit_notes(limits)])
    counts = count_rows(table, "rule", [rule.name for plan in plans for rule in plan.resolved])
    return Found(schema.empty_table(), counts, told[0]["events"], tuple(notes), tuple(told[0]["rejected"]), limits)


def _task(
    catalog: Catalog, source: EventSource, tasks: int
) -> Callable[[Iterable[pa.RecordBatch]], Iterable[pa.RecordBatch]]:
    def run(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for task in batch.column(0).to_pylist():
                tables = read_event_files(source, by_column(rule_sets_of(catalog)))
                found = evaluate_sets(catalog, tables, source.named, Share(task, tasks))
                notes = [note for note in found.notes if not note.startswith("limit reached")]
                told = {
                    "events": found.events,
                    "notes": notes,
                    "rejected": found.rejected if task == 0 else (),
                    "limits": dict(found.limits),
                }
                yield pa.RecordBatch.from_pydict({"rows": [table_to_bytes(found.table)], "told": [json.dumps(told)]})

    return run
