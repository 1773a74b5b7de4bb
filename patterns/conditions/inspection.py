"""What a condition reads: the attributes, registers and features that must be there before it can be evaluated."""

from collections.abc import Iterator
from typing import assert_never

from foresail.patterns.conditions.syntax import (
    TIME,
    And,
    Arithmetic,
    Attribute,
    Call,
    Comparison,
    Condition,
    IsKnown,
    Literal,
    Membership,
    Negative,
    Not,
    Or,
    Register,
    Value,
)
from foresail.patterns.errors import Place
from foresail.patterns.limits import MOST_DEPTH, MOST_TERMS, TooLargeError


def attributes_of(condition: Condition | Value) -> tuple[Attribute, ...]:
    """Each attribute that the condition reads, once, in the order of the text."""
    return tuple(dict.fromkeys(_read_by(condition)))


def owners_of(condition: Condition | Value) -> frozenset[str]:
    """The registers and features whose attributes the condition reads."""
    return frozenset(attribute.owner for attribute in _read_by(condition) if attribute.owner is not None)


def check_terms(condition: Condition, place: Place) -> None:
    """Refuse a condition of too many terms: a name stands for its whole condition, so that short texts can be huge."""
    waiting: list[tuple[Condition, int]] = [(condition, 1)]
    terms = 0
    while waiting:
        node, depth = waiting.pop()
        match node:
            case And(parts) | Or(parts):
                waiting += [(part, depth + 1) for part in parts]
            case Not(part):
                waiting.append((part, depth + 1))
            case _:
                terms += 1
        if terms > MOST_TERMS or depth > MOST_DEPTH:
            what = f"more than {MOST_TERMS} terms" if terms > MOST_TERMS else f"more than {MOST_DEPTH} levels"
            msg = f"{place}: with all that it names, the condition has {what}, which is the limit. Split it."
            raise TooLargeError(msg)


def _read_by(node: Condition | Value | Register) -> Iterator[Attribute]:
    match node:
        case Attribute():
            yield node
        case Register(name):
            yield from (Attribute(TIME), Attribute(TIME, name))
        case Literal():
            return
        case And(parts) | Or(parts):
            for part in parts:
                yield from _read_by(part)
        case Not(part):
            yield from _read_by(part)
        case Comparison(_, left, right) | Arithmetic(_, left, right):
            yield from _read_by(left)
            yield from _read_by(right)
        case Membership(value) | IsKnown(value) | Negative(value):
            yield from _read_by(value)
        case Call(_, arguments):
            for argument in arguments:
                yield from _read_by(argument)
        case _:
            assert_never(node)
