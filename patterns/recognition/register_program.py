"""The interpreter of relations: a small program over columns of the current event and of those that registers hold."""

from math import cos, isnan, sin
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from foresail.patterns.conditions.functions import EARTH_RADIUS_M, RADIANS_PER_DEGREE, THURSDAY
from foresail.patterns.conditions.relations import (
    ADD,
    BIT,
    COMPARE,
    COMPARE_LONG,
    COMPARE_LONGS,
    COMPARE_NUMBERS,
    CONSTANT,
    DENY,
    DIVIDE,
    EVERY,
    FUNCTIONS,
    KNOWN,
    KNOWN_LONG,
    LONG,
    LONG_AGAINST,
    MULTIPLY,
    NEGATE,
    NUMBER,
    SOME,
    SUBTRACT,
    Programs,
)
from foresail.patterns.conditions.stable_codes import NULL
from foresail.patterns.conditions.sun import DAY_US, DEGREE_US, HOUR_US
from foresail.patterns.conditions.syntax import Function
from foresail.patterns.recognition.arrays import compiled

EMPTY = -(1 << 62)
"""A register that holds nothing."""
_ABS, _MIN, _MAX = FUNCTIONS[Function.ABS], FUNCTIONS[Function.MIN], FUNCTIONS[Function.MAX]
_ANGLE, _DISTANCE = FUNCTIONS[Function.ANGLE], FUNCTIONS[Function.DISTANCE_M]
_SINCE, _FLOOR, _SQRT = FUNCTIONS[Function.SECONDS_SINCE], FUNCTIONS[Function.FLOOR], FUNCTIONS[Function.SQRT]
_HOUR, _LOCAL_HOUR, _WEEKDAY = (
    FUNCTIONS[Function.HOUR],
    FUNCTIONS[Function.LOCAL_HOUR],
    FUNCTIONS[Function.WEEKDAY],
)
_TWO_TO_63 = 2.0**63


class Values(NamedTuple):
    """The columns that relations read, of the events of a batch and of those that are remembered from before it.

    A register holds the row of its event in the batch or, below zero, counted from the end of what is remembered.
    """

    numbers: NDArray[np.float64]
    longs: NDArray[np.int64]
    old_numbers: NDArray[np.float64]
    old_longs: NDArray[np.int64]
    stack: NDArray[np.float64]


@compiled
def number_at(values: Values, held: int, end: int, column: int) -> float:
    """A number of the event that is held; `end` is where the track's remembered events end."""
    if held == EMPTY:
        return np.nan
    return values.numbers[held, column] if held >= 0 else values.old_numbers[end + held, column]


@compiled
def long_at(values: Values, held: int, end: int, column: int) -> int:
    """An integer of the event that is held."""
    if held == EMPTY:
        return NULL
    return values.longs[held, column] if held >= 0 else values.old_longs[end + held, column]


@compiled
def compare(operator: int, order: int) -> float:
    """Whether values in that order (-1, 0, 1) satisfy the operator, as 0 or 1."""
    if operator == 0:
        return 1.0 if order == 0 else 0.0
    if operator == 1:
        return 1.0 if order != 0 else 0.0
    if operator == 2:
        return 1.0 if order < 0 else 0.0
    if operator == 3:
        return 1.0 if order <= 0 else 0.0
    if operator == 4:
        return 1.0 if order > 0 else 0.0
    return 1.0 if order >= 0 else 0.0


@compiled
def compared_numbers(operator: int, left: float, right: float) -> float:
    """The same for doubles; false where one is unknown."""
    if isnan(left) or isnan(right):
        return 0.0
    return compare(operator, (left > right) - (left < right))


@compiled
def integer_order(integer: int, double: float) -> int:
    """-1, 0 or 1 as the integer is less than, equal to or greater than the double, without rounding either."""
    if double >= _TWO_TO_63:
        return -1
    if double < -_TWO_TO_63:
        return 1
    floor = np.floor(double)
    whole = np.int64(floor)
    if integer < whole or (integer == whole and double > floor):
        return -1
    return 1 if integer > whole else 0


@compiled
def of_day(time_us: float) -> float:
    """Microseconds since midnight; never below zero."""
    rest = np.fmod(time_us, DAY_US)
    return rest + DAY_US if rest < 0 else rest


@compiled
def distance(lon: float, lat: float, lon2: float, lat2: float) -> float:
    """Metres between two places, in the order of `conditions.functions`."""
    across = sin((lat2 - lat) * RADIANS_PER_DEGREE * 0.5)
    along = sin((lon2 - lon) * RADIANS_PER_DEGREE * 0.5)
    narrowing = cos(lat * RADIANS_PER_DEGREE) * cos(lat2 * RADIANS_PER_DEGREE)
    haversine = across * across + narrowing * (along * along)
    return 2.0 * EARTH_RADIUS_M * np.arcsin(np.sqrt(min(haversine, 1.0)))


