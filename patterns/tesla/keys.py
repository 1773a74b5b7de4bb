"""Which rules can run in parallel: those whose predicates all ask for one shared value, each of its own attribute."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from foresail.patterns.tesla.resolved import Compare, Field, Matching, Resolved, Select, Test
from foresail.patterns.tesla.syntax import TS


@dataclass(frozen=True, slots=True)
class Group:
    """Rules that read each other's composites; by type the attribute that holds the key of all, None without one."""

    rules: tuple[int, ...]
    keys: Mapping[str, str] | None
    why: str = ""
    """Why there is no key."""


def key_of(rule: Resolved) -> str | None:
    """The attribute of the terminator that the selected events share: what a composite is filed under."""
    return next((name for name in rule.bound if name != TS and _shared(rule, name, selected_only=True)), None)


def groups_of(rules: Sequence[Resolved]) -> tuple[Group, ...]:
    """The rules in groups that read nothing of each other, each with its key."""
    leader = list(range(len(rules)))
    makers: dict[str, list[int]] = {}
    for number, rule in enumerate(rules):
        makers.setdefault(rule.type, []).append(number)
    for number, rule in enumerate(rules):
        for name in {matching.type for matching in rule.matchings()} & set(makers):
            for other in makers[name]:
                _join(leader, number, other)
    held: dict[int, list[int]] = {}
    for number in range(len(rules)):
        held.setdefault(_root(leader, number), []).append(number)
    return tuple(_group(rules, tuple(members)) for members in held.values())


def _join(leader: list[int], one: int, other: int) -> None:
    first, second = sorted((_root(leader, one), _root(leader, other)))
    leader[second] = first


def _root(leader: list[int], number: int) -> int:
    while leader[number] != number:
        leader[number] = leader[leader[number]]
        number = leader[number]
    return number


def _group(rules: Sequence[Resolved], members: tuple[int, ...]) -> Group:
    """A key per rule such that a type has the same attribute in all of them."""
    read = {matching.type for number in members for matching in rules[number].matchings()}
    choices = [_choices(rules[number], read) for number in members]
    for number, found in zip(members, choices, strict=True):
        if not found:
            return Group(members, None, f"rule '{rules[number].name}' has no parameter that all its predicates share")
    for first in choices[0]:
        agreed: dict[str, str] | None = dict(first)
        for found in choices[1:]:
            agreed = next((_merged(agreed, one) for one in found if agreed is not None and _fits(agreed, one)), None)
            if agreed is None:
                break
        if agreed is not None:
            return Group(members, agreed)
    names = ", ".join(f"'{rules[number].name}'" for number in members[:4])
    return Group(members, None, f"rules {names} read each other's events and have different keys")


def _fits(one: Mapping[str, str], other: Mapping[str, str]) -> bool:
    return all(other.get(name, key) == key for name, key in one.items())


def _merged(one: Mapping[str, str], other: Mapping[str, str]) -> dict[str, str]:
    return {**one, **other}


def _choices(rule: Resolved, read: set[str]) -> list[dict[str, str]]:
    """The ways in which the rule can be keyed: by type the attribute."""
    found = []
    for name in rule.bound:
        keys = None if name == TS else _shared(rule, name)
        if keys is None:
            continue
        if rule.type not in read:
            found.append(keys)
            continue
        fields = _fields(rule, name)
        own = [
            attribute
            for (attribute, _), term in zip(rule.attributes, rule.values, strict=True)
            if isinstance(term, Field) and term in fields
        ]
        found += [{**keys, rule.type: attribute} for attribute in own if keys.get(rule.type, attribute) == attribute]
    return found


def _shared(rule: Resolved, name: str, selected_only: bool = False) -> dict[str, str] | None:
    """By type the attribute that every predicate sets equal to attribute `name` of the terminator."""
    found = {rule.terminator.type: name}
    fields = {Field(0, name)}
    for step in rule.steps:
        if isinstance(step, Compare) or (selected_only and not isinstance(step, Select)):
            continue
        test = _equality(step.matching, fields)
        if test is None or found.setdefault(step.matching.type, test.attribute) != test.attribute:
            return None
        if isinstance(step, Select):
            fields.add(Field(step.slot, test.attribute))
    return found


def _fields(rule: Resolved, name: str) -> set[Field]:
    """The attributes of bound events that have the key's value."""
    fields = {Field(0, name)}
    for step in rule.steps:
        if isinstance(step, Select):
            test = _equality(step.matching, fields)
            if test is not None:
                fields.add(Field(step.slot, test.attribute))
    return fields


def _equality(matching: Matching, fields: set[Field]) -> Test | None:
    for test in matching.keys:
        if isinstance(test.term, Field) and test.term in fields:
            return test
    return None
