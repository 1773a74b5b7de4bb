"""Conditions as Spark columns: Catalyst expressions only, so that events are tested where they are, in the JVM.

The columns are never null and agree with `foresail.patterns.conditions.evaluate` on every value; the rules about types,
constants and the unknown are those of `patterns.conditions.lowering`. Spark's own rules differ in places, which are
guarded here: it holds NaN equal to itself and above all numbers, lets `least` and `greatest` skip nulls, compares a
long with a double by rounding the long, rounds down to a long, and in ANSI mode fails on a division by zero.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import and_, eq, ge, gt, le, lt, ne, or_
from typing import assert_never

from pyspark.sql import Column
from pyspark.sql import functions as F  # noqa: N812 - the name all of Spark's own examples use
from pyspark.sql import types as T  # noqa: N812

from foresail.patterns.conditions import Attribute, AttributeType, Condition
from foresail.patterns.conditions.evaluate import TWO_TO_63
from foresail.patterns.conditions.exact import as_double
from foresail.patterns.conditions.functions import EARTH_RADIUS_M, RADIANS_PER_DEGREE, THURSDAY
from foresail.patterns.conditions.letters import capitals
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
    type_of,
)
from foresail.patterns.conditions.relations import Column as Kept
from foresail.patterns.conditions.stable_codes import HEX_DIGITS, NULL
from foresail.patterns.conditions.sun import (
    DAY_US,
    DEGREE_US,
    DOWN,
    FARTHEST_LAT,
    FARTHEST_LON,
    HOUR_US,
    sine_of_height,
)
from foresail.patterns.conditions.syntax import (
    TIME,
    Arithmetic,
    Call,
    Function,
    Literal,
    Negative,
    Operator,
    Register,
    Value,
)
from foresail.patterns.conditions.typing import type_given

Resolve = Callable[[Attribute], Column]
"""The column that holds an attribute."""

WORD = 64
MICROSECONDS_PER_DAY = 86_400_000_000
COMPARE: Mapping[Operator, Callable[[Column, Column], Column]] = {
    Operator.EQUAL: eq,
    Operator.UNEQUAL: ne,
    Operator.LESS: lt,
    Operator.AT_MOST: le,
    Operator.GREATER: gt,
    Operator.AT_LEAST: ge,
}
INTEGER_TYPES = (T.ByteType, T.ShortType, T.IntegerType, T.LongType)
NUMBER_TYPES = (T.FloatType, T.DoubleType, T.DecimalType)
TIME_TYPES = (T.TimestampType, T.TimestampNTZType, T.DateType)


def columns_of(schema: T.StructType) -> Resolve:
    """Finds the column named like the attribute, or for `owner.name` the field of the struct `owner`."""

    def resolve(attribute: Attribute) -> Column:
        nested = attribute.owner is not None and attribute.key not in schema.names
        names = [str(attribute.owner), attribute.name] if nested else [attribute.key]
        return F.col(".".join(f"`{name.replace('`', '``')}`" for name in names))

    return resolve


def attribute_types(schema: T.StructType) -> dict[str, AttributeType]:
    """The type of each column that conditions can read, fields of structs under `struct.field`."""
    found = {key: _attribute_type(kind) for key, kind in _fields(schema)}
    return {key: kind for key, kind in found.items() if kind is not None}


def condition_column(condition: Condition, schema: T.StructType, resolve: Resolve | None = None) -> Column:
    """A boolean column, never null, that is true for the rows that satisfy the condition.

    With a `resolve` of its own, a caller chooses the columns; `schema` then says their types under `owner.name`.
    """
    return _Columns(dict(_fields(schema)), resolve or columns_of(schema)).holds(
        lower(condition, attribute_types(schema))
    )


def packed_words(conditions: Sequence[Condition], schema: T.StructType, resolve: Resolve | None = None) -> list[Column]:
    """The conditions as bits of long columns: condition i is bit `i % 64` of word `i // 64`."""
    holding = [condition_column(condition, schema, resolve) for condition in conditions]
    return [_packed(holding[first : first + WORD]) for first in range(0, len(holding), WORD)]


def value_columns(kept: Sequence[Kept], schema: T.StructType) -> list[Column]:
    """The values that patterns with registers compare, as `patterns.conditions.relations` makes them in Python."""
    made, types = _Columns(dict(_fields(schema)), columns_of(schema)), attribute_types(schema)
    return [_stable(made._typed(some.value), type_of(some.value, types), some.long) for some in kept]


def _stable(value: Column, kind: AttributeType, long: bool) -> Column:
    if not long:
        return F.coalesce(value.cast("double"), F.lit(float("nan")))
    if kind is AttributeType.STRING:
        value = F.conv(F.substring(F.sha2(value, 256), 1, HEX_DIGITS), 16, 10)
    # Python has no literal of the least long that Spark would take as one
    return F.coalesce(value.cast("long"), F.lit(NULL + 1).cast("long") - F.lit(1).cast("long"))


def _packed(bits: Sequence[Column]) -> Column:
    nothing = F.lit(0).cast("long")
    masks = [F.when(bit, F.lit(_signed(1 << place)).cast("long")).otherwise(nothing) for place, bit in enumerate(bits)]
    return reduce(lambda word, mask: word.bitwiseOR(mask), masks)


def _signed(mask: int) -> int:
    return mask - (1 << WORD) if mask >> (WORD - 1) else mask


def _fields(schema: T.StructType) -> Iterator[tuple[str, T.DataType]]:
    for column in schema.fields:
        yield column.name, column.dataType
        if isinstance(column.dataType, T.StructType):
            yield from ((f"{column.name}.{inner.name}", inner.dataType) for inner in column.dataType.fields)


def _attribute_type(kind: T.DataType) -> AttributeType | None:
    match kind:
        case T.StringType():
            return AttributeType.STRING
        case T.BooleanType():
            return AttributeType.BOOLEAN
        case _ if isinstance(kind, INTEGER_TYPES):
            return AttributeType.INTEGER
        case _ if isinstance(kind, NUMBER_TYPES):
            return AttributeType.NUMBER
        case _ if isinstance(kind, TIME_TYPES):
            return AttributeType.TIMESTAMP
    return None


@dataclass(frozen=True, slots=True)
class _Columns:
    kinds: Mapping[str, T.DataType]
    resolve: Resolve

    def holds(self, node: Lowered) -> Column:
        match node:
            case Settled(holds):
                return F.lit(holds)
            case Denied(part):
                return ~self.holds(part)
            case Joined(every, parts):
                return reduce(and_ if every else or_, map(self.holds, parts), F.lit(every))
            case Present(value):
                return self._known(value)
            case VersusConstant(operator, value, kind, constant):
                return self._tested(operator, value, kind, constant)
            case OneOf(value, AttributeType.NUMBER, constants):  # Spark's sets tell 0.0 from -0.0, its == does not
                tests = (self._tested(Operator.EQUAL, value, AttributeType.NUMBER, number) for number in constants)
                return reduce(or_, tests, F.lit(False))
            case OneOf(value, _, constants):
                return _surely(self._typed(value).isin(list(constants))) if constants else F.lit(False)
            case Related(operator, left, right, kind):
                found = COMPARE[operator](self._typed(left), self._typed(right))
                guarded = kind is AttributeType.NUMBER
                return _surely(found & self._known(left) & self._known(right) if guarded else found)
            case IntegerAgainstDouble(operator, integer, double):
                order = _order(self._typed(integer), self._double(double))
                return _surely(COMPARE[operator](order, F.lit(0)) & self._known(integer) & self._known(double))
            case _:
                assert_never(node)

    def _tested(self, operator: Operator, value: Value, kind: AttributeType, constant: object) -> Column:
        column = self._typed(value)
        found = COMPARE[operator](column, F.lit(constant))
        above = operator in (Operator.GREATER, Operator.AT_LEAST, Operator.UNEQUAL)
        if kind is AttributeType.NUMBER and (above or constant == float("inf")):
            found = found & ~F.isnan(column)
        return _surely(found)

    def _known(self, value: Value) -> Column:
        column = self._typed(value)
        if isinstance(value, Attribute) and not isinstance(self.kinds[value.key], NUMBER_TYPES):
            return column.isNotNull()
        if isinstance(value, Call) and type_given(value) is not AttributeType.NUMBER:
            return column.isNotNull()
        return column.isNotNull() & ~F.isnan(column)

    def _typed(self, value: Value) -> Column:
        """The value as the type that decides its comparisons: long, double, string or boolean."""
        match value:
            case Literal(str() as text):
                return F.lit(text)
            case Call(Function.LOWER, (inner,)):
                return F.translate(self._text(inner), *capitals())
            case Call(Function.STARTS_WITH, (inner, Literal(str() as beginning))):
                return self._text(inner).startswith(beginning)
            case Call(Function.IS_NIGHT, (time, lon, lat)):
                return _night(*map(self._double, (time, lon, lat)))
        if not isinstance(value, Attribute):
            return self._double(value)
        column, kind = self.resolve(value), self.kinds[value.key]
        match kind:
            case T.TimestampType():
                return F.unix_micros(column)
            case T.TimestampNTZType():
                return F.unix_micros(F.convert_timezone(F.lit("UTC"), F.current_timezone(), column).cast("timestamp"))
            case T.DateType():
                return F.unix_date(column).cast("long") * F.lit(MICROSECONDS_PER_DAY)
            case _ if isinstance(kind, INTEGER_TYPES):
                return column.cast("long")
            case _ if isinstance(kind, NUMBER_TYPES):
                return column.cast("double")
        return column

    def _text(self, value: Value | Register) -> Column:
        assert not isinstance(value, Register), "a register is only the argument of seconds_since"
        return self._typed(value)

    def _double(self, value: Value | Register) -> Column:
        """The value as a double; null or NaN where it is unknown."""
        match value:
            case Literal(number):
                assert not isinstance(number, str), "a text is never computed with"
                return F.lit(as_double(number))
            case Attribute():
                return self._typed(value).cast("double")
            case Negative(inner):
                return -self._double(inner)
            case Arithmetic(operator, left, right):
                return _calculate(operator, self._double(left), self._double(right))
            case Call(_, (Register(name),)):
                now, then = self._double(Attribute(TIME)), self._double(Attribute(TIME, name))
                return (now - then) / F.lit(1e6)
            case Call(function, arguments):
                return _call(function, [self._double(argument) for argument in arguments])
            case Register():
                msg = "a register is only the argument of seconds_since"
                raise AssertionError(msg)
            case _:
                assert_never(value)


def _surely(found: Column) -> Column:
    """The comparison without its third value: what is unknown does not hold."""
    return F.coalesce(found, F.lit(False))


def _calculate(operator: str, left: Column, right: Column) -> Column:
    match operator:
        case "+":
            return left + right
        case "-":
            return left - right
        case "*":
            return left * right
        case _:
            return F.try_divide(left, right)


def _call(function: Function, arguments: list[Column]) -> Column:
    match function:
        case Function.ABS:
            return F.abs(arguments[0])
        case Function.MIN:
            return F.when(_all_known(arguments), F.least(*arguments))
        case Function.MAX:
            return F.when(_all_known(arguments), F.greatest(*arguments))
        case Function.ANGLE:
            one, other = arguments
            apart = F.abs((one - other) % F.lit(360.0))
            return F.when(apart > 180.0, F.lit(360.0) - apart).otherwise(apart)
        case Function.DISTANCE_M:
            return _distance_m(*arguments)
        case Function.SECONDS_SINCE:
            msg = "seconds_since takes a register, which is no column"
            raise AssertionError(msg)
        case Function.FLOOR:
            return _floor(arguments[0])
        case Function.SQRT:
            return F.sqrt(arguments[0])
        case Function.HOUR:
            return _floor(_of_day(arguments[0]) / F.lit(HOUR_US))
        case Function.LOCAL_HOUR:
            time, lon = arguments
            return _floor(_of_day(time + lon * F.lit(DEGREE_US)) / F.lit(HOUR_US))
        case Function.WEEKDAY:
            days = (arguments[0] - _of_day(arguments[0])) / F.lit(DAY_US)
            return F.pmod(days + F.lit(THURSDAY), F.lit(7.0)) + F.lit(1.0)
        case Function.IS_NIGHT | Function.LOWER | Function.STARTS_WITH:
            msg = f"{function.value} gives no number"
            raise AssertionError(msg)


def _of_day(time_us: Column) -> Column:
    return F.pmod(time_us, F.lit(DAY_US))


def _floor(number: Column) -> Column:
    """Spark rounds down to a long; what is beyond 2^53 is whole already."""
    small = F.abs(number) < F.lit(2.0**53)
    return F.when(small, F.floor(number).cast("double")).otherwise(number)


def _night(time_us: Column, lon: Column, lat: Column) -> Column:
    somewhere = (F.abs(lat) <= F.lit(FARTHEST_LAT)) & (F.abs(lon) <= F.lit(FARTHEST_LON))
    return F.when(somewhere, sine_of_height(_Numbers(), time_us, lon, lat) < F.lit(DOWN))


class _Numbers:
    """How columns do what the sun's formula asks of numbers."""

    def remainder(self, value: Column, divisor: float) -> Column:
        return value % F.lit(divisor)

    def size(self, value: Column) -> Column:
        return F.abs(value)

    def let(self, value: Column, use: Callable[[Column], Column]) -> Column:
        """A list of one, whose element is named: an expression that is written often is worked out as often."""
        return F.transform(F.array(value), use)[0]


