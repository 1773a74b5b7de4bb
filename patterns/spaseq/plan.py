"""A checked query as what runs: one SPARQL query per graph pattern, conditions of the joins, and the atoms of SEQ.

`compile_query` knows the order of the passes and nothing else.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import product

from foresail.patterns.errors import PatternError, Place
from foresail.patterns.spaseq.check import check_names, check_variables
from foresail.patterns.spaseq.engine import MissingEngineError, variables_of
from foresail.patterns.spaseq.expressions import Mu
from foresail.patterns.spaseq.filters import Condition, SplitFilters, asking, check_nested, split_filters
from foresail.patterns.spaseq.options import Options
from foresail.patterns.spaseq.parser import parse_query
from foresail.patterns.spaseq.syntax import Both, Gpm, Operand, Postfix, Query, Selection, Use, uses

_ONE_BY_ONE = frozenset({"MINUS", "SELECT", "VALUES"})
"""Inside `GRAPH ?g` the engine evaluates these over all graphs at once, which is another question."""
_NOT_COMMUTING = frozenset({"OPTIONAL", "MINUS", "BIND", "VALUES", "UNION", "SELECT"})
MOST_ALTERNATIVES = 64


@dataclass(frozen=True, slots=True)
class KnowledgePart:
    """A group over one graph of background knowledge: evaluated once, joined with every event."""

    graph: str
    body: str
    variables: tuple[str, ...]
    place: Place


@dataclass(frozen=True, slots=True)
class GpmPlan:
    """A graph pattern matcher as it is evaluated."""

    name: str
    stream: str
    """An IRI."""
    body: str
    """The group over the event's own graph."""
    variables: tuple[str, ...]
    """What the group binds."""
    one_by_one: bool
    """Evaluated graph by graph, because the engine cannot do it for many at once."""
    knowledge: tuple[KnowledgePart, ...]
    graphs: tuple[str, ...]
    """Graphs of knowledge that the body itself reads."""
    joined: tuple[Condition, ...]
    stateful: tuple[Condition, ...]
    kept: tuple[str, ...]
    """Of all that it binds, what the rest of the query can see."""
    partition_subject: bool
    """An event belongs to the partitions of its subjects; else to those of the objects of `partition_predicates`."""
    partition_predicates: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Alternative:
    """One way to match an atom: uses of graph patterns at one instant, by their numbers."""

    uses: tuple[int, ...]
    conditions: tuple[Callable[[Mu], bool], ...]


@dataclass(frozen=True, slots=True)
class AtomPlan:
    """One atom of the sequence."""

    alternatives: tuple[Alternative, ...]
    postfix: Postfix
    after: Selection | None


@dataclass(frozen=True, slots=True)
class Plan:
    """A query ready to run."""

    name: str
    query: Query
    options: Options
    gpms: tuple[GpmPlan, ...]
    use_gpm: tuple[int, ...]
    """The graph pattern of every use in the sequence, in the order of the text."""
    atoms: tuple[AtomPlan, ...]
    slots: Mapping[str, int]
    """The place of every variable in a mapping."""
    projected: tuple[str, ...]
    warnings: tuple[str, ...]

    @property
    def streams(self) -> frozenset[str]:
        """The IRIs of the declared streams."""
        return frozenset(stream.iri for stream in self.query.streams)

    @property
    def graphs(self) -> tuple[str, ...]:
        """The graphs of background knowledge that it reads."""
        return tuple(dict.fromkeys(graph for gpm in self.query.gpms for graph in gpm.graphs))


def compile_query(
    text: str,
    where: Place,
    options: Options = Options(),  # noqa: B008 - frozen
    name: str | None = None,
) -> Plan:
    """The plan of a query's text, which stands at `where`; `name` is what its results call it."""
    query = parse_query(text, where)
    warnings = check_names(query)
    scopes = {gpm.name: _scope(query, gpm) for gpm in query.gpms}
    bound = {name: scope.own | scope.known for name, scope in scopes.items()}
    roles = {gpm.name: _partition_roles(gpm) for gpm in query.gpms}
    check_variables(query, bound, roles)
    everywhere = frozenset().union(*bound.values()) if bound else frozenset()
    for gpm in query.gpms:
        check_nested(gpm, bound[gpm.name], everywhere)
    splits = _split_all(query, scopes)
    return _plan(name or where.name, query, options, scopes, splits, warnings)