@compiled
def called(function: int, stack: NDArray[np.float64], top: int) -> int:
    """Replace the arguments on the stack by the function's value; the new top."""
    if function == _DISTANCE:
        stack[top - 4] = distance(stack[top - 4], stack[top - 3], stack[top - 2], stack[top - 1])
        return top - 3
    if function in (_MIN, _MAX, _ANGLE, _SINCE, _LOCAL_HOUR):
        left, right = stack[top - 2], stack[top - 1]
        if isnan(left) or isnan(right):
            stack[top - 2] = np.nan
        elif function == _MIN:
            stack[top - 2] = left if left < right else right
        elif function == _MAX:
            stack[top - 2] = left if left > right else right
        elif function == _ANGLE:
            apart = abs(np.fmod(left - right, 360.0))
            stack[top - 2] = apart if apart < 360.0 - apart else 360.0 - apart
        elif function == _SINCE:
            stack[top - 2] = (left - right) / 1e6
        else:
            stack[top - 2] = np.floor(of_day(left + right * DEGREE_US) / HOUR_US)
        return top - 1
    value = stack[top - 1]
    if function == _ABS:
        stack[top - 1] = abs(value)
    elif function == _FLOOR:
        stack[top - 1] = np.floor(value)
    elif function == _SQRT:
        stack[top - 1] = np.sqrt(value)
    elif function == _HOUR:
        stack[top - 1] = np.floor(of_day(value) / HOUR_US)
    elif function == _WEEKDAY:
        stack[top - 1] = np.fmod((value - of_day(value)) / DAY_US + THURSDAY, 7.0)
        stack[top - 1] = (stack[top - 1] + 7.0 if stack[top - 1] < 0 else stack[top - 1]) + 1.0
    return top


@compiled
def calculated(operation: int, left: float, right: float) -> float:
    """`left operation right`; what is divided by zero is unknown."""
    if operation == ADD:
        return left + right
    if operation == SUBTRACT:
        return left - right
    if operation == MULTIPLY:
        return left * right
    return np.nan if right == 0 else left / right


@compiled
def related(  # noqa: PLR0915 - an interpreter is one loop over its operations
    programs: Programs,
    relation: int,
    bits: int,
    event: int,
    registers: NDArray[np.int64],
    row: int,
    end: int,
    values: Values,
) -> bool:
    """Whether a relation holds of an event (whose own conditions are `bits`) and what the registers of a row hold."""
    stack, top = values.stack, 0
    for at in range(programs.at[relation], programs.at[relation + 1]):
        op, a, b = programs.code[at, 0], programs.code[at, 1], programs.code[at, 2]
        c, d, e = programs.code[at, 3], programs.code[at, 4], programs.code[at, 5]
        if op == COMPARE_NUMBERS:
            left = number_at(values, event if b < 0 else registers[row, b], end, c)
            right = number_at(values, event if d < 0 else registers[row, d], end, e)
            stack[top] = compared_numbers(a, left, right)
            top += 1
        elif op in (COMPARE_LONGS, COMPARE_LONG):
            one = long_at(values, event if b < 0 else registers[row, b], end, c)
            if op == COMPARE_LONGS:
                other = long_at(values, event if d < 0 else registers[row, d], end, e)
            else:
                other = programs.integers[d]
            known = NULL not in (one, other)
            stack[top] = compare(a, (one > other) - (one < other)) if known else 0.0
            top += 1
        elif op == BIT:
            stack[top] = 1.0 if (np.uint64(bits) >> np.uint64(a)) & np.uint64(1) else 0.0
            top += 1
        elif op in (EVERY, SOME):
            top -= 1
            both = stack[top - 1] != 0.0 and stack[top] != 0.0
            either = stack[top - 1] != 0.0 or stack[top] != 0.0
            stack[top - 1] = 1.0 if (both if op == EVERY else either) else 0.0
        elif op == DENY:
            stack[top - 1] = 1.0 - stack[top - 1]
        elif op == CONSTANT:
            stack[top] = programs.constants[a]
            top += 1
        elif op == NUMBER:
            stack[top] = number_at(values, event if a < 0 else registers[row, a], end, b)
            top += 1
        elif op == LONG:
            long = long_at(values, event if a < 0 else registers[row, a], end, b)
            stack[top] = np.nan if long == NULL else float(long)
            top += 1
        elif op == COMPARE:
            top -= 1
            stack[top - 1] = compared_numbers(a, stack[top - 1], stack[top])
        elif op == LONG_AGAINST:
            long = long_at(values, event if b < 0 else registers[row, b], end, c)
            double = stack[top - 1]
            known = long != NULL and not isnan(double)
            stack[top - 1] = compare(a, integer_order(long, double)) if known else 0.0
        elif op == KNOWN:
            stack[top - 1] = 0.0 if isnan(stack[top - 1]) else 1.0
        elif op == KNOWN_LONG:
            long = long_at(values, event if a < 0 else registers[row, a], end, b)
            stack[top] = 1.0 if long != NULL else 0.0
            top += 1
        elif op == NEGATE:
            stack[top - 1] = -stack[top - 1]
        elif ADD <= op <= DIVIDE:
            top -= 1
            stack[top - 1] = calculated(op, stack[top - 1], stack[top])
        else:
            top = called(op, stack, top)
    return stack[0] != 0.0
