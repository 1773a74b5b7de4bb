"""SPAseq's runner: queries of a catalog over files and frames, each by the path that it can take."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from foresail.patterns.catalog.loader import Catalog
from foresail.patterns.spaseq.construct import STREAM, constructed
from foresail.patterns.spaseq.entry import SpaseqEntry
from foresail.patterns.spaseq.events import GraphEvent, Rejected
from foresail.patterns.spaseq.results import Binding
from foresail.pipeline.errors import InputError
from foresail.pipeline.languages.recognise_job import write_rows
from foresail.pipeline.languages.runner import Found, count_rows
from foresail.pipeline.languages.spaseq.answering import Events, answer
from foresail.pipeline.languages.spaseq.graph_files import (
    GRAPH,
    GraphsRead,
    Streams,
    graph_files,
    read_graph_files,
    read_graph_frame,
)
from foresail.pipeline.languages.spaseq.results import RESULTS, binding_table
from foresail.pipeline.local.files import Reading, read_tables
from foresail.pipeline.local.frames import ArrowFrame, Frame
from foresail.pipeline.local.sorted_events import Named
from foresail.pipeline.reports.page import count_of
from foresail.pipeline.sinks.trig import graphs_as_trig

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from foresail.pipeline.jobs.recognise_request import RecogniseRequest
    from foresail.pipeline.local.trying import EventSource
    from foresail.pipeline.progress import Progress

CONSTRUCTED = "constructed.trig"
MOST_TOLD = 5
"""Rejected events that notes tell one by one."""


class SpaseqRunner:
    """How queries are run."""

    results = RESULTS

    def in_files(self, catalog: Catalog, source: "EventSource") -> Found:
        """What queries find in files, in this process."""
        queries = queries_of(catalog)
        streams = streams_of(queries)
        mapped = any(entry.mappings() for entry in queries)
        files: list[str] = []
        tables: list[str] = []
        for path in dict.fromkeys([*source.paths, *map(str, streams.of_file)]):
            graphs = graph_files(path)
            files += graphs
            if not graphs:
                _check_mapped(path, mapped)
                tables.append(path)
        read = read_graph_files(files, streams, source.named.time_unit)
        unreadable: tuple[str, ...] = ()
        table = None
        if tables:
            found = read_tables(tables, Reading(source.named.track, source.named.time, source.types))
            table, unreadable = ArrowFrame(found.table), found.unreadable
        read.rejected += [Rejected(line[:200], "unreadable", "not a row of the table") for line in unreadable]
        return _found(queries, read, Events(read.events, table, source.named))

    def in_frame(self, catalog: Catalog, frame: Frame, named: Named) -> Found:
        """The same in a table in memory."""
        queries = queries_of(catalog)
        if GRAPH in frame.columns:
            read = read_graph_frame(frame, streams_of(queries), named.time, named.time_unit)
            return _found(queries, read, Events(read.events))
        if not any(entry.mappings() for entry in queries):
            msg = (
                "events: there is no column 'graph'. Give one with Turtle texts, beside 'time' and 'stream', or a "
                "mapping of the table in streams: of the entry."
            )
            raise InputError(msg)
        return _found(queries, GraphsRead(), Events((), frame, named))

    def in_spark(self, spark: "SparkSession", request: "RecogniseRequest", progress: "Progress") -> Found | None:
        """Queries over columns by Spark's workers; None where graphs are read, which is done in this process."""
        if any(graph_files(path) for path in request.events if "://" not in path):
            return None
        queries = queries_of(request.catalog)
        if not all(entry.mappings() for entry in queries):
            return None
        from pyspark.sql.pandas.types import to_arrow_schema  # noqa: PLC0415 - only where Spark is

        from foresail.pipeline.languages.spaseq import spark_job  # noqa: PLC0415 - only where Spark is
        from foresail.pipeline.sources.parquet_files import events_folder  # noqa: PLC0415 - only where Spark is
        from foresail.pipeline.sources.table import read_events  # noqa: PLC0415 - only where Spark is

        paths = [events_folder(path) for path in request.events]
        events = read_events(spark, paths, request.types, request.time_unit)
        schema = {field.name: field.type for field in to_arrow_schema(events.good.schema)}
        shared = spark_job.shared_columns(queries, schema)
        if shared is None:
            return None
        with TemporaryDirectory(dir=request.out, prefix=".bindings-") as folder, progress.step("recognising"):
            searched = spark_job.search(events.good, shared, Path(folder))
            table = spark_job.read_back(Path(folder))
        write_rows(RESULTS, table, request.out, request.form)
        marked = tuple(json.dumps({"reason": row["reason"], "raw": row["raw"]}) for row in events.rejected.collect())
        counts = count_rows(table, "query", [entry.name for entry in queries])
        notes = (*spark_job.notes_of(shared), *limit_notes(searched.limits))
        return Found(table.slice(0, 0), counts, searched.rows, notes, (*marked, *searched.rejected), searched.limits)


