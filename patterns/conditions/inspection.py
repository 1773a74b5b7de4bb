"""What a condition reads: the attributes, registers and features that must be there before it can be evaluated."""

from collections.abc import Iterator
from typing import assert_never

from patterns.conditions.syntax import (
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


def attributes_of(condition: Condition | Value) -> tuple[Attribute, ...]:
    """Each attribute that the condition reads, once, in the order of the text."""
    return tuple(dict.fromkeys(_read_by(condition)))


def owners_of(condition: Condition | Value) -> frozenset[str]:
    """The registers and features whose attributes the condition reads."""
    return frozenset(attribute.owner for attribute in _read_by(condition) if attribute.owner is not None)


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
