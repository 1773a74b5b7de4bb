"""One query over the events there are: over the columns of a mapped table where it can be, else over graphs.

Both give the same results; columns are some fifty times as fast.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from foresail.patterns.spaseq.engine import MissingEngineError
from foresail.patterns.spaseq.entry import SpaseqEntry
from foresail.patterns.spaseq.events import GraphEvent, Rejected
from foresail.patterns.spaseq.knowledge import Knowledge
from foresail.patterns.spaseq.lower import ColumnPlan, NotLowered, lower
from foresail.patterns.spaseq.machine import Machine
from foresail.patterns.spaseq.mapping import TableMapping, Terms
from foresail.patterns.spaseq.plan import Plan
from foresail.patterns.spaseq.results import Binding
from foresail.pipeline.languages.spaseq.knowledge_files import knowledge_of
from foresail.pipeline.languages.spaseq.mapped_tables import MappedRows, mapped_rows, schema_of, terms_of
from foresail.pipeline.local.frames import Frame
from foresail.pipeline.local.sorted_events import Named, require

RUNS_CUT_OFF = "runs beyond the limit"


@dataclass(frozen=True, slots=True)
class Events:
    """What queries read: graphs, and a table whose rows are graphs by the mappings of entries."""

    graphs: Sequence[GraphEvent] = ()
    table: Frame | None = None
    named: Named = field(default_factory=Named)


@dataclass(slots=True)
class Answer:
    """What one query has found."""

    results: list[Binding]
    rejected: Sequence[Rejected] = ()
    cut_off: Mapping[str, int] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    rows: int = 0
    """Of the table."""


def answer(entry: SpaseqEntry, events: Events) -> Answer:
    """What a query finds, by the path that it can take."""
    plan = entry.plan()
    mapped = {iri: held for iri, held in entry.mappings().items() if iri in plan.streams}
    if events.table is None or not mapped:
        return _over_graphs(entry, plan, events.graphs)
    require(events.table, events.named.time, "time")
    terms = {
        iri: terms_of(held, schema_of(events.table, held.names), entry.streams[iri]) for iri, held in mapped.items()
    }
    read = {iri: _rows(events, held, terms[iri], plan) for iri, held in mapped.items()}
    try:
        found = _over_columns(entry, plan, events, read, terms)
    except NotLowered as reason:
        found = _over_graphs(entry, plan, [*events.graphs, *(e for iri in read for e in read[iri].graphs(iri))], reason)
    rows = list(read.values())
    found.rejected = [*(one for each in rows for one in each.rejected), *found.rejected]
    found.notes = [*(note for each in rows for note in each.notes), *found.notes]
    found.rows = max(len(each) + len(each.rejected) for each in rows)
    return found


def _rows(events: Events, mapping: TableMapping, terms: Mapping[str, Terms], plan: Plan) -> MappedRows:
    assert events.table is not None, "there is a table to map"
    named = events.named
    return mapped_rows(events.table, mapping, terms, named.time, named.time_unit, plan.options.merge_same_tau)


def _over_graphs(
    entry: SpaseqEntry, plan: Plan, graphs: Sequence[GraphEvent], reason: NotLowered | None = None
) -> Answer:
    try:
        machine = Machine(plan, Knowledge(knowledge_of(entry)))
    except MissingEngineError as error:
        if reason is None:
            raise
        msg = f"{entry.name} cannot be answered over columns: {reason}. {error}"
        raise MissingEngineError(msg) from None
    found = machine.advance(machine.fresh(), graphs)
    notes = list(machine.warnings)
    if reason is not None:
        notes.append(f"{entry.name} is answered over graphs: {reason}")
    return Answer(found.results, found.rejected, found.cut_off, notes)


def _over_columns(
    entry: SpaseqEntry,
    plan: Plan,
    events: Events,
    read: Mapping[str, MappedRows],
    terms: Mapping[str, Mapping[str, Terms]],
) -> Answer:
    from foresail.patterns.spaseq.column_machine import ColumnMachine, known_rows  # noqa: PLC0415 - loads a kernel

    lowered, rows = lowered_over(plan, terms), next(iter(read.values()))
    if any(event.stream in plan.streams for event in events.graphs):
        msg = "a part of its events are graphs"
        raise NotLowered(msg)
    if rows.twice:
        msg = "rows of one subject and instant are merged"
        raise NotLowered(msg)
    table = rows.by_subject() if lowered.partitioned else rows.by_time()
    if table is None:
        msg = "several rows are of one instant; with PARTITION BY the subject columns could answer it"
        raise NotLowered(msg)
    machine = ColumnMachine(lowered, known_rows(lowered, knowledge_for(entry, plan)))
    start_us = plan.options.start_us
    if start_us is None:
        start_us = int(rows.times.min()) if len(rows) else 0
    results, cut_off = machine.results(table, start_us)
    notes = [*plan.warnings, *missing_knowledge(entry, plan)]
    return Answer(results, cut_off={RUNS_CUT_OFF: cut_off} if cut_off else {}, notes=notes)


def lowered_over(plan: Plan, terms: Mapping[str, Mapping[str, Terms]]) -> ColumnPlan:
    """The plan over the columns of the one stream that it reads."""
    iris = list(plan.streams)
    if len(iris) > 1 or iris[0] not in terms:
        msg = "it reads several streams"
        raise NotLowered(msg)
    return lower(plan, terms[iris[0]])


def knowledge_for(entry: SpaseqEntry, plan: Plan) -> Knowledge | None:
    """The knowledge of an entry; None where the query asks for none, and then no engine is needed."""
    return Knowledge(knowledge_of(entry)) if plan.graphs else None


def missing_knowledge(entry: SpaseqEntry, plan: Plan) -> list[str]:
    """A note for each graph of knowledge that has no file."""
    return [f"GRAPH <{iri}> has no file: name one in knowledge:" for iri in plan.graphs if iri not in entry.knowledge]
