"""Values that no event can change: `1.1 * max_speed_kn` once its parameter is filled in."""

from enum import Enum
from math import isnan
from typing import TypeAlias

import numpy as np

from foresail.patterns.conditions.exact import as_double
from foresail.patterns.conditions.functions import Doubles, calculate, call
from foresail.patterns.conditions.letters import lowered
from foresail.patterns.conditions.syntax import (
    Arithmetic,
    Attribute,
    Call,
    Function,
    Literal,
    Negative,
    Register,
    Value,
)
from foresail.patterns.conditions.text import text_of
from foresail.patterns.errors import ConditionTypeError


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
