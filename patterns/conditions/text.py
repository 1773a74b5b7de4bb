"""A condition as canonical text: equal conditions read the same, and parsing the text gives the condition back."""

import json
import re
from itertools import pairwise
from typing import assert_never

from foresail.patterns.conditions.syntax import (
    KEYWORDS,
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
