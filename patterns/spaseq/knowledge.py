"""Background knowledge: graphs in files, read once; what a query asks of them is answered once and kept for joins."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from foresail.patterns.errors import PatternError
from foresail.patterns.spaseq.engine import oxigraph, quads_with_own_blank_nodes, table
from foresail.patterns.spaseq.plan import KnowledgePart

Row: TypeAlias = tuple[str | None, ...]
_BLANK = re.compile(r"_:|[\[(]")
RdfSyntax: TypeAlias = Literal["turtle", "trig", "n-triples", "n-quads"]


@dataclass(frozen=True, slots=True)
class KnowledgeText:
    """The text of a file of background knowledge; `name` is shown in errors."""

    name: str
    text: str
    syntax: RdfSyntax = "turtle"


class Knowledge:
    """A store with one named graph per IRI."""

    def __init__(self, graphs: Mapping[str, Sequence[KnowledgeText]] | None = None) -> None:
        engine = oxigraph()
        self.store = engine.Store()
        self.known = frozenset(graphs or ())
        formats = {
            "turtle": engine.RdfFormat.TURTLE,
            "trig": engine.RdfFormat.TRIG,
            "n-triples": engine.RdfFormat.N_TRIPLES,
            "n-quads": engine.RdfFormat.N_QUADS,
        }
        number = 0
        for iri, texts in (graphs or {}).items():
            graph = engine.NamedNode(iri)
            for text in texts:
                number += 1
                if text.syntax in ("turtle", "n-triples") and not _BLANK.search(text.text):
                    self._load(text, formats[text.syntax], graph)
                    continue
                triples = _triples_of(text, formats[text.syntax], graph)
                self.store.bulk_extend(quads_with_own_blank_nodes(triples, graph, f"k{number}"))

    def _load(self, text: KnowledgeText, syntax: Any, graph: Any) -> None:
        """Let the engine read a text by itself: ten times as fast, where no blank node needs a name that lasts."""
        try:
            self.store.bulk_load(text.text.encode(), format=syntax, to_graph=graph)
        except SyntaxError as error:
            msg = f"{text.name}: {error.args[0]}. Mend the file."
            raise PatternError(msg) from None

    def rows(self, part: KnowledgePart, prologue: str) -> list[Row]:
        """All mappings of a group over one graph."""
        if not part.variables:
            asked = self.store.query(f"{prologue} ASK {{ {part.body} }}", default_graph=self._graph(part.graph))
            return [()] if asked else []
        names = " ".join(f"?{name}" for name in part.variables)
        text = f"{prologue} SELECT DISTINCT {names} WHERE {{ {part.body}\n}}"
        return [tuple(row) for row in table(self.store, text, default_graph=self._graph(part.graph))]

    @staticmethod
    def _graph(iri: str) -> Any:
        return oxigraph().NamedNode(iri)


def _triples_of(text: KnowledgeText, syntax: Any, graph: Any) -> Iterable[Any]:
    """The triples of the default graph and of the graph that is meant; other graphs of the file are none of ours."""
    engine = oxigraph()
    try:
        for quad in engine.parse(text.text, format=syntax):
            if quad.graph_name in (engine.DefaultGraph(), graph):
                yield quad
    except SyntaxError as error:
        msg = f"{text.name}: {error.args[0]}. Mend the file."
        raise PatternError(msg) from None


class KnowledgeJoin:
    """The answer of one group over knowledge, joined with rows of an event by the variables they share."""

    def __init__(self, left: Sequence[str], part: KnowledgePart, rows: list[Row]) -> None:
        self.variables = (*left, *(name for name in part.variables if name not in left))
        shared = [name for name in part.variables if name in left]
        self._left = [left.index(name) for name in shared]
        self._right = [part.variables.index(name) for name in shared]
        self._added = [part.variables.index(name) for name in part.variables if name not in left]
        self._certain: dict[Row, list[Row]] = {}
        self._uncertain: list[Row] = []
        for row in rows:
            key = tuple(row[place] for place in self._right)
            if None in key:
                self._uncertain.append(row)
            else:
                self._certain.setdefault(key, []).append(row)
        self._all = rows

    def joined(self, rows: Sequence[Row]) -> list[Row]:
        """The rows of an event, each with what is known of it."""
        found: list[Row] = []
        for row in rows:
            key = tuple(row[place] for place in self._left)
            if None not in key:
                found += [(*row, *(other[place] for place in self._added)) for other in self._certain.get(key, ())]
                candidates: Sequence[Row] = self._uncertain
            else:
                candidates = self._all
            found += [merged for other in candidates if (merged := self._merged(row, other)) is not None]
        return found

    def _merged(self, row: Row, other: Row) -> Row | None:
        whole = list(row)
        for mine, theirs in zip(self._left, self._right, strict=True):
            term = other[theirs]
            if whole[mine] is None:
                whole[mine] = term
            elif term is not None and term != whole[mine]:
                return None
        return (*whole, *(other[place] for place in self._added))
