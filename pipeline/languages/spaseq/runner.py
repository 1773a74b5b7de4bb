"""SPAseq's runner: queries of a catalog over files and frames, each by the path that it can take."""

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from foresail.patterns.catalog.loader import Catalog
from foresail.patterns.spaseq.entry import SpaseqEntry
from foresail.patterns.spaseq.events import GraphEvent, Rejected
from foresail.patterns.spaseq.knowledge import Knowledge
from foresail.patterns.spaseq.machine import Machine
from foresail.patterns.spaseq.results import Binding
from foresail.pipeline.errors import InputError
from foresail.pipeline.languages.runner import Found, count_rows
from foresail.pipeline.languages.spaseq.graph_files import (
    GRAPH,
    GraphsRead,
    Streams,
    graph_files,
    read_graph_files,
    read_graph_frame,
)
from foresail.pipeline.languages.spaseq.knowledge_files import knowledge_of
from foresail.pipeline.languages.spaseq.results import RESULTS, binding_table
from foresail.pipeline.local.frames import Frame
from foresail.pipeline.local.sorted_events import Named
from foresail.pipeline.reports.page import count_of

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from foresail.pipeline.jobs.recognise_request import RecogniseRequest
    from foresail.pipeline.local.trying import EventSource
    from foresail.pipeline.progress import Progress

MOST_TOLD = 5
"""Rejected events that notes tell one by one."""


class SpaseqRunner:
    """How queries are run."""

    results = RESULTS

    def in_files(self, catalog: Catalog, source: "EventSource") -> Found:
        """What queries find in files, in this process."""
        queries = queries_of(catalog)
        streams = streams_of(queries)
        given = list(dict.fromkeys([*source.paths, *map(str, streams.of_file)]))
        files = [file for path in given for file in _graphs_at(path)]
        read = read_graph_files(files, streams, source.named.time_unit)
        return _found(queries, read)

    def in_frame(self, catalog: Catalog, frame: Frame, named: Named) -> Found:
        """The same in a table in memory."""
        queries = queries_of(catalog)
        if GRAPH not in frame.columns:
            msg = "events: there is no column 'graph'. Give one with Turtle texts, beside 'time' and 'stream'."
            raise InputError(msg)
        return _found(queries, read_graph_frame(frame, streams_of(queries), named.time, named.time_unit))

    def in_spark(self, spark: "SparkSession", request: "RecogniseRequest", progress: "Progress") -> Found | None:
        """Graphs are read in this process."""
        del spark, request, progress
        return None


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
            if not file.is_file():
                continue
            if of_file.setdefault(file, iri) != iri:
                msg = f"{file}: is both <{of_file[file]}> and <{iri}>. Give each stream a file of its own."
                raise InputError(msg)
    return Streams(tuple(declared), of_file)


def machine_of(entry: SpaseqEntry) -> Machine:
    """A query with its knowledge, ready to run over graphs."""
    return Machine(entry.plan(), Knowledge(knowledge_of(entry)))


def _graphs_at(path: str) -> list[str]:
    files = graph_files(path)
    if not files:
        msg = f"{path}: holds no graphs. Give TriG, N-Quads, or JSON lines with the keys stream, time and graph."
        raise InputError(msg)
    return files


def _found(queries: Sequence[SpaseqEntry], read: GraphsRead) -> Found:
    results: list[Binding] = []
    rejected = list(read.rejected)
    limits: dict[str, int] = {}
    notes = list(read.notes)
    declared: set[str] = set()
    for entry in queries:
        machine = machine_of(entry)
        declared |= machine.plan.streams
        notes += machine.warnings
        found = machine.advance(machine.fresh(), read.events)
        results += found.results
        rejected += found.rejected
        for name, number in found.cut_off.items():
            limits[name] = limits.get(name, 0) + number
    rejected = list(dict.fromkeys(rejected))
    notes += _undeclared(read.events, declared)
    notes += rejected_notes(rejected)
    notes += [f"limit reached, {name}: {number:,} left out" for name, number in limits.items()]
    table = binding_table(results)
    counts = count_rows(table, "query", [entry.name for entry in queries])
    lines = tuple(json.dumps({"reason": r.reason, "detail": r.detail, "origin": r.origin}) for r in rejected)
    return Found(table, counts, len(read.events), tuple(dict.fromkeys(notes)), lines, limits)


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
