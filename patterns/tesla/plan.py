"""Text to a rule set that can run. This file knows the order of the passes, and what a run asks of them."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, TypeAlias

from foresail.patterns.errors import Place, nearest
from foresail.patterns.tesla.check import resolve_rules
from foresail.patterns.tesla.keys import Group, groups_of, key_of
from foresail.patterns.tesla.lowering import Lowered, lower_rules
from foresail.patterns.tesla.parser import parse_rules
from foresail.patterns.tesla.resolved import Compute, Resolved, RuleError, Select, fields_of, terms_of
from foresail.patterns.tesla.syntax import TS, Rule, predicates_of

Ties: TypeAlias = Literal["strict", "arrival"]
Selection: TypeAlias = Literal["local", "admissible"]
TICK = "Tick"
"""The type of the events that tell that time goes by."""


@dataclass(frozen=True)
class RulePlan:
    """A rule set, checked and lowered."""

    name: str
    rules: tuple[Rule, ...]
    resolved: tuple[Resolved, ...]
    lowered: Lowered
    ties: Ties = "strict"
    selection: Selection = "local"

    @property
    def made(self) -> tuple[str, ...]:
        """The types that rules define."""
        return tuple(dict.fromkeys(rule.type for rule in self.resolved))

    @property
    def read(self) -> tuple[str, ...]:
        """The types that must come from the input, or may."""
        return tuple(name for name in self.lowered.types if name not in self.made)

    @cached_property
    def groups(self) -> tuple[Group, ...]:
        """Rules that can run apart, with their keys."""
        return groups_of(self.resolved)

    @cached_property
    def keys(self) -> tuple[str | None, ...]:
        """Per rule the attribute of the terminator that composites are filed under."""
        return tuple(key_of(rule) for rule in self.resolved)

    def attributes_of(self, name: str) -> tuple[str, ...]:
        """The attributes of a type that rules read."""
        found: dict[str, None] = {}
        for rule in self.resolved:
            found |= dict.fromkeys(_read_of(rule, name))
        return tuple(attribute for attribute in found if attribute != TS)

    def part(self, rules: Iterable[int]) -> "RulePlan":
        """Some of the rules by themselves."""
        chosen = list(rules)
        resolved = tuple(self.resolved[number] for number in chosen)
        lowered = lower_rules(resolved, self.ties, self.selection)
        return RulePlan(self.name, tuple(self.rules[n] for n in chosen), resolved, lowered, self.ties, self.selection)


def compile_rules(
    text: str,
    place: Place,
    name: str = "rules",
    ties: Ties = "strict",
    selection: Selection = "local",
    types: Mapping[str, Place] | None = None,
) -> RulePlan:
    """The rule set that a text says; `types` are those of the input where they are declared."""
    rules = parse_rules(text, place)
    if types is not None:
        _check_declared(rules, types)
    resolved = resolve_rules(rules)
    return RulePlan(name, rules, resolved, lower_rules(resolved, ties, selection), ties, selection)


def _check_declared(rules: tuple[Rule, ...], types: Mapping[str, Place]) -> None:
    made = {rule.type: rule for rule in rules}
    for name, place in types.items():
        if name in made:
            msg = f"{place}: '{name}' is defined by rule '{made[name].name}' too. Rename one of the two."
            raise RuleError(msg)
    known = (*types, *made)
    for rule in rules:
        for predicate in predicates_of(rule):
            if predicate.type not in known:
                msg = (
                    f"{predicate.place}: there are no events of type '{predicate.type}'. "
                    f"{nearest(predicate.type, known)}Declare it in types:, as in {predicate.type}: speed_kn < 2."
                )
                raise RuleError(msg)


def _read_of(rule: Resolved, name: str) -> Iterable[str]:
    for slot, kind in enumerate(rule.types):
        if kind == name:
            for term in terms_of(rule):
                yield from (read.attribute for read in fields_of(term) if read.slot == slot)
            if slot == 0:
                yield from rule.bound
    for matching in rule.matchings():
        if matching.type == name:
            yield from (test.attribute for test in (*matching.alone, *matching.keys, *matching.rest))
    for step in rule.steps:
        if isinstance(step, Compute) and step.matching.type == name and step.attribute is not None:
            yield step.attribute
        if isinstance(step, Select) and step.matching.type == name and step.per is not None:
            yield step.per
