"""Graphs that a query constructs: its template filled in for each result, all of one instant as one event.

The events are of a stream named after the query, so that another query can read them.
"""

from collections.abc import Iterable

from foresail.patterns.spaseq.events import GraphEvent
from foresail.patterns.spaseq.plan import Plan
from foresail.patterns.spaseq.results import Binding
from foresail.patterns.spaseq.triples import Triple

STREAM = "urn:foresail:query:"
"""The stream of a query's graphs is this and its name."""


def constructed(plan: Plan, results: Iterable[Binding]) -> list[GraphEvent]:
    """The events that results make; none where the query selects, or nothing of a template is bound."""
    construct = plan.query.construct
    if construct is None:
        return []
    by_time: dict[int, list[str]] = {}
    for one in results:
        said = by_time.setdefault(one.time_us, [])
        said += _filled(construct.found, one)
    stream = f"{STREAM}{plan.name}"
    return [
        GraphEvent(stream, time_us, "\n".join(dict.fromkeys(said)), plan.name)
        for time_us, said in sorted(by_time.items())
        if said
    ]


def _filled(template: Iterable[Triple], one: Binding) -> Iterable[str]:
    """The triples of one result; blank nodes of the template are its own, and what is not bound makes no triple."""
    for triple in template:
        terms = [_term(term, one) for term in (triple.subject, triple.predicate, triple.object)]
        subject, predicate, object_ = terms
        if subject and predicate and object_ and not subject.startswith('"') and predicate.startswith("<"):
            yield f"{subject} {predicate} {object_} ."


def _term(term: str, one: Binding) -> str | None:
    if term.startswith("?"):
        return one.bindings.get(term[1:])
    return f"_:r{one.binding_id}{term[2:]}" if term.startswith("_:") else term
