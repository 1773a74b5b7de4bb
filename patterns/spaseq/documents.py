"""Documents of many graphs to one text per graph: TriG and N-Quads, cut without being parsed.

Each graph is an event, and is parsed later as one. So a fault stays with the graph that has it, is told with its line,
and the rest of the document goes on. What the default graph says of a graph is its time and its stream.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from foresail.patterns.spaseq.engine import oxigraph
from foresail.patterns.spaseq.events import Rejected

TIMES = (
    "http://www.w3.org/ns/prov#generatedAtTime",
    "http://www.w3.org/ns/sosa/resultTime",
)
"""Predicates by which the default graph tells the time of a graph, the first one first."""
_TOKEN = re.compile(
    r'"""(?:[^"\\]|\\.|"(?!""))*"""|\'\'\'(?:[^\'\\]|\\.|\'(?!\'\'))*\'\'\''
    r'|"(?:[^"\\\n\r]|\\[^\n\r])*"|\'(?:[^\'\\\n\r]|\\[^\n\r])*\''
    r"|<[^<>\"{}|^`\\\x00-\x20]*>|#[^\n]*|[{}]|\.(?=[\s}#]|$)",
    re.DOTALL,
)
_DIRECTIVE = re.compile(r"@(?:prefix|base)\b|(?:prefix|base)\b(?=[\s<])", re.IGNORECASE)
_BARE_DIRECTIVE = re.compile(r"(?:prefix\s+[^\s<]*|base)\s*<[^>]*>\Z", re.IGNORECASE)
_PREFIX = re.compile(r"prefix\s+([^\s:]*):\s*<([^>]*)>", re.IGNORECASE)
_BASE = re.compile(r"base\s*<([^>]*)>", re.IGNORECASE)
_NAME_AT_END = re.compile(r"(?:\bgraph\s+)?(?:<[^<>\s]*>|_:[\w.-]+|[\w.-]*:[^\s<>{}\"';,]*)\s*\Z", re.IGNORECASE)
_BLANK = re.compile(r"(?:\s+|#[^\n]*(?:\n|\Z))*")
_QUAD = re.compile(
    r"\s*(<[^>]*>|_:[^\s<]+)\s*(<[^>]*>)\s*"
    r'(<[^>]*>|_:[^\s<]*[^\s<.]|"(?:[^"\\]|\\.)*"(?:@[A-Za-z0-9-]+|\^\^<[^>]*>)?)\s*'
    r"(<[^>]*>|_:[^\s<]*[^\s<.])?\s*\.\s*(?:#.*)?"
)


@dataclass(slots=True)
class NamedGraph:
    """A graph of a document, with what the default graph says of it."""

    name: str
    text: str
    """Turtle."""
    origin: str
    """`file:line`."""
    time: str | None = None
    """The text of the literal."""
    linked: list[str] = field(default_factory=list)
    """The IRIs that the default graph links it with; its stream is among them."""


@dataclass(slots=True)
class Graphs:
    """What a document holds."""

    graphs: list[NamedGraph] = field(default_factory=list)
    rejected: list[Rejected] = field(default_factory=list)


def read_trig(text: str, source: str) -> Graphs:
    """The named graphs of a TriG document; `source` names it in places."""
    return _Trig(text, source).read()


def read_quads(text: str, source: str) -> Graphs:
    """The named graphs of an N-Quads document, in the order in which they begin."""
    found = Graphs()
    bodies: dict[str, tuple[int, list[str]]] = {}
    said: list[tuple[str, str]] = []
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        quad = _QUAD.fullmatch(line)
        if quad is None:
            found.rejected.append(Rejected(f"{source}:{number}", "malformed line", "not an N-Quads statement"))
            continue
        subject, predicate, object_, graph = quad.groups()
        statement = f"{subject} {predicate} {object_} ."
        if graph is None:
            said.append((f"{source}:{number}", statement))
        else:
            bodies.setdefault(graph, (number, []))[1].append(statement)
    found.graphs = [
        NamedGraph(_bare(name), "\n".join(lines), f"{source}:{number}") for name, (number, lines) in bodies.items()
    ]
    _tell(found, said, "")
    return found


class _Trig:
    """Cuts one document; braces never nest in TriG, which is how an unclosed graph is noticed."""

    def __init__(self, text: str, source: str) -> None:
        self._text = text
        self._source = source
        self._found = Graphs()
        self._by_name: dict[str, NamedGraph] = {}
        self._said: list[tuple[str, str]] = []
        self._head = ""
        self._prefixes: dict[str, str] = {}
        self._base = ""
        self._counted = (0, 1)
        self._dot = 0
        """Behind the last dot that ends a statement."""

    def read(self) -> Graphs:
        text = self._text
        begin = self._behind_blanks(0)
        opened: int | None = None
        for token in _TOKEN.finditer(text):
            sign, at = token[0], token.start()
            if at < begin or sign[0] == "#":
                continue
            if sign == ".":
                self._dot = token.end()
            if sign == "{":
                if opened is not None:
                    begin = self._unclosed(begin, opened, at)
                opened = at + 1
            elif sign == "}":
                if opened is None:
                    self._reject(begin, "a '}' that closes nothing")
                else:
                    self._graph(begin, opened, at)
                begin, opened = self._behind_blanks(at + 1), None
            elif opened is None and (sign == "." or (sign[0] == "<" and self._bare_directive(begin, token.end()))):
                self._statement(begin, token.end())
                begin = self._behind_blanks(token.end())
        if opened is not None:
            self._reject(begin, "the graph is not closed by a '}'")
        elif begin < len(text):
            self._reject(begin, "the statement does not end")
        _tell(self._found, self._said, self._head)
        return self._found

    def _behind_blanks(self, at: int) -> int:
        found = _BLANK.match(self._text, at)
        return found.end() if found else at

    def _line(self, at: int) -> int:
        counted, line = self._counted
        line = line + self._text.count("\n", counted, at) if at >= counted else self._text.count("\n", 0, at) + 1
        self._counted = (at, line)
        return line

    def _reject(self, begin: int, detail: str) -> None:
        self._found.rejected.append(Rejected(f"{self._source}:{self._line(begin)}", "malformed graph", detail))

    def _bare_directive(self, begin: int, end: int) -> bool:
        return bool(_BARE_DIRECTIVE.fullmatch(self._text, begin, end))

    def _statement(self, begin: int, end: int) -> None:
        written = self._text[begin:end]
        if not _DIRECTIVE.match(written):
            self._said.append((f"{self._source}:{self._line(begin)}", written))
            return
        self._head += written + "\n"
        if prefix := _PREFIX.search(written):
            self._prefixes[prefix[1]] = prefix[2]
        elif base := _BASE.search(written):
            self._base = base[1]

    def _unclosed(self, begin: int, opened: int, at: int) -> int:
        """Reject the graph that another one follows without a brace between; where the other one begins."""
        self._reject(begin, "the graph is not closed by a '}'")
        name = _NAME_AT_END.search(self._text, opened, at)
        return name.start() if name else at

    def _graph(self, begin: int, opened: int, end: int) -> None:
        words = self._text[begin : opened - 1].split()
        if words and words[0].upper() == "GRAPH":
            words = words[1:]
        body = self._ended(opened, end)
        origin = f"{self._source}:{self._line(begin)}"
        if not words:
            self._said.append((origin, body))
            return
        name = self._resolved(words[0]) if len(words) == 1 else None
        if name is None:
            self._reject(begin, f"'{' '.join(words)[:60]}' names no graph")
            return
        known = self._by_name.get(name)
        if known is None:
            known = self._by_name[name] = NamedGraph(name, self._head + body, origin)
            self._found.graphs.append(known)
        else:
            known.text = f"{known.text}\n{self._head}{body}"

    def _ended(self, begin: int, end: int) -> str:
        """The inside of a graph as Turtle, which wants a dot behind the last statement as well."""
        dot = max(self._dot, begin)
        body = self._text[begin:end]
        return body if self._behind_blanks(dot) >= end else f"{body}\n."

    def _resolved(self, name: str) -> str | None:
        if name.startswith("<"):
            iri = name[1:-1]
            return iri if ":" in iri else self._base + iri
        if name.startswith("_:"):
            return name
        prefix, colon, local = name.partition(":")
        if not colon or prefix not in self._prefixes:
            return None
        return self._prefixes[prefix] + local.replace("\\", "")


def _tell(found: Graphs, said: list[tuple[str, str]], head: str) -> None:
    """Note what the default graph says of each graph; statements that are malformed are rejected one by one."""
    by_name = {graph.name: graph for graph in found.graphs}
    ranks: dict[str, int] = {}
    for subject, predicate, object_ in _statements(found, said, head):
        graph = by_name.get(subject)
        if graph is None:
            continue
        if predicate in TIMES:
            rank = TIMES.index(predicate)
            if rank <= ranks.get(subject, len(TIMES)):
                graph.time, ranks[subject] = object_.value, rank
        elif hasattr(object_, "value"):
            graph.linked.append(object_.value)


def _statements(found: Graphs, said: list[tuple[str, str]], head: str) -> Iterator[tuple[str, str, Any]]:
    whole = head + "\n".join(statement for _, statement in said)
    try:
        yield from list(_parsed(whole))
        return
    except SyntaxError:
        pass
    for origin, statement in said:
        try:
            yield from list(_parsed(head + statement))
        except SyntaxError as error:
            found.rejected.append(Rejected(origin, "malformed statement", str(error.args[0])))


def _parsed(text: str) -> Iterator[tuple[str, str, Any]]:
    engine = oxigraph()
    for quad in engine.parse(text, format=engine.RdfFormat.TURTLE):
        subject = f"_:{quad.subject.value}" if isinstance(quad.subject, engine.BlankNode) else quad.subject.value
        yield subject, quad.predicate.value, quad.object


def _bare(name: str) -> str:
    return name[1:-1] if name.startswith("<") else name