@dataclass(frozen=True, slots=True)
class _Scope:
    own: frozenset[str]
    variables: tuple[str, ...]
    known: frozenset[str]
    parts: tuple[KnowledgePart, ...]
    apart: bool
    """Whether enrichments are joined behind the pattern, which must then mean the same as where they stand."""


def _scope(query: Query, gpm: Gpm) -> _Scope:
    whole = _variables(query, gpm)
    apart = not gpm.nested_graphs and not gpm.after_enrichment & _NOT_COMMUTING
    if not gpm.enrichments or not apart:
        return _Scope(frozenset(whole), whole, frozenset(), (), apart)
    body = _without(gpm.body, [(part.begin, part.end) for part in gpm.enrichments])
    own = variables_of(query.prologue, body, gpm.place)
    parts = tuple(
        KnowledgePart(part.graph, part.body, variables_of(query.prologue, part.body, part.place), part.place)
        for part in gpm.enrichments
    )
    return _Scope(frozenset(own), own, frozenset(name for part in parts for name in part.variables), parts, True)


def _variables(query: Query, gpm: Gpm) -> tuple[str, ...]:
    """What the group binds; plain triples tell it without the engine, so that columns can do without it."""
    try:
        return variables_of(query.prologue, gpm.body, gpm.place)
    except MissingEngineError:
        if gpm.enrichments or not gpm.triples.complete:
            raise
        return gpm.triples.variables


def _partition_roles(gpm: Gpm) -> frozenset[str]:
    subjects = {triple.subject[1:] for triple in gpm.triples.found if triple.subject.startswith("?")}
    objects = {
        triple.object[1:]
        for triple in gpm.triples.found
        if triple.object.startswith("?") and triple.predicate.startswith("<")
    }
    return frozenset(subjects | objects)


def _split_all(query: Query, scopes: Mapping[str, _Scope]) -> Mapping[str, SplitFilters]:
    """The filters of every graph pattern that the sequence uses, with respect to where it stands."""
    prefixes = dict(query.prefixes)
    gpms = {gpm.name: gpm for gpm in query.gpms}
    splits: dict[str, SplitFilters] = {}
    before: frozenset[str] = frozenset()
    for atom in query.sequence:
        named = dict.fromkeys(use.gpm for use in uses(atom.what))
        together = frozenset().union(*(scopes[name].own | scopes[name].known for name in named))
        for name in named:
            scope = scopes[name]
            beside = _at_its_instant(atom.what, name)
            at_once = frozenset().union(*(scopes[other].own | scopes[other].known for other in beside))
            # of a pattern that is used twice the first use has fewer variables before it: what holds there holds later
            split = split_filters(gpms[name], scope.own, scope.known, before | at_once, prefixes)
            splits.setdefault(name, split)
        if atom.postfix != "!":
            before |= together
    for gpm in query.gpms:
        if gpm.name not in splits:
            scope = scopes[gpm.name]
            every = frozenset().union(*(each.own | each.known for each in scopes.values()))
            splits[gpm.name] = split_filters(gpm, scope.own, scope.known, every, prefixes)
    return splits


def _at_its_instant(operand: Operand, name: str) -> frozenset[str]:
    """The graph patterns that match together with `name`: those of a conjunction, but not of other branches."""
    if isinstance(operand, Use):
        return frozenset({operand.gpm})
    inside = [part for part in operand.parts if any(use.gpm == name for use in uses(part))]
    found = frozenset().union(*(_at_its_instant(part, name) for part in inside))
    if isinstance(operand, Both):
        found |= {use.gpm for part in operand.parts if part not in inside for use in uses(part)}
    return found


def _plan(
    name: str,
    query: Query,
    options: Options,
    scopes: Mapping[str, _Scope],
    splits: Mapping[str, SplitFilters],
    warnings: tuple[str, ...],
) -> Plan:
    named = [use.gpm for atom in query.sequence for use in uses(atom.what)]
    gpms = [gpm for gpm in query.gpms if gpm.name in named]
    kept = {gpm.name: _kept(query, options, gpm, scopes, splits, named) for gpm in gpms}
    slots = {variable: n for n, variable in enumerate(dict.fromkeys(v for gpm in gpms for v in kept[gpm.name]))}
    conditions = {
        gpm.name: tuple(asking(each, slots, query.prologue) for each in splits[gpm.name].stateful) for gpm in gpms
    }
    numbers = {gpm.name: n for n, gpm in enumerate(gpms)}
    every = [variable for gpm in gpms for variable in (*scopes[gpm.name].variables, *sorted(scopes[gpm.name].known))]
    projected = query.projected
    return Plan(
        name,
        query,
        options,
        tuple(_gpm_plan(query, gpm, scopes[gpm.name], splits[gpm.name], kept[gpm.name]) for gpm in gpms),
        tuple(numbers[gpm] for gpm in named),
        _atoms(query, conditions),
        slots,
        tuple(dict.fromkeys(every if projected is None else (variable.name for variable in projected))),
        warnings,
    )


