"""The one door to pyoxigraph, the SPARQL engine of the extra `rdf`: what it is asked, and its faults in our words."""

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

from foresail.patterns.errors import PatternError, Place
from foresail.patterns.spaseq.terms import expanded

if TYPE_CHECKING:
    from pyoxigraph import Quad, Store

_AT = re.compile(r"error at (\d+):(\d+): ")
_VARIABLE = re.compile(r"[?$](\w+)")
_MOST_SAID = 200


class MissingEngineError(PatternError):
    """The extra `rdf` is not installed."""


@cache
def oxigraph() -> Any:
    """The module; where it is missing the error says what to install."""
    try:
        import pyoxigraph  # noqa: PLC0415 - an extra: patterns of other languages do without
    except ImportError:
        msg = "SPAseq over graphs needs the package pyoxigraph. Install it: pip install 'foresail[rdf]'."
        raise MissingEngineError(msg) from None
    return pyoxigraph


def variables_of(prologue: str, body: str, place: Place) -> tuple[str, ...]:
    """The variables that a group can bind, in the order of the text; a fault of its syntax is shown where it stands."""
    # the group begins on a line of its own, so that the engine's lines count from where the group begins
    text = f"{prologue} SELECT * WHERE {{\n{body}\n}}"
    try:
        bound = {variable.value for variable in oxigraph().Store().query(text).variables}
        return tuple(dict.fromkeys(name for name in _VARIABLE.findall(body) if name in bound))
    except SyntaxError as error:
        said = str(error.args[0])
        found = _AT.search(said)
        if found is None:
            where, fault = place, said
        else:
            where, fault = place.at(max(int(found[1]) - 1, 1), int(found[2])), said[found.end() :]
        msg = f"{where}: not SPARQL: {fault[:_MOST_SAID]}. Mend the graph pattern."
        raise PatternError(msg) from None


def table(store: "Store", text: str, **dataset: Any) -> Iterator[Sequence[str | None]]:
    """The answer of a SELECT, row by row: each term in N-Triples notation, None where a variable is unbound.

    The engine writes the whole answer as one text: a tenth of the time that an object per term takes.
    """
    engine = oxigraph()
    answer: Any = store.query(text, **dataset).serialize(format=engine.QueryResultsFormat.TSV)
    lines = answer.decode().split("\n")
    for line in lines[1:-1]:
        yield [expanded(cell) for cell in line.split("\t")]


def quads_with_own_blank_nodes(quads: Iterable["Quad"], graph: Any, mark: str) -> "list[Quad]":
    """The triples as quads of `graph`; blank nodes are named after `mark` and the order in which they come.

    A blank node belongs to one graph alone, and its name must be the same wherever and whenever the graph is read.
    """
    engine = oxigraph()
    blank, quad = engine.BlankNode, engine.Quad
    names: dict[Any, Any] = {}

    def own(term: Any) -> Any:
        if isinstance(term, blank):
            return names.setdefault(term, blank(f"{mark}n{len(names)}"))
        return term

    return [quad(own(subject), predicate, own(object_), graph) for subject, predicate, object_, _ in quads]


def term_of(text: str) -> Any:
    """The engine's term of a text in N-Triples notation."""
    engine = oxigraph()
    if text.startswith("_:"):
        return engine.BlankNode(text[2:])
    (triple,) = engine.parse(f"<e:s> <e:p> {text} .", format=engine.RdfFormat.N_TRIPLES)
    return triple.object
