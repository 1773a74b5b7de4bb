"""Conditions over NumPy arrays: the back end for batches that are already in Python, and for tests of the other one.

Null and NaN are both unknown. A comparison with the unknown is false and its `not` true; arithmetic with it is unknown,
as is a division by zero. Arithmetic is done in doubles; comparisons of attributes and constants are exact.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import reduce
from typing import Any, TypeAlias, assert_never

import numpy as np
from numpy.typing import NDArray

from foresail.patterns.conditions.exact import as_double
from foresail.patterns.conditions.functions import Doubles, calculate, call
from foresail.patterns.conditions.letters import lowered
from foresail.patterns.conditions.lowering import (
    Denied,
    IntegerAgainstDouble,
    Joined,
    Lowered,
    OneOf,
    Present,
    Related,
    Settled,
    VersusConstant,
    lower,
)
from foresail.patterns.conditions.sun import DOWN, FARTHEST_LAT, FARTHEST_LON, sine_of_height
from foresail.patterns.conditions.syntax import (
    TIME,
    Arithmetic,
    Attribute,
    Call,
    Condition,
    Function,
    Literal,
    Negative,
    Operator,
    Register,
    Value,
)
from foresail.patterns.conditions.typing import AttributeType, type_given

Booleans: TypeAlias = NDArray[np.bool_]

COMPARE: Mapping[Operator, np.ufunc] = {
    Operator.EQUAL: np.equal,
    Operator.UNEQUAL: np.not_equal,
    Operator.LESS: np.less,
    Operator.AT_MOST: np.less_equal,
    Operator.GREATER: np.greater,
    Operator.AT_LEAST: np.greater_equal,
}
TWO_TO_63 = 2.0**63


@dataclass(frozen=True, slots=True, eq=False)
class ArrayColumn:
    """The values of one attribute. `valid` is unset where they are null; None means that none is.

    Numbers are float64, integers int64, times int64 microseconds since 1970 in UTC, booleans bool. Texts are codes into
    `dictionary`, or Python strings in an object array when there is no dictionary.
    """

    values: NDArray[Any]
    valid: Booleans | None
    type: AttributeType
    dictionary: tuple[str, ...] | None = None


def evaluate(condition: Condition, columns: Mapping[str, ArrayColumn], rows: int | None = None) -> Booleans:
    """Whether the condition holds, row by row; `rows` is needed only where there are no columns."""
    types = {key: column.type for key, column in columns.items()}
    length = rows if rows is not None else len(next(iter(columns.values())).values)
    return _Table(columns, length).holds(lower(condition, types))


def holds(node: Lowered, columns: Mapping[str, ArrayColumn], rows: int) -> Booleans:
    """The same for a part of a condition that is restated for these columns."""
    return _Table(columns, rows).holds(node)


def numbers(value: Value, columns: Mapping[str, ArrayColumn], rows: int) -> Doubles:
    """A value that is a number, row by row; NaN where it is unknown."""
    return np.broadcast_to(_Table(columns, rows)._doubles(value), (rows,))


def value_column(value: Value, columns: Mapping[str, ArrayColumn], rows: int) -> ArrayColumn:
    """A value of each row as a column of its own type."""
    if _has_column(value):
        return _Table(columns, rows)._column(value)
    return ArrayColumn(numbers(value, columns, rows), None, AttributeType.NUMBER)


@dataclass(frozen=True, slots=True)
class _Table:
    columns: Mapping[str, ArrayColumn]
    rows: int

    def holds(self, node: Lowered) -> Booleans:
        match node:
            case Settled(holds):
                return np.full(self.rows, holds)
            case Denied(part):
                return ~self.holds(part)
            case Joined(every, parts):
                join = np.logical_and if every else np.logical_or
                return reduce(join, map(self.holds, parts), np.full(self.rows, every))
            case Present(value):
                return self._known(value)
            case VersusConstant(operator, value, kind, constant):
                return self._tested(operator, value, kind, constant)
            case OneOf(value, kind, constants):
                tests = (self._tested(Operator.EQUAL, value, kind, constant) for constant in constants)
                return reduce(np.logical_or, tests, np.full(self.rows, False))
            case Related(operator, left, right, kind):
                return self._related(operator, left, right, kind)
            case IntegerAgainstDouble(operator, integer, double):
                order = _order(self._values(integer), self._doubles(double))
                known = self._known(integer) & self._known(double)
                return np.asarray(COMPARE[operator](order, 0) & known, dtype=np.bool_)
            case _:
                assert_never(node)

    def _tested(self, operator: Operator, value: Value, kind: AttributeType, constant: object) -> Booleans:
        if kind is AttributeType.STRING:
            return self._text_is(operator, value, str(constant))
        if kind is AttributeType.NUMBER:
            return _compare_doubles(operator, self._doubles(value), np.float64(constant))  # type: ignore[arg-type]
        return np.asarray(COMPARE[operator](self._values(value), constant) & self._known(value), dtype=np.bool_)

    def _text_is(self, operator: Operator, value: Value, text: str) -> Booleans:
        column = self._column(value)
        if column.dictionary is None:
            equal = _equal_texts(column.values, text)
        else:
            codes = [code for code, word in enumerate(column.dictionary) if word == text]
            equal = reduce(np.logical_or, (column.values == code for code in codes), np.full(self.rows, False))
        return (equal if operator is Operator.EQUAL else ~equal) & self._known(value)

    def _related(self, operator: Operator, left: Value, right: Value, kind: AttributeType) -> Booleans:
        if kind is AttributeType.NUMBER:
            return _compare_doubles(operator, self._doubles(left), self._doubles(right))
        known = self._known(left) & self._known(right)
        if kind is AttributeType.STRING:
            equal = _equal_texts(_texts(self._column(left)), _texts(self._column(right)))
            return (equal if operator is Operator.EQUAL else ~equal) & known
        return np.asarray(COMPARE[operator](self._values(left), self._values(right)) & known, dtype=np.bool_)

    def _known(self, value: Value) -> Booleans:
        column = self._column(value) if _has_column(value) else None
        if column is not None and column.type is not AttributeType.NUMBER:
            return np.full(self.rows, True) if column.valid is None else column.valid
        return np.broadcast_to(~np.isnan(self._doubles(value)), (self.rows,))

    def _column(self, value: Value | Register) -> ArrayColumn:
        """The column of an attribute, or of a call that gives texts or booleans."""
        match value:
            case Attribute():
                return self.columns[value.key]
            case Literal(str() as text):
                return ArrayColumn(np.zeros(self.rows, np.int32), None, AttributeType.STRING, (text,))
            case Call(Function.LOWER, (inner,)):
                return _lowered(self._column(inner))
            case Call(Function.STARTS_WITH, (inner, Literal(str() as beginning))):
                return _beginning_with(self._column(inner), beginning)
            case Call(Function.IS_NIGHT, (time, lon, lat)):
                return self._night(self._doubles(time), self._doubles(lon), self._doubles(lat))
        msg = f"{value} is no text, integer, time or boolean"
        raise AssertionError(msg)

    def _night(self, time_us: Doubles, lon: Doubles, lat: Doubles) -> ArrayColumn:
        with np.errstate(all="ignore"):
            height = np.broadcast_to(sine_of_height(_Arrays(), time_us, lon, lat), (self.rows,))
        somewhere = (np.abs(lat) <= FARTHEST_LAT) & (np.abs(lon) <= FARTHEST_LON)
        return ArrayColumn(height < DOWN, ~np.isnan(height) & somewhere, AttributeType.BOOLEAN)

    def _values(self, value: Value) -> NDArray[Any]:
        return self._column(value).values

    def _doubles(self, value: Value | Register) -> Doubles:
        """The value in doubles, NaN where it is unknown."""
        match value:
            case Literal(number):
                assert not isinstance(number, str), "a text is never computed with"
                return np.asarray(as_double(number), dtype=np.float64)
            case Attribute(_, _):
                return _as_doubles(self.columns[value.key])
            case Negative(inner):
                return -self._doubles(inner)
            case Arithmetic(operator, left, right):
                return calculate(operator, self._doubles(left), self._doubles(right))
            case Call(function, (Register(name),)):
                times = [self._doubles(Attribute(TIME)), self._doubles(Attribute(TIME, name))]
                return call(function, times)
            case Call(function, arguments):
                return call(function, [self._doubles(argument) for argument in arguments])
            case _:
                msg = "a register is only the argument of seconds_since"
                raise AssertionError(msg)


def _has_column(value: Value) -> bool:
    """Whether the value's column is at hand or made as such, and not computed in doubles."""
    return isinstance(value, Attribute) or (isinstance(value, Call) and type_given(value) is not AttributeType.NUMBER)