def _kept(
    query: Query,
    options: Options,
    gpm: Gpm,
    scopes: Mapping[str, _Scope],
    splits: Mapping[str, SplitFilters],
    named: list[str],
) -> tuple[str, ...]:
    """What a graph pattern binds and something else can see: the projection, another use, a filter, the partition."""
    own = (*scopes[gpm.name].variables, *sorted(scopes[gpm.name].known - scopes[gpm.name].own))
    if query.projected is None:
        return own
    seen = {variable.name for variable in query.projected}
    seen |= {name for split in splits.values() for condition in split.stateful for name in condition.variables}
    others = list(named)
    others.remove(gpm.name)
    seen |= {name for other in others for name in scopes[other].own | scopes[other].known}
    if query.partition_by is not None:
        seen.add(query.partition_by.name)
    iterated = any(
        atom.postfix == "+" and atom.what.gpm == gpm.name for atom in query.sequence if isinstance(atom.what, Use)
    )
    if iterated and options.kleene == "formal":
        return own
    return tuple(name for name in own if name in seen)


def _gpm_plan(query: Query, gpm: Gpm, scope: _Scope, split: SplitFilters, kept: tuple[str, ...]) -> GpmPlan:
    moved = [one for one in gpm.filters if one not in split.local]
    cut = [(one.begin, one.end) for one in moved]
    if scope.parts:
        cut += [(part.begin, part.end) for part in gpm.enrichments]
    by = f"?{query.partition_by.name}" if query.partition_by else None
    triples = gpm.triples.found
    return GpmPlan(
        gpm.name,
        next(stream.iri for stream in query.streams if stream.name == gpm.stream),
        _without(gpm.body, cut),
        scope.variables,
        bool(gpm.words & _ONE_BY_ONE) or (bool(gpm.graphs) and not scope.parts),
        scope.parts,
        () if scope.parts else gpm.graphs,
        split.joined,
        split.stateful,
        kept,
        any(triple.subject == by for triple in triples),
        tuple(dict.fromkeys(t.predicate for t in triples if t.object == by and t.predicate.startswith("<"))),
    )


def _atoms(query: Query, conditions: Mapping[str, tuple[Callable[[Mu], bool], ...]]) -> tuple[AtomPlan, ...]:
    atoms = []
    first = 0
    for atom in query.sequence:
        named = uses(atom.what)
        numbered = {id(use): first + n for n, use in enumerate(named)}
        ways = _alternatives(atom.what, numbered)
        if len(ways) > MOST_ALTERNATIVES:
            msg = f"{atom.place}: {len(ways)} ways through & and |; {MOST_ALTERNATIVES} are the limit. Split it."
            raise PatternError(msg)
        gpm_of = {first + n: use.gpm for n, use in enumerate(named)}
        alternatives = tuple(
            Alternative(tuple(sorted(way)), tuple(ask for use in sorted(way) for ask in conditions[gpm_of[use]]))
            for way in ways
        )
        atoms.append(AtomPlan(alternatives, atom.postfix, atom.after))
        first += len(named)
    return tuple(atoms)


def _alternatives(operand: Operand, numbered: Mapping[int, int]) -> list[frozenset[int]]:
    """The sets of uses that match together: a conjunction combines those of its parts, a disjunction lists them."""
    if isinstance(operand, Use):
        return [frozenset({numbered[id(operand)]})]
    parts = [_alternatives(part, numbered) for part in operand.parts]
    if isinstance(operand, Both):
        return [frozenset().union(*way) for way in product(*parts)]
    return [way for part in parts for way in part]


def _without(body: str, spans: list[tuple[int, int]]) -> str:
    """The text with blanks where the spans are, so that everything else stays in its place."""
    for begin, end in spans:
        body = body[:begin] + "".join("\n" if sign == "\n" else " " for sign in body[begin:end]) + body[end:]
    return body
