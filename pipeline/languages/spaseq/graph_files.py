"""Files and frames of graphs to events: TriG, N-Quads, JSON lines, and tables with the columns stream, time and graph.

Nothing is parsed here but JSON. What cannot be an event is kept with its place and its reason, and the rest goes on.
"""

import json
import sys
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa

from foresail.patterns.errors import nearest
from foresail.patterns.spaseq.documents import NamedGraph, read_quads, read_trig
from foresail.patterns.spaseq.events import GraphEvent, Rejected
from foresail.pipeline.errors import InputError
from foresail.pipeline.local.event_times import read_times
from foresail.pipeline.local.files import PACKINGS, STANDARD_INPUT
from foresail.pipeline.local.frames import Frame

STREAM, TIME, GRAPH = "stream", "time", "graph"
DOCUMENTS = {".trig": read_trig, ".nq": read_quads, ".nquads": read_quads}
LINES = (".jsonl", ".ndjson", ".json")
_FIRST_SIGNS = 4_096


@dataclass(frozen=True, slots=True)
class Streams:
    """The streams that queries declare, and which of them a file belongs to as a whole."""

    declared: tuple[str, ...]
    of_file: Mapping[Path, str] = field(default_factory=dict)

    def of(self, file: str) -> str | None:
        """The stream of everything in a file, where that is said, or where there is but one."""
        own = None if file == STANDARD_INPUT else self.of_file.get(Path(file).resolve())
        return own or (self.declared[0] if len(self.declared) == 1 else None)


@dataclass(slots=True)
class Untimed:
    """An event whose time is still as it was written."""

    stream: str
    time: Any
    text: str
    origin: str


@dataclass(slots=True)
class GraphsRead:
    """The events of files, and what was none."""

    events: list[GraphEvent] = field(default_factory=list)
    rejected: list[Rejected] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def holds_graphs(path: str) -> bool:
    """Whether a file holds graphs rather than a table: told by its name, of JSON lines by the first one."""
    if path == STANDARD_INPUT:
        return True
    suffix = _suffix(path)
    if suffix in DOCUMENTS:
        return True
    if suffix not in LINES or not Path(path).is_file():
        return False
    with _opened(path) as stream:
        first = next((line for line in stream.read(_FIRST_SIGNS).split(b"\n") if line.strip()), b"")
    return b'"graph"' in first


def read_graph_files(paths: Iterable[str], streams: Streams, time_unit: str | None) -> GraphsRead:
    """The events of all files, in the order in which they stand."""
    read = GraphsRead()
    untimed: list[Untimed] = []
    for path in paths:
        text = _text_of(path)
        form = _suffix(path) if path != STANDARD_INPUT else _form_of(text)
        name = "standard input" if path == STANDARD_INPUT else Path(path).name
        if form in DOCUMENTS:
            document = DOCUMENTS[form](text, name)
            read.rejected += document.rejected
            untimed += _of_document(document.graphs, streams, streams.of(path), read)
        else:
            untimed += _of_lines(text, name, streams.of(path), read)
    _timed(untimed, time_unit, read)
    return read


def read_graph_frame(frame: Frame, streams: Streams, time: str, time_unit: str | None) -> GraphsRead:
    """The events of a table that has a graph in each row."""
    read = GraphsRead()
    only = streams.of(STANDARD_INPUT)
    times = frame.column(time).to_pylist()
    graphs = frame.column(GRAPH).to_pylist()
    named = frame.column(STREAM).to_pylist() if STREAM in frame.columns else [only] * frame.rows
    untimed: list[Untimed] = []
    for number, (stream, moment, graph) in enumerate(zip(named, times, graphs, strict=True)):
        row = {STREAM: stream, TIME: moment, GRAPH: graph}
        untimed += _of_row(row, f"row {number}", only, read)
    _timed(untimed, time_unit, read)
    return read


def _of_lines(text: str, name: str, only: str | None, read: GraphsRead) -> Iterator[Untimed]:
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        origin = f"{name}:{number}"
        try:
            row = json.loads(line)
        except (ValueError, RecursionError):
            row = None
        if not isinstance(row, dict):
            read.rejected.append(Rejected(origin, "unreadable", "not a JSON object"))
            continue
        yield from _of_row(row, origin, only, read)


