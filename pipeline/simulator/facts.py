"""The truth table and the fault table: made track by track on the workers, sorted and written once on the driver."""

from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.types import StringType, StructField, StructType

from foresail.pipeline.simulator.columns import FAULTS, TRUTH
from foresail.pipeline.simulator.raw import raw_rows
from foresail.pipeline.simulator.scenario import Fault, Scenario
from foresail.pipeline.simulator.truth import Finding
from foresail.pipeline.sinks.output_folder import replaced

_BOTH = {column.name: column for column in (*TRUTH.fields, *FAULTS.fields)}
FACTS = StructType([StructField("fact", StringType()), *_BOTH.values()])
"""Rows of both tables side by side; `fact` says which."""


def fact_rows(scenario: Scenario, number: int) -> pa.RecordBatch:
    """The truth and the faults of one track."""
    facts = scenario.facts(number)
    start = scenario.settings.start
    rows = [_truth_row(scenario, number, finding, start) for finding in facts.findings]
    faults = facts.faults + (raw_rows(scenario, number).faults if scenario.settings.raw else [])
    rows += [_fault_row(scenario.track(number), fault, start) for fault in faults]
    return pa.RecordBatch.from_pylist(rows, schema=to_arrow_schema(FACTS))


def write_facts(facts: pa.Table, out: Path) -> tuple[pa.Table, pa.Table]:
    """Write `truth` and `faults` below `out`; both come back."""
    tables = []
    for fact, schema in (("truth", TRUTH), ("faults", FAULTS)):
        table = facts.filter(pa.compute.equal(facts["fact"], fact)).select(schema.names).cast(to_arrow_schema(schema))
        table = table.sort_by([(name, "ascending") for name in schema.names]).replace_schema_metadata(None)
        with replaced(out / fact) as staging:
            staging.mkdir()
            pq.write_table(table.combine_chunks(), staging / "part-00000.parquet", compression="zstd")
        tables.append(table)
    return tables[0], tables[1]


def _truth_row(scenario: Scenario, number: int, finding: Finding, start: datetime) -> dict[str, Any]:
    return {
        "fact": "truth",
        "pattern": finding.pattern,
        "track": scenario.track(number),
        "other_track": None if finding.other is None else scenario.track(finding.other),
        "start": start + timedelta(seconds=finding.start_s),
        "end": start + timedelta(seconds=finding.end_s),
        "kind": finding.kind,
        "rows": finding.rows,
        "feature": finding.feature,
        "detail": finding.detail,
    }


def _fault_row(track: str, fault: Fault, start: datetime) -> dict[str, Any]:
    return {
        "fact": "faults",
        "fault": fault.fault,
        "track": track,
        "start": start + timedelta(seconds=fault.start_s),
        "end": start + timedelta(seconds=fault.end_s),
        "rows": fault.rows,
        "table": fault.table,
        "detail": fault.detail,
    }