def _all_known(columns: Sequence[Column]) -> Column:
    return reduce(and_, (column.isNotNull() & ~F.isnan(column) for column in columns))


def _distance_m(lon: Column, lat: Column, lon2: Column, lat2: Column) -> Column:
    degree, half = F.lit(RADIANS_PER_DEGREE), F.lit(0.5)
    across = F.sin((lat2 - lat) * degree * half)
    along = F.sin((lon2 - lon) * degree * half)
    narrowing = F.cos(lat * degree) * F.cos(lat2 * degree)
    haversine = across * across + narrowing * (along * along)
    capped = F.when((haversine > 1.0) & ~F.isnan(haversine), F.lit(1.0)).otherwise(haversine)
    return F.lit(2.0 * EARTH_RADIUS_M) * F.asin(F.sqrt(capped))


def _order(integer: Column, double: Column) -> Column:
    """-1, 0 or 1 as the integer is less than, equal to or greater than the double, without rounding either."""
    whole = F.floor(double)
    below = (integer < whole) | ((integer == whole) & (double > whole.cast("double")))
    inside = F.when(below, F.lit(-1)).when(integer > whole, F.lit(1)).when(integer == whole, F.lit(0))
    return F.when(double >= TWO_TO_63, F.lit(-1)).when(double < -TWO_TO_63, F.lit(1)).otherwise(inside)