def _compare_doubles(operator: Operator, left: Doubles, right: Doubles | np.float64) -> Booleans:
    found = COMPARE[operator](left, right)
    if operator is Operator.UNEQUAL:  # the only comparison that holds for NaN, which stands for the unknown
        found = found & ~np.isnan(left) & ~np.isnan(right)
    return np.asarray(found, dtype=np.bool_)


def _as_doubles(column: ArrayColumn) -> Doubles:
    values = column.values.astype(np.float64, copy=False)
    return values if column.valid is None else np.where(column.valid, values, np.nan)


def _order(integers: NDArray[np.int64], doubles: Doubles) -> NDArray[np.int8]:
    """-1, 0 or 1 as the integer is less than, equal to or greater than the double, without rounding either."""
    inside = (doubles >= -TWO_TO_63) & (doubles < TWO_TO_63)
    floors = np.floor(np.where(inside, doubles, 0.0))
    whole = floors.astype(np.int64)
    above = np.where(integers > whole, 1, 0)
    order = np.where((integers < whole) | ((integers == whole) & (doubles > floors)), -1, above)
    return np.where(inside, order, np.where(doubles > 0, -1, 1)).astype(np.int8)


def _equal_texts(left: NDArray[Any], right: NDArray[Any] | str) -> Booleans:
    return np.asarray(np.equal(left, right, dtype=object), dtype=np.bool_)


