"""Comparisons with a constant, restated so that a machine integer or a double decides them without rounding.

`mmsi < 1e19` or `length_m > 9007199254740993` have no exact counterpart in the other's number type; each becomes the
comparison that holds for the same values, or a plain yes or no for every known value.

Values that no event can change: `1.1 * max_speed_kn` once its parameter is filled in.
"""

from enum import Enum
from math import floor, inf, isinf, isnan
from typing import TypeAlias

import numpy as np

from foresail.patterns.conditions.functions import Doubles, calculate, call
from foresail.patterns.conditions.letters import lowered
from foresail.patterns.conditions.syntax import (
    Arithmetic,
    Attribute,
    Call,
    Function,
    Literal,
    Negative,
    Operator,
    Register,
    Value,
)
from foresail.patterns.conditions.text import text_of
from foresail.patterns.errors import ConditionTypeError

LEAST_INTEGER, GREATEST_INTEGER = -(2**63), 2**63 - 1

MIRRORED = {
    Operator.EQUAL: Operator.EQUAL,
    Operator.UNEQUAL: Operator.UNEQUAL,
    Operator.LESS: Operator.GREATER,
    Operator.AT_MOST: Operator.AT_LEAST,
    Operator.GREATER: Operator.LESS,
    Operator.AT_LEAST: Operator.AT_MOST,
}
"""The operator that says the same with its sides exchanged."""

WITH_NEXT_ABOVE = {
    Operator.LESS: Operator.LESS,
    Operator.AT_MOST: Operator.LESS,
    Operator.GREATER: Operator.AT_LEAST,
    Operator.AT_LEAST: Operator.AT_LEAST,
}
WITH_NEXT_BELOW = {
    Operator.LESS: Operator.AT_MOST,
    Operator.AT_MOST: Operator.AT_MOST,
    Operator.GREATER: Operator.GREATER,
    Operator.AT_LEAST: Operator.GREATER,
}
BELOW = frozenset({Operator.LESS, Operator.AT_MOST, Operator.UNEQUAL})
ABOVE = frozenset({Operator.GREATER, Operator.AT_LEAST, Operator.UNEQUAL})


def for_doubles(operator: Operator, constant: int | float) -> tuple[Operator, float] | bool:
    """`x operator constant` for a double x, with a constant that is a double; or what holds for every known x."""
    rounded = as_double(constant)
    if rounded == constant:
        return operator, rounded
    if operator in (Operator.EQUAL, Operator.UNEQUAL):
        return operator is Operator.UNEQUAL
    return (WITH_NEXT_ABOVE if rounded > constant else WITH_NEXT_BELOW)[operator], rounded


def for_integers(operator: Operator, constant: int | float) -> tuple[Operator, int] | bool:
    """`n operator constant` for a 64-bit integer n, with a constant that is one; or what holds for every known n."""
    if constant > GREATEST_INTEGER:
        return operator in BELOW
    if constant < LEAST_INTEGER:
        return operator in ABOVE
    whole = floor(constant)
    if whole == constant:
        return operator, whole
    if operator in (Operator.EQUAL, Operator.UNEQUAL):
        return operator is Operator.UNEQUAL
    return WITH_NEXT_BELOW[operator], whole


def as_double(constant: int | float) -> float:
    """The nearest double; an integer too large for one becomes an infinity."""
    try:
        return float(constant)
    except OverflowError:
        return inf if constant > 0 else -inf


def is_double(constant: int | float) -> bool:
    """Whether a double holds the constant exactly."""
    return as_double(constant) == constant


def is_machine_integer(constant: int | float) -> bool:
    """Whether a 64-bit integer holds the constant exactly."""
    return not isinf(constant) and LEAST_INTEGER <= constant <= GREATEST_INTEGER and floor(constant) == constant


class NoConstant(Enum):
    """Why a value has no constant."""

    VARIES = "it reads an attribute"
    UNKNOWN = "it is computed but has no result, such as 1 / 0"


Constant: TypeAlias = bool | int | float | str | NoConstant


def constant_of(value: Value) -> Constant:
    """What the value always is; integers and texts as written, results of arithmetic as doubles."""
    if isinstance(value, Literal):
        return value.value
    if _varies(value):
        return NoConstant.VARIES
    match value:
        case Call(Function.LOWER, (inner,)):
            return lowered(_text(inner))
        case Call(Function.STARTS_WITH, (inner, beginning)):
            return _text(inner).startswith(_text(beginning))
    result = float(_double(value))
    return NoConstant.UNKNOWN if isnan(result) else result


def _text(value: Value | Register) -> str:
    found = NoConstant.UNKNOWN if isinstance(value, Register) else constant_of(value)
    if isinstance(found, str):
        return found
    msg = f"condition: {text_of(value) if isinstance(value, Value) else ''} is no text. Write it in quotes."
    raise ConditionTypeError(msg)


def _varies(value: Value | Register) -> bool:
    match value:
        case Attribute() | Register():
            return True
        case Literal():
            return False
        case Negative(inner):
            return _varies(inner)
        case Arithmetic(_, left, right):
            return _varies(left) or _varies(right)
        case Call(_, arguments):
            return any(_varies(argument) for argument in arguments)


def _double(value: Value | Register) -> Doubles:
    match value:
        case Negative(inner):
            return -_double(inner)
        case Arithmetic(operator, left, right):
            return calculate(operator, _double(left), _double(right))
        case Call(function, arguments):
            return call(function, [_double(argument) for argument in arguments])
        case Literal(int() | float() as number):
            return np.asarray(as_double(number), dtype=np.float64)
        case _:
            return np.asarray(np.nan, dtype=np.float64)
