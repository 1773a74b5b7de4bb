"""A plan over one mapped table as guards, registers and comparisons of columns; or the reason why it cannot be.

A star-shaped pattern over predicates with one value each has at most one mapping in a row. So a run is one mapping, a
variable is a register, and a filter over earlier events compares registers.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import NoReturn

from foresail.patterns.spaseq.expressions import (
    Arithmetic,
    Compare,
    Constant,
    Expression,
    Logic,
    Negation,
    Var,
    parse_expression,
)
from foresail.patterns.spaseq.filters import Condition
from foresail.patterns.spaseq.mapping import NUMBERS, TableMapping, Terms
from foresail.patterns.spaseq.plan import GpmPlan, KnowledgePart, Plan
from foresail.patterns.spaseq.syntax import Gpm
from foresail.patterns.spaseq.terms import XSD, value_of

SUBJECT = ""
"""The column of the subject."""


class NotLowered(Exception):  # noqa: N818 - not an error: graphs are taken instead
    """Why columns cannot answer a query."""


@dataclass(frozen=True, slots=True)
class ColumnKnowledge:
    """Knowledge that one variable of a pattern is looked up in."""

    part: KnowledgePart
    variable: str | None
    """None where the knowledge shares nothing with the pattern."""
    conditions: tuple[Condition, ...]


@dataclass(frozen=True, slots=True)
class ColumnGpm:
    """A graph pattern over columns, which are named by their predicate."""

    binds: tuple[tuple[str, str], ...]
    """Variables and the columns that they read."""
    constants: tuple[tuple[str, str], ...]
    """Columns and the terms that they must hold."""
    filters: tuple[Expression, ...]
    """Over variables of this pattern alone."""
    stateful: tuple[Expression, ...]
    knowledge: tuple[ColumnKnowledge, ...]


@dataclass(frozen=True, slots=True)
class ColumnPlan:
    """A query over columns."""

    plan: Plan
    gpms: tuple[ColumnGpm, ...]
    variables: tuple[str, ...]
    """Registers, in their order."""
    partitioned: bool
    """By the subject; else no two rows may be of one instant."""
    columns: tuple[str, ...]


def _refuse(reason: str) -> NoReturn:
    raise NotLowered(reason)


def known_terms(mapping: TableMapping) -> dict[str, Terms | None]:
    """How columns are written as far as their mapping tells; the rest is told by the table."""
    named = {SUBJECT: mapping.subject, **mapping.columns}
    return {key: None if one.kind is None else Terms(one.kind, one.before, one.after) for key, one in named.items()}


def lower(plan: Plan, terms: Mapping[str, Terms | None]) -> ColumnPlan:
    """The plan over columns; `terms` says how each is written, None where the table is not known yet."""
    query = plan.query
    if len(query.streams) > 1:
        _refuse("it reads several streams")
    if query.construct is not None:
        _refuse("it constructs graphs")
    if any(atom.postfix in ("?", "!") for atom in plan.atoms):
        _refuse("it has an optional or a negated pattern")
    if len(plan.use_gpm) > 64:
        _refuse("its sequence names more than 64 patterns")
    written = {gpm.name: gpm for gpm in query.gpms}
    gpms = tuple(_gpm(plan, gpm, written[gpm.name], terms) for gpm in plan.gpms)
    kinds = _kinds(gpms, terms)
    _check_bound(plan, gpms)
    for gpm in gpms:
        for expression in (*gpm.filters, *gpm.stateful):
            _check_truth(expression, kinds)
    by = query.partition_by
    if by is not None and any((by.name, SUBJECT) not in gpm.binds for gpm in gpms):
        _refuse(f"?{by.name} of PARTITION BY is not the subject of every pattern")
    used = dict.fromkeys(column for gpm in gpms for _, column in (*gpm.binds, *_flipped(gpm.constants)))
    return ColumnPlan(plan, gpms, tuple(kinds), by is not None, tuple(used))


def _flipped(pairs: Iterable[tuple[str, str]]) -> Iterable[tuple[str, str]]:
    return ((term, column) for column, term in pairs)


def _gpm(plan: Plan, gpm: GpmPlan, written: Gpm, terms: Mapping[str, Terms | None]) -> ColumnGpm:
    if not written.triples.complete or written.nested_graphs or gpm.graphs:
        _refuse(f"{gpm.name} is more than plain triples: only graphs answer it")
    if not written.triples.found:
        _refuse(f"{gpm.name} has no triple")
    subjects = {triple.subject for triple in written.triples.found}
    if len(subjects) > 1 or not next(iter(subjects)).startswith("?"):
        _refuse(f"{gpm.name} is not a star around one variable")
    binds = [(next(iter(subjects))[1:], SUBJECT)]
    constants = []
    for triple in written.triples.found:
        predicate = triple.predicate[1:-1]
        if not triple.predicate.startswith("<") or predicate not in terms:
            _refuse(f"{gpm.name} reads {triple.predicate}, which the mapping has not")
        if triple.object.startswith("?"):
            binds.append((triple.object[1:], predicate))
        else:
            constants.append((predicate, triple.object))
    apart = {condition.place for condition in (*gpm.joined, *gpm.stateful)}
    local = [one for one in written.filters if one.place not in apart]
    prefixes = dict(plan.query.prefixes)
    filters = [_parsed(one.text, parse_expression(one.text, prefixes), gpm.name) for one in local]
    stateful = [_parsed(one.text, one.expression, gpm.name) for one in gpm.stateful]
    knowledge = tuple(_knowledge(plan, gpm, part) for part in gpm.knowledge)
    return ColumnGpm(tuple(binds), tuple(constants), tuple(filters), tuple(stateful), knowledge)


def _parsed(text: str, expression: Expression | None, name: str) -> Expression:
    if expression is None:
        _refuse(f"{name} has the filter {' '.join(text.split())}, which only SPARQL knows")
    return expression


def _knowledge(plan: Plan, gpm: GpmPlan, part: KnowledgePart) -> ColumnKnowledge:
    """Knowledge decides by one variable whether a row matches; what it adds must be for the projection alone."""
    shared = [name for name in part.variables if name in gpm.variables]
    if len(shared) > 1:
        _refuse(f"{gpm.name} joins knowledge by more than one variable")
    added = set(part.variables) - set(gpm.variables)
    conditions = tuple(one for one in gpm.joined if set(one.variables) & added)
    if any(not set(one.variables) <= set(part.variables) for one in conditions):
        _refuse(f"{gpm.name} has a filter over knowledge and an event")
    others = [plan.gpms[number] for number in plan.use_gpm]
    others.remove(gpm)
    seen = {name for other in others for name in (*other.variables, *_known(other))}
    seen |= {name for other in plan.gpms for one in other.stateful for name in one.variables}
    seen |= {name for other in gpm.knowledge if other is not part for name in other.variables}
    if added & seen:
        _refuse(f"?{min(added & seen)} of knowledge is read elsewhere")
    return ColumnKnowledge(part, shared[0] if shared else None, conditions)


def _known(gpm: GpmPlan) -> Iterable[str]:
    return (name for part in gpm.knowledge for name in part.variables)


def _kinds(gpms: Iterable[ColumnGpm], terms: Mapping[str, Terms | None]) -> dict[str, Terms | None]:
    """How the terms of each variable are written: alike wherever it is bound."""
    kinds: dict[str, Terms | None] = {}
    for gpm in gpms:
        for name, column in gpm.binds:
            mine, other = terms[column], kinds.get(name)
            if mine is not None and other is not None and mine != other:
                _refuse(f"?{name} is bound by columns of different types")
            kinds[name] = mine or other
    return kinds


def _check_bound(plan: Plan, gpms: tuple[ColumnGpm, ...]) -> None:
    """Every variable of a comparison must be bound in whatever way a run has come."""
    before: frozenset[str] = frozenset()
    for atom in plan.atoms:
        ways = []
        for way in atom.alternatives:
            own = {name for use in way.uses for name, _ in gpms[plan.use_gpm[use]].binds}
            ways.append(frozenset(own))
            for use in way.uses:
                for expression in gpms[plan.use_gpm[use]].stateful:
                    if not _variables(expression) <= before | own:
                        _refuse("a filter may meet a variable that is unbound")
        before |= frozenset.intersection(*ways)


def _variables(expression: Expression) -> set[str]:
    match expression:
        case Var(name):
            return {name}
        case Compare(_, left, right) | Arithmetic(_, left, right):
            return _variables(left) | _variables(right)
        case Logic(_, parts):
            return {name for part in parts for name in _variables(part)}
        case Negation(part):
            return _variables(part)
        case _:
            return set()


def _check_truth(expression: Expression, kinds: Mapping[str, Terms | None]) -> None:
    match expression:
        case Logic(_, parts):
            for part in parts:
                _check_truth(part, kinds)
        case Negation(part):
            _check_truth(part, kinds)
        case Compare(sign, left, right):
            one, other = _kind(left, kinds), _kind(right, kinds)
            numbers = {"number", "integer", "double", "exact", None}
            if one in numbers and other in numbers:
                if {one, other} == {"double", "number"}:
                    # the engine rounds the decimal first, in a way of its own
                    _refuse("a filter compares a double with a decimal")
            elif sign not in ("=", "!=") or not _same_texts(left, right, kinds):
                _refuse("a filter compares texts by order, or terms of different types")
        case _:
            _refuse("a filter is no comparison")


def _kind(expression: Expression, kinds: Mapping[str, Terms | None]) -> str | None:
    """The type of a value; `exact` is a whole number, which is the same as a decimal and as a double."""
    match expression:
        case Var(name):
            terms = kinds[name]
            return None if terms is None else terms.kind
        case Constant(term):
            return _kind_of_constant(term)
        case Arithmetic(_, left, right):
            sides = {_kind(left, kinds), _kind(right, kinds)}
            if not sides <= {"double", "integer", "exact", None} or not sides & {"double", None}:
                _refuse("a filter calculates with numbers that are not doubles")
            return "double"
        case _:
            _refuse("a filter compares truth values")


def _kind_of_constant(term: str) -> str:
    value = value_of(term)
    if value is None or isinstance(value, bool | str):
        return "term"
    if float(value) == value and float(value).is_integer() and abs(float(value)) < 2**53:
        return "exact"
    if not term.endswith(f"{XSD}decimal>"):
        return "double"
    if Terms("number").value(term) is None:
        _refuse("a filter has a number of more digits than columns keep")
    return "number"


def _same_texts(left: Expression, right: Expression, kinds: Mapping[str, Terms | None]) -> bool:
    """Whether both sides are terms of one kind, as far as the kinds are known, so that unequal places are unequal."""
    sides = (left, right)
    named = [kinds[side.name] for side in sides if isinstance(side, Var)]
    constants = [side.term for side in sides if isinstance(side, Constant)]
    if not named or len(named) + len(constants) < len(sides):
        return False
    terms = {each for each in named if each is not None}
    if len(terms) > 1 or any(each.kind in NUMBERS or each.kind == "boolean" for each in terms):
        return False
    # a constant of another type would be an error of SPARQL, not just another term
    return all(
        term.startswith("<" if each.kind == "iri" else '"') and "^^" not in term and "@" not in term.rpartition('"')[2]
        for each in terms
        for term in constants
    )
