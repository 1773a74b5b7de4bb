"""A condition as canonical text: equal conditions read the same, and parsing the text gives the condition back.

What a condition reads: the attributes, registers and features that must be there before it can be evaluated.
"""

import json
import re
from collections.abc import Iterator
from itertools import pairwise
from typing import assert_never

from foresail.patterns.conditions.syntax import (
    KEYWORDS,
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

OR, AND, NOT, COMPARED, SUM, PRODUCT, SIGNED, ATOM = range(8)
"""How tightly a node binds; a part that binds less tightly than its place asks for gets parentheses."""


def text_of(condition: Condition | Value) -> str:
    """The condition (or a value of one) as text that `parse_condition` reads back into an equal tree."""
    return _text(condition, OR)


def _text(node: Condition | Value | Register, place: int) -> str:
    text, strength = _written(node)
    return text if strength >= place else f"({text})"


def _written(node: Condition | Value | Register) -> tuple[str, int]:
    match node:
        case Or(parts):
            return " or ".join(_text(part, AND) for part in parts), OR
        case And(parts) if _is_chain(parts):
            return _chain(parts), COMPARED
        case And(parts):
            return " and ".join(_text(part, NOT) for part in parts), AND
        case Not(IsKnown(value)):
            return f"{_text(value, SUM)} is unknown", COMPARED
        case Not(Membership(value, options)):
            return f"{_text(value, SUM)} not in {_listed(options)}", COMPARED
        case Not(part):
            return f"not {_text(part, NOT)}", NOT
        case Comparison(operator, left, right):
            return f"{_text(left, SUM)} {operator.value} {_text(right, SUM)}", COMPARED
        case Membership(value, options):
            return f"{_text(value, SUM)} in {_listed(options)}", COMPARED
        case IsKnown(value):
            return f"{_text(value, SUM)} is known", COMPARED
        case Arithmetic(operator, left, right):
            level = SUM if operator in "+-" else PRODUCT
            return f"{_text(left, level)} {operator} {_text(right, level + 1)}", level
        case Negative(value):
            return f"-{_text(value, SIGNED)}", SIGNED
        case Call(function, arguments):
            return f"{function.value}({', '.join(_text(argument, OR) for argument in arguments)})", ATOM
        case Literal():
            return _literal(node), ATOM
        case Attribute(name, owner):
            return _name(name) if owner is None else f"{_name(owner)}.{_name(name)}", ATOM
        case Register(name):
            return _name(name), ATOM
        case _:
            assert_never(node)


def _is_chain(parts: tuple[Condition, ...]) -> bool:
    return len(parts) > 1 and all(
        isinstance(first, Comparison) and isinstance(second, Comparison) and first.right == second.left
        for first, second in pairwise(parts)
    )


def _chain(parts: tuple[Condition, ...]) -> str:
    links = [part for part in parts if isinstance(part, Comparison)]
    return _text(links[0].left, SUM) + "".join(f" {link.operator.value} {_text(link.right, SUM)}" for link in links)


def _listed(options: tuple[Literal, ...]) -> str:
    return f"({', '.join(_literal(option) for option in options)})"


def _literal(literal: Literal) -> str:
    value = literal.value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    return repr(value)


def _name(name: str) -> str:
    return name if re.fullmatch(r"[^\W\d]\w*", name) and name not in KEYWORDS else f"`{name}`"


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
