"""Queries over columns by Spark's workers: rows by subject, one call a partition, and workers write what they find.

Only queries that are partitioned by the subject of a mapped table can be shared out; the others need all events of an
instant together, and run in one process.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq

from foresail.patterns.spaseq.entry import SpaseqEntry
from foresail.patterns.spaseq.lower import NotLowered
from foresail.patterns.spaseq.mapping import TableMapping, Terms
from foresail.patterns.spaseq.plan import Plan
from foresail.pipeline.languages.spaseq.answering import (
    RUNS_CUT_OFF,
    knowledge_for,
    lowered_over,
    missing_knowledge,
)
from foresail.pipeline.languages.spaseq.mapped_tables import mapped_rows, terms_of
from foresail.pipeline.languages.spaseq.results import SCHEMA, binding_table
from foresail.pipeline.local.frames import ArrowFrame

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

TIME = "time"
FOUND_DDL = "rows long, cut_off long, rejected array<string>"
FOUND = pa.schema([("rows", pa.int64()), ("cut_off", pa.int64()), ("rejected", pa.list_(pa.string()))])


@dataclass(frozen=True, slots=True)
class Shared:
    """A query as workers get it: its plan is made anew from the entry, knowledge is the rows that it asks for."""

    entry: SpaseqEntry
    iri: str
    mapping: TableMapping
    terms: Mapping[str, Terms]
    known: Sequence[Any]
    start_us: int


def shared_columns(queries: Sequence[SpaseqEntry], schema: Mapping[str, pa.DataType]) -> list[Shared] | None:
    """The queries as workers run them; None where one cannot be shared out, or they differ in their subjects."""
    from foresail.patterns.spaseq.column_machine import known_rows  # noqa: PLC0415 - loads a kernel

    shared = []
    for entry in queries:
        plan, mappings = entry.plan(), entry.mappings()
        iri = next(iter(plan.streams))
        if iri not in mappings or plan.options.merge_same_tau:
            return None
        terms = terms_of(mappings[iri], schema, entry.streams[iri])
        try:
            lowered = lowered_over(plan, {iri: terms})
            known = known_rows(lowered, knowledge_for(entry, plan))
        except NotLowered:
            return None
        if not lowered.partitioned:
            return None
        shared.append(Shared(entry, iri, mappings[iri], terms, known, plan.options.start_us or 0))
    subjects = {one.mapping.subject.name for one in shared}
    return shared if len(subjects) == 1 else None


@dataclass(frozen=True, slots=True)
class Search:
    """What a worker does with the rows of its subjects: find, write a file, tell how much."""

    queries: Sequence[Shared]
    folder: str

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """One row with what was read and left out."""
        from pyspark import TaskContext  # noqa: PLC0415 - only where Spark is

        from foresail.patterns.spaseq.column_machine import ColumnMachine  # noqa: PLC0415 - loads a kernel

        held = list(batches)
        if not held:
            return
        frame = ArrowFrame(pa.Table.from_batches(held))
        results = []
        rejected: dict[str, None] = {}
        cut_off = 0
        for one in self.queries:
            rows = mapped_rows(frame, one.mapping, one.terms, TIME, None)
            lowered = lowered_over(one.entry.plan(), {one.iri: one.terms})
            found, runs = ColumnMachine(lowered, one.known).results(rows.by_subject(), one.start_us)
            results += found
            cut_off += runs
            said = ({"reason": r.reason, "detail": r.detail, "origin": r.origin} for r in rows.rejected)
            rejected |= dict.fromkeys(json.dumps(row) for row in said)
        context = TaskContext.get()
        number = context.partitionId() if context else 0
        if results:
            pq.write_table(binding_table(results), Path(self.folder) / f"part-{number:05d}.parquet")
        yield pa.RecordBatch.from_pylist(
            [{"rows": frame.rows, "cut_off": cut_off, "rejected": list(rejected)}], schema=FOUND
        )


@dataclass(frozen=True, slots=True)
class Searched:
    """What all workers have read and left out."""

    rows: int
    limits: dict[str, int]
    rejected: tuple[str, ...]


def search(events: "DataFrame", queries: Sequence[Shared], folder: Path) -> Searched:
    """Run the queries over a Spark frame with the column `time`; files of bindings are written to `folder`."""
    from dataclasses import replace  # noqa: PLC0415 - with the rest of what only a job needs

    from pyspark.sql import functions as F  # noqa: N812, PLC0415 - only where Spark is

    names = dict.fromkeys([TIME, *(name for one in queries for name in one.mapping.names)])
    chosen = events.select(*(F.col(f"`{name}`") for name in names))
    subject = queries[0].mapping.subject.name
    if any(one.entry.options.start_us is None for one in queries):
        # windows of a query without a time of issue begin with the first event of all
        has_subject = F.col(f"`{subject}`").isNotNull()
        first = chosen.where(has_subject).agg(F.min(F.unix_micros(TIME))).first()
        start_us = int(first[0]) if first is not None and first[0] is not None else 0
        queries = [
            one if one.entry.options.start_us is not None else replace(one, start_us=start_us) for one in queries
        ]
    work = Search(list(queries), str(folder))
    told = chosen.repartition(F.col(f"`{subject}`")).mapInArrow(work, FOUND_DDL).collect()
    cut_off = sum(row["cut_off"] for row in told)
    return Searched(
        sum(row["rows"] for row in told),
        {RUNS_CUT_OFF: cut_off} if cut_off else {},
        tuple(line for row in told for line in row["rejected"]),
    )


def read_back(folder: Path) -> pa.Table:
    """The bindings that workers wrote, in the order of every other way to find them."""
    files = sorted(folder.glob("*.parquet"))
    if not files:
        return SCHEMA.empty_table()
    table = pa.concat_tables([pq.read_table(file, schema=SCHEMA) for file in files])
    return table.sort_by([("query", "ascending"), ("time", "ascending"), ("binding_id", "ascending")])


def notes_of(queries: Sequence[Shared]) -> list[str]:
    """What a reader should know of the queries."""
    plans: list[tuple[SpaseqEntry, Plan]] = [(one.entry, one.entry.plan()) for one in queries]
    return [note for entry, plan in plans for note in (*plan.warnings, *missing_knowledge(entry, plan))]
