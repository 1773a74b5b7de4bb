"""Graph patterns over a batch of events: many graphs in one store, one query per pattern, rows by event.

Patterns that differ only in the names of their variables are asked once.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from foresail.patterns.spaseq.engine import oxigraph, table
from foresail.patterns.spaseq.filters import asking
from foresail.patterns.spaseq.graph_texts import GRAPH, read_graphs
from foresail.patterns.spaseq.knowledge import Knowledge, KnowledgeJoin, Row
from foresail.patterns.spaseq.plan import GpmPlan, Plan
from foresail.patterns.spaseq.terms import expanded

Rows: TypeAlias = dict[int, list[Row]]
"""By the number of an event the mappings of a graph pattern, in the order of the variables it keeps."""
MOST_ROWS = 10_000
"""Mappings of one graph pattern in one event."""
_MOST_ROWS_AT_ONCE = 500_000
"""Of a whole batch; where there are more, its graphs are asked one by one."""
_VARIABLE = re.compile(r"[?$](\w+)")


@dataclass(frozen=True, slots=True)
class Matched:
    """What a batch of events has in common with the graph patterns."""

    rows: tuple[Rows, ...]
    """Per graph pattern of the plan."""
    keys: dict[int, frozenset[str]]
    """By event the partitions it belongs to; empty where the query has none."""
    faults: dict[int, str]
    too_many: int
    """Events whose mappings were more than the limit: they count as not matched."""


class GraphMatcher:
    """The graph patterns of one plan over its knowledge."""

    def __init__(self, plan: Plan, knowledge: Knowledge) -> None:
        self._plan = plan
        self._knowledge = knowledge
        self._patterns = [_Pattern(gpm, plan.query.prologue, knowledge) for gpm in plan.gpms]

    def matched(self, streams: Sequence[str], texts: Sequence[str], names: Sequence[str]) -> Matched:
        """The rows of every graph pattern in the events, which are given as three columns."""
        graphs = read_graphs(texts, names)
        store = oxigraph().Store()
        store.extend(graphs.quads)
        together: dict[tuple[str, ...], Rows | None] = {}
        found = []
        too_many = 0
        for pattern in self._patterns:
            asked = None
            if not pattern.gpm.one_by_one:
                if pattern.key not in together:
                    together[pattern.key] = _all_at_once(pattern, store, graphs.empty)
                asked = together[pattern.key]
            if asked is None:
                asked = self._one_by_one(pattern, graphs.quads, streams, graphs.faults)
            rows: Rows = {}
            for event, mappings in asked.items():
                if streams[event] != pattern.gpm.stream:
                    continue
                kept = pattern.kept(mappings)
                if len(kept) > MOST_ROWS:
                    too_many += 1
                elif kept:
                    rows[event] = kept
            found.append(rows)
        return Matched(tuple(found), self._keys(store, streams), graphs.faults, too_many)

    def _one_by_one(
        self, pattern: "_Pattern", quads: Sequence[Any], streams: Sequence[str], faults: dict[int, str]
    ) -> Rows:
        """The pattern over each graph as the default one, beside the graphs of knowledge."""
        engine = oxigraph()
        store = self._knowledge.store if pattern.gpm.graphs else engine.Store()
        named = [engine.NamedNode(iri) for iri in pattern.gpm.graphs]
        store.extend(quads)
        rows: Rows = {}
        for event, stream in enumerate(streams):
            if stream == pattern.gpm.stream and event not in faults:
                graph = engine.NamedNode(f"{GRAPH}{event}")
                answer = table(store, pattern.text_of_one, default_graph=graph, named_graphs=named)
                rows[event] = [tuple(row[1:]) for row in answer]
        if pattern.gpm.graphs:
            for quad in quads:
                store.remove(quad)
        return {event: mappings for event, mappings in rows.items() if mappings}

    def _keys(self, store: Any, streams: Sequence[str]) -> dict[int, frozenset[str]]:
        """An event belongs to what stands in it where the graph patterns of its stream have the variable."""
        if self._plan.query.partition_by is None:
            return {}
        keys: dict[int, set[str]] = {}
        for stream in dict.fromkeys(streams):
            # a stream that no graph pattern reads still breaks contiguity: its events are read as those of the others
            of_stream = [gpm for gpm in self._plan.gpms if gpm.stream == stream] or self._plan.gpms
            asked = ["?k ?p ?o"] if any(gpm.partition_subject for gpm in of_stream) else []
            asked += [
                f"?s {predicate} ?k"
                for predicate in dict.fromkeys(p for gpm in of_stream for p in gpm.partition_predicates)
                if not all(gpm.partition_subject for gpm in of_stream)
            ]
            for triple in asked:
                for graph, key in table(store, f"SELECT DISTINCT ?g ?k WHERE {{ GRAPH ?g {{ {triple} }} }}"):
                    event = _event_of(graph)
                    if streams[event] == stream and key is not None:
                        keys.setdefault(event, set()).add(key)
        return {event: frozenset(found) for event, found in keys.items()}


class _Pattern:
    """One graph pattern as it is asked, and what is made of the answer."""

    def __init__(self, gpm: GpmPlan, prologue: str, knowledge: Knowledge) -> None:
        self.gpm = gpm
        wanted = {*gpm.kept, *(name for part in gpm.knowledge for name in part.variables)}
        wanted |= {name for condition in gpm.joined for name in condition.variables}
        asked = tuple(name for name in gpm.variables if name in wanted)
        graph = "g_event"
        while re.search(rf"[?$]{graph}\b", gpm.body):
            graph += "_"
        names = "".join(f" ?{name}" for name in asked)
        self.text = (
            f"{prologue} SELECT ?{graph}{names} WHERE {{ GRAPH ?{graph} {{ {gpm.body}\n}} }} LIMIT {_MOST_ROWS_AT_ONCE}"
        )
        self.text_of_one = f"{prologue} SELECT ?{graph}{names} WHERE {{ {gpm.body}\n}} LIMIT {MOST_ROWS + 1}"
        self.key = _key(gpm.body, asked)
        self._joins = []
        variables = asked
        for part in gpm.knowledge:
            join = KnowledgeJoin(variables, part, knowledge.rows(part, prologue))
            self._joins.append(join)
            variables = join.variables
        places = {name: place for place, name in enumerate(variables)}
        self._conditions = [asking(condition, places, prologue) for condition in gpm.joined]
        self._places = None if variables == gpm.kept else [places[name] for name in gpm.kept]
        self._once = set(asked) == set(gpm.variables) and not self._joins and self._places is None

    def kept(self, rows: list[Row]) -> list[Row]:
        """The rows of one event joined with knowledge, filtered, cut to what is kept, each once."""
        for join in self._joins:
            rows = join.joined(rows)
        for holds in self._conditions:
            rows = [row for row in rows if holds(row)]
        if self._places is not None:
            places = self._places
            rows = [tuple([row[place] for place in places]) for row in rows]
        return rows if len(rows) <= 1 else list(dict.fromkeys(rows))


def _key(body: str, asked: Sequence[str]) -> tuple[str, ...]:
    """Equal for patterns that differ in the names of variables alone."""
    if '"' in body or "'" in body:  # a question mark in a text is no variable
        return (body, *asked)
    names: dict[str, str] = {}
    text = _VARIABLE.sub(lambda found: names.setdefault(found[1], f"?{len(names)}"), body)
    return (" ".join(text.split()), *(names.get(name, name) for name in asked))


def _all_at_once(pattern: _Pattern, store: Any, empty: Sequence[int]) -> Rows | None:
    engine = oxigraph()
    lines = store.query(pattern.text).serialize(format=engine.QueryResultsFormat.TSV).decode().split("\n")[1:-1]
    if len(lines) >= _MOST_ROWS_AT_ONCE:
        return None
    rows: Rows = {}
    for line in lines:
        graph, *cells = line.split("\t")
        row = tuple([expanded(cell) for cell in cells])
        event = _event_of(graph)
        if event in rows:
            rows[event].append(row)
        else:
            rows[event] = [row]
    if empty:
        nothing = [tuple(row[1:]) for row in table(engine.Store(), pattern.text_of_one)]
        rows.update({event: nothing for event in empty if nothing})
    return rows


def _event_of(graph: str | None) -> int:
    assert graph is not None, "every graph of the store is an event's"
    return int(graph[len(GRAPH) + 1 : -1])
