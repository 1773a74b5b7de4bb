"""Filters of graph patterns, split: what one event decides stays with it, what reads earlier events moves to the join.

By the publication a pattern is evaluated on one event, where variables of earlier events are unbound and every filter
over them fails; yet all its stock queries have such filters. So they become conditions of the join (spec C1).
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from foresail.patterns.errors import PatternError, Place, nearest
from foresail.patterns.spaseq.engine import oxigraph, term_of
from foresail.patterns.spaseq.expressions import Expression, Mu, Unsure, compiled, parse_expression
from foresail.patterns.spaseq.syntax import Filter, Gpm

_MOST_REMEMBERED = 100_000


@dataclass(frozen=True, slots=True)
class Condition:
    """A filter apart from its graph pattern."""

    text: str
    variables: tuple[str, ...]
    expression: Expression | None
    place: Place


@dataclass(frozen=True, slots=True)
class SplitFilters:
    """The filters of one graph pattern by where they are decided."""

    local: tuple[Filter, ...]
    """Left in the text of the pattern."""
    joined: tuple[Condition, ...]
    """Over background knowledge too: asked of an event and the knowledge joined with it."""
    stateful: tuple[Condition, ...]
    """Over earlier events, or others of the same instant: asked at the join."""


def split_filters(
    gpm: Gpm, own: frozenset[str], known: frozenset[str], reachable: frozenset[str], prefixes: Mapping[str, str]
) -> SplitFilters:
    """The filters of `gpm`, whose pattern binds `own` and whose enrichment binds `known`.

    `reachable` are the variables of events before it, or at its instant.
    """
    local: list[Filter] = []
    joined: list[Condition] = []
    stateful: list[Condition] = []
    for one in gpm.filters:
        reads = {variable.name for variable in one.reads}
        for variable in one.reads:
            if variable.name not in own | known | reachable:
                raise _unbound(variable.name, variable.place, gpm.name, own | known | reachable)
        if reads <= own:
            local.append(one)
            continue
        if one.looks_up:
            msg = (
                f"{one.place}: a filter with EXISTS is decided by one event alone, and this one reads "
                f"?{sorted(reads - own)[0]} of another. Split it into two filters."
            )
            raise PatternError(msg)
        condition = Condition(one.text, tuple(sorted(reads)), parse_expression(one.text, prefixes), one.place)
        (joined if reads <= own | known else stateful).append(condition)
    return SplitFilters(tuple(local), tuple(joined), tuple(stateful))


def check_nested(gpm: Gpm, own: frozenset[str], everywhere: frozenset[str]) -> None:
    """Refuse filters below the top level, and EXISTS, that read what only other events bind."""
    for variable in gpm.nested_reads:
        if variable.name in own:
            continue
        if variable.name not in everywhere:
            raise _unbound(variable.name, variable.place, gpm.name, own)
        msg = (
            f"{variable.place}: ?{variable.name} belongs to another event, and a nested filter is decided by one. "
            f"Move the filter to the top level of GPM {gpm.name}."
        )
        raise PatternError(msg)
    for variable in (variable for one in gpm.filters for variable in one.looks_up):
        if variable.name in everywhere - own:
            msg = (
                f"{variable.place}: ?{variable.name} inside EXISTS belongs to another event. "
                "EXISTS looks into one event; give the variable another name, or compare it in a filter of its own."
            )
            raise PatternError(msg)


def asking(condition: Condition, slots: Mapping[str, int], prologue: str) -> Callable[[Mu], bool]:
    """Whether a mapping satisfies a condition: decided here where that is certain, else by the engine."""
    ask_engine = _engine_asking(condition, slots, prologue)
    if condition.expression is None:
        return ask_engine
    ask_here = compiled(condition.expression, slots)

    def holds(mu: Mu) -> bool:
        try:
            return ask_here(mu)
        except Unsure:
            return ask_engine(mu)

    return holds


def _engine_asking(condition: Condition, slots: Mapping[str, int], prologue: str) -> Callable[[Mu], bool]:
    places = [slots[name] for name in condition.variables]
    # the engine substitutes only variables that are projected
    text = (
        f"{prologue} SELECT {' '.join(f'?{name}' for name in condition.variables)} WHERE {{ FILTER {condition.text} }}"
    )
    remembered: dict[tuple[str | None, ...], bool] = {}

    def holds(mu: Mu) -> bool:
        values = tuple(mu[place] for place in places)
        answer = remembered.get(values)
        if answer is None:
            if len(remembered) > _MOST_REMEMBERED:
                remembered.clear()
            answer = remembered[values] = _answered(text, condition.variables, values)
        return answer

    return holds


def _answered(text: str, names: tuple[str, ...], values: tuple[str | None, ...]) -> bool:
    engine = oxigraph()
    known = {engine.Variable(n): term_of(value) for n, value in zip(names, values, strict=True) if value is not None}
    return next(iter(_empty_store().query(text, substitutions=known)), None) is not None


@cache
def _empty_store() -> Any:
    return oxigraph().Store()


def _unbound(name: str, place: Place, gpm: str, known: frozenset[str]) -> PatternError:
    listed = ", ".join(f"?{each}" for each in sorted(known)) or "none"
    return PatternError(
        f"{place}: ?{name} is bound neither by GPM {gpm} nor by an earlier one. {nearest(name, known)}Bound: {listed}."
    )