RUNNER = SpaseqRunner()


def queries_of(catalog: Catalog) -> list[SpaseqEntry]:
    """The queries of a catalog."""
    return [entry for entry in catalog.others if isinstance(entry, SpaseqEntry)]


def streams_of(queries: Sequence[SpaseqEntry]) -> Streams:
    """All streams that queries declare, and the files that belong to one of them."""
    declared = dict.fromkeys(stream.iri for entry in queries for stream in entry.plan().query.streams)
    of_file: dict[Path, str] = {}
    for entry in queries:
        for iri, name in entry.streams.items():
            file = (entry.folder / name).resolve()
            if iri in entry.mappings() or not file.is_file():
                continue
            if of_file.setdefault(file, iri) != iri:
                msg = f"{file}: is both <{of_file[file]}> and <{iri}>. Give each stream a file of its own."
                raise InputError(msg)
    return Streams(tuple(declared), of_file)


def _check_mapped(path: str, mapped: bool) -> None:
    if not mapped:
        msg = (
            f"{path}: holds no graphs. Give TriG, N-Quads, or JSON lines with the keys stream, time and graph; "
            "or map the table in streams: of the entry."
        )
        raise InputError(msg)


def _found(queries: Sequence[SpaseqEntry], read: GraphsRead, events: Events) -> Found:
    results: list[Binding] = []
    rejected = list(read.rejected)
    limits: dict[str, int] = {}
    notes = list(read.notes)
    declared: set[str] = set()
    made: list[GraphEvent] = []
    rows = 0
    for entry in _makers_first(queries):
        plan = entry.plan()
        declared |= plan.streams
        found = answer(entry, replace(events, graphs=[*events.graphs, *made]) if made else events)
        made += constructed(plan, found.results)
        results += found.results
        rejected += found.rejected
        notes += found.notes
        rows = max(rows, found.rows)
        for name, number in found.cut_off.items():
            limits[name] = limits.get(name, 0) + number
    rejected = list(dict.fromkeys(rejected))
    notes += _undeclared(read.events, declared)
    notes += rejected_notes(rejected)
    notes += limit_notes(limits)
    table = binding_table(results)
    counts = count_rows(table, "query", [entry.name for entry in queries])
    lines = tuple(json.dumps({"reason": r.reason, "detail": r.detail, "origin": r.origin}) for r in rejected)
    files = {CONSTRUCTED: graphs_as_trig(made)} if any(entry.plan().query.construct for entry in queries) else {}
    return Found(table, counts, len(read.events) + rows, tuple(dict.fromkeys(notes)), lines, limits, files)


def _makers_first(queries: Sequence[SpaseqEntry]) -> list[SpaseqEntry]:
    """The queries, each behind those whose graphs it reads."""
    made_by = {f"{STREAM}{entry.name}": entry for entry in queries if entry.plan().query.construct}
    ordered: list[SpaseqEntry] = []

    def place(entry: SpaseqEntry, above: tuple[str, ...]) -> None:
        if entry.name in above:
            msg = f"{entry.name}: reads its own graphs, through {' and '.join(above)}. Break the circle."
            raise InputError(msg)
        for iri in sorted(entry.plan().streams & set(made_by)):
            place(made_by[iri], (*above, entry.name))
        if entry not in ordered:
            ordered.append(entry)

    for entry in queries:
        place(entry, ())
    return ordered


def limit_notes(limits: Mapping[str, int]) -> list[str]:
    """What limits have cut off."""
    return [f"limit reached, {name}: {number:,} left out" for name, number in limits.items()]


def _undeclared(events: Iterable[GraphEvent], declared: set[str]) -> list[str]:
    other: dict[str, int] = {}
    for event in events:
        if event.stream not in declared:
            other[event.stream] = other.get(event.stream, 0) + 1
    return [f"{count_of(number, 'event')} of <{iri}>, which no query reads" for iri, number in other.items()]


def rejected_notes(rejected: Sequence[Rejected]) -> list[str]:
    """What was left out, the first ones with their places."""
    notes = [f"{one.origin}: left out, {one.reason} ({one.detail})" for one in rejected[:MOST_TOLD]]
    if len(rejected) > MOST_TOLD:
        notes.append(f"{len(rejected) - MOST_TOLD:,} more were left out")
    return notes