def _texts(column: ArrayColumn) -> NDArray[Any]:
    if column.dictionary is None:
        return column.values
    words = np.array([*column.dictionary, None], dtype=object)
    return np.asarray(words[np.clip(column.values, 0, len(column.dictionary))])


def _lowered(column: ArrayColumn) -> ArrayColumn:
    if column.dictionary is not None:
        return replace(column, dictionary=tuple(map(lowered, column.dictionary)))
    words = [lowered(word) if isinstance(word, str) else word for word in column.values]
    return replace(column, values=np.array([*words, None], dtype=object)[:-1])


def _beginning_with(column: ArrayColumn, beginning: str) -> ArrayColumn:
    known = column.values if column.dictionary is None else column.dictionary
    begins = np.array([isinstance(word, str) and word.startswith(beginning) for word in known], dtype=np.bool_)
    if column.dictionary is not None:
        begins = np.append(begins, False)[np.clip(column.values, 0, len(column.dictionary))]
    return ArrayColumn(begins, column.valid, AttributeType.BOOLEAN)


class _Arrays:
    """How arrays do what the sun's formula asks of numbers."""

    def remainder(self, value: Doubles, divisor: float) -> Doubles:
        return np.fmod(value, divisor)

    def size(self, value: Doubles) -> Doubles:
        return np.abs(value)

    def let(self, value: Doubles, use: Callable[[Doubles], Doubles]) -> Doubles:
        return use(value)
