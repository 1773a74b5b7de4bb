"""Many small Turtle texts to quads of one store, each text a graph of its own.

The engine takes longer to begin a text than to read three triples. So texts with the same prefixes are read as one,
with a triple between them that no text can hold, since it names the hash of all. Where that fails (a fault in one of
them, or a text that only its neighbour completes) every text is read by itself, and the bad ones are known.
"""

import hashlib
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from foresail.patterns.spaseq.engine import oxigraph, quads_with_own_blank_nodes

_PROLOGUE = re.compile(
    r"(?:\s*(?:@prefix\s+[^\s<]*\s*<[^<>]*>\s*\.|@base\s*<[^<>]*>\s*\.|(?i:prefix)\s+[^\s<]*\s*<[^<>]*>|(?i:base)\s*<[^<>]*>))*"
)
_DIRECTIVE = re.compile(r"(?i)prefix|base|version")
_BLANK = re.compile(r"_:|[\[(]")
GRAPH = "e:"
"""Before the number of an event: the name of its graph in the store."""


@dataclass(slots=True)
class Graphs:
    """What has been read: quads of all good texts, and the faults of the others by their number."""

    quads: list[Any] = field(default_factory=list)
    empty: list[int] = field(default_factory=list)
    faults: dict[int, str] = field(default_factory=dict)


def read_graphs(texts: Sequence[str], names: Sequence[str]) -> Graphs:
    """The graphs of `texts`; blank nodes of text i are named after `names[i]`."""
    found = Graphs()
    alike: dict[str, list[int]] = {}
    for number, text in enumerate(texts):
        prologue = _PROLOGUE.match(text)
        head = prologue[0] if prologue else ""
        if _DIRECTIVE.search(text, len(head)):
            _read_alone(number, text, names[number], found)
        else:
            alike.setdefault(head, []).append(number)
    for head, numbers in alike.items():
        if not _read_together(head, numbers, texts, names, found):
            for number in numbers:
                _read_alone(number, texts[number], names[number], found)
    return found


def _read_together(head: str, numbers: list[int], texts: Sequence[str], names: Sequence[str], found: Graphs) -> bool:
    bodies = [texts[number][len(head) :] for number in numbers]
    whole = "\n".join(bodies)
    mark = f"urn:foresail:end:{hashlib.sha256(whole.encode()).hexdigest()}"
    parts = [head]
    for body in bodies:
        parts += [body, f"<{mark}> <{mark}> <{mark}> ."]
    try:
        graphs = list(_between(mark, "\n".join(parts), numbers, names, bool(_BLANK.search(whole))))
    except SyntaxError:
        return False
    if len(graphs) != len(numbers):
        return False
    for number, quads in zip(numbers, graphs, strict=True):
        if quads:
            found.quads += quads
        else:
            found.empty.append(number)
    return True


def _between(mark: str, text: str, numbers: list[int], names: Sequence[str], blank: bool) -> Iterator[list[Any]]:
    engine = oxigraph()
    quad, named_node = engine.Quad, engine.NamedNode
    end = named_node(mark)
    count = 0
    graph = named_node(f"{GRAPH}{numbers[0]}")
    triples: list[Any] = []
    for triple in engine.parse(text, format=engine.RdfFormat.TURTLE):
        subject, predicate, object_, _ = triple
        if subject == end:
            yield quads_with_own_blank_nodes(triples, graph, names[numbers[count]]) if blank else triples
            count += 1
            triples = []
            graph = named_node(f"{GRAPH}{numbers[count]}") if count < len(numbers) else None
        else:
            triples.append(triple if blank else quad(subject, predicate, object_, graph))


def _read_alone(number: int, text: str, name: str, found: Graphs) -> None:
    engine = oxigraph()
    graph = engine.NamedNode(f"{GRAPH}{number}")
    try:
        quads = quads_with_own_blank_nodes(engine.parse(text, format=engine.RdfFormat.TURTLE), graph, name)
    except SyntaxError as error:
        found.faults[number] = str(error.args[0])
        return
    if quads:
        found.quads += quads
    else:
        found.empty.append(number)
