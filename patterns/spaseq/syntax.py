"""A SPAseq query as a tree. Nodes are plain values with the places of what was written; they never compute."""

from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from foresail.patterns.errors import Place
from foresail.patterns.spaseq.triples import Triples

Selection: TypeAlias = Literal[",", ";", ":"]
"""Strict contiguity, skip till next match, skip till any match."""
Postfix: TypeAlias = Literal["", "+", "?", "!"]


@dataclass(frozen=True, slots=True)
class Use:
    """A graph pattern where the sequence names it; every use is a position of its own."""

    gpm: str
    place: Place


@dataclass(frozen=True, slots=True)
class Both:
    """All parts at one instant."""

    parts: tuple["Operand", ...]


@dataclass(frozen=True, slots=True)
class Either:
    """At least one part; each that matches is a result of its own."""

    parts: tuple["Operand", ...]


Operand: TypeAlias = Use | Both | Either


@dataclass(frozen=True, slots=True)
class Atom:
    """One place of the sequence: what must come, and how it is reached from the atom before it."""

    what: Operand
    postfix: Postfix
    after: Selection | None
    """None for the first atom."""
    place: Place


@dataclass(frozen=True, slots=True)
class Stream:
    """A declared stream: the name that graph patterns use, and its IRI."""

    name: str
    iri: str
    place: Place


@dataclass(frozen=True, slots=True)
class Variable:
    """A variable where it is projected, without its question mark."""

    name: str
    place: Place


@dataclass(frozen=True, slots=True)
class Filter:
    """A filter at the top level of a graph pattern."""

    text: str
    """The constraint: `(?a < ?b)`, `regex(?n, "x")`, `NOT EXISTS { ... }`."""
    reads: tuple[Variable, ...]
    """Variables outside of EXISTS."""
    looks_up: tuple[Variable, ...]
    """Variables inside of EXISTS."""
    begin: int
    end: int
    place: Place


@dataclass(frozen=True, slots=True)
class Enrichment:
    """`GRAPH <iri> { ... }` at the top level of a graph pattern."""

    graph: str
    body: str
    begin: int
    end: int
    place: Place


@dataclass(frozen=True, slots=True)
class Gpm:
    """A graph pattern matcher: a name, its stream, and a SPARQL group whose text begins at `place`."""

    name: str
    stream: str
    body: str
    place: Place
    named_at: Place
    stream_at: Place
    filters: tuple[Filter, ...] = ()
    enrichments: tuple[Enrichment, ...] = ()
    graphs: tuple[str, ...] = ()
    """All graphs of background knowledge that it names, at any depth."""
    nested_graphs: bool = False
    """Whether one of them is named below the top level."""
    words: frozenset[str] = frozenset()
    """The words of its text in upper case: OPTIONAL, MINUS and the like."""
    after_enrichment: frozenset[str] = frozenset()
    """The words at its top level that stand behind the first enrichment."""
    nested_reads: tuple[Variable, ...] = ()
    """Variables that filters below the top level read."""
    triples: Triples = field(default_factory=lambda: Triples((), True))


@dataclass(frozen=True, slots=True)
class Query:
    """A whole query; `projected` None is `SELECT *`."""

    prologue: str
    projected: tuple[Variable, ...] | None
    construct: Triples | None
    """The template of `CONSTRUCT`, in place of a projection."""
    within_us: int
    partition_by: Variable | None
    streams: tuple[Stream, ...]
    sequence: tuple[Atom, ...]
    gpms: tuple[Gpm, ...]
    place: Place
    prefixes: tuple[tuple[str, str], ...] = ()


def uses(operand: Operand) -> tuple[Use, ...]:
    """The uses of graph patterns below `operand`, in the order of the text."""
    match operand:
        case Use():
            return (operand,)
        case Both(parts) | Either(parts):
            return tuple(use for part in parts for use in uses(part))
