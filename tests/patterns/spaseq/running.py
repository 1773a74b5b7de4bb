"""Cases as queries over the machine, and the machine's results in the form of the reference."""

from typing import Any

from foresail.patterns.errors import Place
from foresail.patterns.spaseq.events import GraphEvent
from foresail.patterns.spaseq.knowledge import Knowledge, KnowledgeText
from foresail.patterns.spaseq.machine import Machine, Read
from foresail.patterns.spaseq.options import Options
from foresail.patterns.spaseq.plan import compile_query
from foresail.patterns.spaseq.results import Binding

SECOND_US = 1_000_000
PREFIX = "PREFIX : <http://ex/> "
TURTLE = "@prefix : <http://ex/> . "
DB = "http://ex/db"
BODIES = {
    "A": ("u1", "?h :pow ?p . ?h :loc ?l"),
    "B": ("u2", "?w :value ?v . ?w :loc ?l"),
    "C": ("u3", "?q :rain ?m . ?q :loc ?l"),
}


def stream(name: str) -> str:
    return f"http://streams/{name}"


def event(name: str, time: int, triples: str) -> GraphEvent:
    return GraphEvent(stream(name), time * SECOND_US, TURTLE + triples, f"{name}@{time}")


def p(time: int, n: int, at: int) -> GraphEvent:
    return event("u1", time, f":H{n} :pow :Pw{n} ; :loc :L{at} .")


def w(time: int, n: int, at: int) -> GraphEvent:
    return event("u2", time, f":W{n} :value :Vl{n} ; :loc :L{at} .")


def query(
    seq: str,
    within: int,
    bodies: dict[str, tuple[str, str]] | None = None,
    select: str = "*",
    streams: str = "u1 u2 u3",
    partition_by: str = "",
) -> str:
    """The text of a query; WITHIN in seconds."""
    chosen = BODIES if bodies is None else bodies
    declared = " ".join(f"FROM STREAM {name} <{stream(name)}>" for name in streams.split())
    used = {name: said for name, said in chosen.items() if name in seq}
    gpms = "\n".join(f"DEFINE GPM {name} ON {on} {{ {body} }}" for name, (on, body) in used.items())
    by = f" PARTITION BY {partition_by}" if partition_by else ""
    return f"{PREFIX}\nSELECT {select} WITHIN {within} SECONDS{by} {declared}\nWHERE {{ SEQ({seq})\n{gpms} }}"


def machine(text: str, knowledge: str | None = None, start: int | None = None, **options: Any) -> Machine:
    start_us = None if start is None else start * SECOND_US
    plan = compile_query(text, Place("q"), Options(start_us=start_us, **options))
    return Machine(plan, Knowledge({} if knowledge is None else {DB: [KnowledgeText("kb.ttl", TURTLE + knowledge)]}))


def read(
    text: str, events: list[GraphEvent], knowledge: str | None = None, start: int | None = None, **options: Any
) -> Read:
    made = machine(text, knowledge, start, **options)
    return made.advance(made.fresh(), events)


def results(text: str, events: list[GraphEvent], **options: Any) -> list[Binding]:
    return read(text, events, **options).results


def short(term: str) -> str:
    if term.startswith("<"):
        return term.removeprefix("<http://ex/").rstrip(">")
    return term.split("^^", maxsplit=1)[0].strip('"')


def said(found: list[Binding]) -> set[str]:
    """`@time` and the values of each result, in the order of the projection."""
    return {f"@{one.time_us // SECOND_US} " + " ".join(map(short, one.bindings.values())) for one in found}


def traces(found: list[Binding]) -> list[str]:
    """Each result as its events: `A1 B2`."""
    return sorted(" ".join(f"{one.gpm}{one.time_us // SECOND_US}" for one in each.events) for each in found)