def _of_row(row: Mapping[str, Any], origin: str, only: str | None, read: GraphsRead) -> Iterator[Untimed]:
    stream, graph = row.get(STREAM) or only, row.get(GRAPH)
    if not isinstance(graph, str):
        read.rejected.append(Rejected(origin, "no graph", "the key graph holds no text"))
    elif not isinstance(stream, str):
        read.rejected.append(Rejected(origin, "no stream", "the key stream holds no IRI"))
    else:
        yield Untimed(stream.strip().removeprefix("<").removesuffix(">"), row.get(TIME), graph, origin)


def _of_document(
    graphs: Sequence[NamedGraph], streams: Streams, only: str | None, read: GraphsRead
) -> Iterator[Untimed]:
    for graph in graphs:
        named = [iri for iri in dict.fromkeys(graph.linked) if iri in streams.declared]
        stream = named[0] if len(named) == 1 else _by_name(graph.name, streams.declared) if not named else None
        stream = stream or (only if not named else None)
        if stream is None:
            detail = f"<{graph.name}> is linked with {len(named) or 'no'} declared stream{'s' * (len(named) != 1)}"
            read.rejected.append(Rejected(graph.origin, "no stream", detail))
        else:
            yield Untimed(stream, graph.time, graph.text, graph.origin)


def _by_name(graph: str, declared: Collection[str]) -> str | None:
    """The declared stream whose IRI the graph's goes on from."""
    begun = [iri for iri in declared if graph.startswith(iri) and graph[len(iri) :][:1] in ("/", "#", "?", ":", "")]
    return max(begun, key=len, default=None)


def _timed(untimed: list[Untimed], unit: str | None, read: GraphsRead) -> None:
    """Give the events their times; those without one are rejected."""
    if not untimed:
        return

    def say(unit: str) -> None:
        read.notes.append(f"times are numbers, taken as {unit}; --time-unit says otherwise")

    column = _column([one.time for one in untimed])
    times = read_times(column, TIME, unit, say)
    if times.naive:
        read.notes.append("times without a zone are taken as UTC")
    known = [True] * len(untimed) if times.known is None else times.known.tolist()
    for one, time_us, good in zip(untimed, times.micros.tolist(), known, strict=True):
        if good:
            read.events.append(GraphEvent(one.stream, time_us, one.text, one.origin))
        else:
            reason = "no time" if one.time is None else "bad time"
            read.rejected.append(Rejected(one.origin, reason, f"{one.time!r} is no time" if one.time else "none given"))


def _column(values: list[Any]) -> pa.Array:
    """Times as one type: as they are where all are alike, else as texts."""
    try:
        array = pa.array(values)
    except (pa.ArrowException, OverflowError):
        array = None
    if array is None or pa.types.is_nested(array.type) or pa.types.is_boolean(array.type):
        array = pa.array([None if value is None else str(value) for value in values], pa.string())
    return array


def _suffix(path: str) -> str:
    place = Path(path)
    return (place.with_suffix("") if place.suffix in PACKINGS else place).suffix.lower()


def _opened(path: str) -> Any:
    return pa.input_stream(path, compression=PACKINGS.get(Path(path).suffix))


def _form_of(text: str) -> str:
    """What a pipe brings, told by its beginning."""
    first = text.lstrip("\ufeff \t\r\n")
    return ".jsonl" if first.startswith("{") else ".trig"


def _text_of(path: str) -> str:
    try:
        if path == STANDARD_INPUT:
            content = sys.stdin.buffer.read()
        else:
            with _opened(path) as stream:
                content = stream.read()
        return content.decode("utf-8").removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        msg = f"{path}: is not UTF-8 (byte {error.start:,}). Convert it, as with iconv -f latin1 -t utf8."
        raise InputError(msg) from None
    except (OSError, pa.ArrowException) as error:
        msg = f"{path}: cannot be read ({str(error).splitlines()[0][:120]}). Name a file of graphs."
        raise InputError(msg) from None


def graph_files(path: str) -> list[str]:
    """The files of graphs at `path`: itself, or those in a folder; none where it holds tables."""
    place = Path(path)
    if path == STANDARD_INPUT or place.is_file():
        return [path] if holds_graphs(path) else []
    if not place.exists():
        siblings = [file.name for file in place.parent.glob("*")] if place.parent.is_dir() else []
        msg = f"{path}: no such file or folder. {nearest(place.name, siblings)}".rstrip()
        raise InputError(msg)
    return [str(file) for file in sorted(place.rglob("*")) if file.is_file() and holds_graphs(str(file))]
