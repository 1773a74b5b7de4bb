"""A condition restated for typed columns: every comparison names the machine type that decides it, without rounding.

Both back ends read this form, so that a rule about types, constants or the unknown is written once.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias, assert_never

from foresail.patterns.conditions.exact import MIRRORED, NoConstant, constant_of, for_doubles, for_integers
from foresail.patterns.conditions.reduction import settled
from foresail.patterns.conditions.sun import microseconds_of
from foresail.patterns.conditions.syntax import (
    And,
    Arithmetic,
    Attribute,
    Call,
    Comparison,
    Condition,
    Function,
    IsKnown,
    Literal,
    Membership,
    Negative,
    Not,
    Operator,
    Or,
    Register,
    Value,
)
from foresail.patterns.conditions.text import attributes_of, text_of
from foresail.patterns.conditions.typing import (
    NUMERIC,
    SIGNATURES,
    UNORDERED,
    AttributeType,
    Schema,
    literal_type,
    type_given,
)
from foresail.patterns.errors import ConditionTypeError, Place, UnknownAttributeError


@dataclass(frozen=True, slots=True)
class Settled:
    """The same for every event."""

    holds: bool


@dataclass(frozen=True, slots=True)
class Denied:
    """The part does not hold."""

    part: "Lowered"


@dataclass(frozen=True, slots=True)
class Joined:
    """All parts hold, or with `every` unset at least one."""

    every: bool
    parts: "tuple[Lowered, ...]"


@dataclass(frozen=True, slots=True)
class Present:
    """The value is known."""

    value: Value


@dataclass(frozen=True, slots=True)
class VersusConstant:
    """The value compared with a constant of its own type: an integer (times are microseconds), double, text or bool."""

    operator: Operator
    value: Value
    type: AttributeType
    constant: bool | int | float | str


@dataclass(frozen=True, slots=True)
class OneOf:
    """The value equals one of the constants, all of its own type."""

    value: Value
    type: AttributeType
    constants: tuple[bool | int | float | str, ...]


@dataclass(frozen=True, slots=True)
class Related:
    """Two values of one type compared with each other."""

    operator: Operator
    left: Value
    right: Value
    type: AttributeType


@dataclass(frozen=True, slots=True)
class IntegerAgainstDouble:
    """An integer attribute compared with a double, exactly."""

    operator: Operator
    integer: Attribute
    double: Value


Lowered: TypeAlias = Settled | Denied | Joined | Present | VersusConstant | OneOf | Related | IntegerAgainstDouble


def lower(condition: Condition, types: Schema) -> Lowered:
    """The condition for columns of these types; an attribute that has no type is unknown to the events."""
    match condition:
        case Literal(value):
            return Settled(bool(value))
        case Attribute() | Call():
            if type_of(condition, types) is not AttributeType.BOOLEAN:
                raise _mismatch(condition, condition, types)
            return _comparison(Operator.EQUAL, condition, Literal(True), types)
        case Not(part):
            return Denied(lower(part, types))
        case And(parts):
            return Joined(True, tuple(lower(part, types) for part in parts))
        case Or(parts):
            return Joined(False, tuple(lower(part, types) for part in parts))
        case IsKnown(value):
            constant = constant_of(value)
            type_of(value, types)
            return Present(value) if constant is NoConstant.VARIES else Settled(constant is not NoConstant.UNKNOWN)
        case Membership(value, options):
            return _membership(value, options, types)
        case Comparison(operator, left, right):
            return _comparison(operator, left, right, types)
        case _:
            assert_never(condition)


def type_of(value: Value, types: Schema) -> AttributeType:
    """The type of the value's column; all numbers that are computed are doubles."""
    if isinstance(value, Literal):
        return literal_type(value)
    if not isinstance(value, Attribute):
        _check_operands(value, types)
        return type_given(value) if isinstance(value, Call) else AttributeType.NUMBER
    if value.key not in types:
        raise UnknownAttributeError(value.key, types, value.place or Place())
    return types[value.key]


def _check_operands(value: Value, types: Schema) -> None:
    for operand, wanted in _operands(value):
        found = type_of(operand, types)
        if found is not wanted and not {found, wanted} <= NUMERIC:
            problem = f"`{text_of(value)}` has no result: {text_of(operand)} is {found.value}"
            msg = f"condition: {problem}. Check the condition against the schema of the events."
            raise ConditionTypeError(msg)


def _operands(value: Value) -> Iterator[tuple[Value, AttributeType]]:
    """What the value is computed of, each with the type it must have."""
    match value:
        case Negative(inner):
            yield inner, AttributeType.NUMBER
        case Arithmetic(_, left, right):
            yield from ((left, AttributeType.NUMBER), (right, AttributeType.NUMBER))
        case Call(Function.SECONDS_SINCE, _):
            yield from ((attribute, AttributeType.TIMESTAMP) for attribute in attributes_of(value))
        case Call(function, arguments):
            for place, argument in enumerate(arguments):
                if not isinstance(argument, Register):
                    yield argument, SIGNATURES[function].takes_at(place)


def _comparison(operator: Operator, left: Value, right: Value, types: Schema) -> Lowered:
    one, other = constant_of(left), constant_of(right)
    if one is NoConstant.UNKNOWN or other is NoConstant.UNKNOWN:
        return Settled(False)
    if one is not NoConstant.VARIES:
        if other is not NoConstant.VARIES:
            return Settled(settled(operator, one, other))
        return _against(MIRRORED[operator], right, one, types)
    if other is not NoConstant.VARIES:
        return _against(operator, left, other, types)
    return _related(operator, left, right, types)


def _against(operator: Operator, value: Value, constant: bool | int | float | str, types: Schema) -> Lowered:
    kind = type_of(value, types)
    restated = _restated(operator, value, constant, kind)
    if isinstance(restated, bool):
        return Present(value) if restated else Settled(False)
    return VersusConstant(restated[0], value, kind, restated[1])


def _restated(
    operator: Operator, value: Value, constant: bool | int | float | str, kind: AttributeType
) -> tuple[Operator, bool | int | float | str] | bool:
    """The operator and constant that decide the comparison for this type; a bool settles it for all known values."""
    match kind, constant:
        case AttributeType.STRING, str():
            return _unordered(operator, value), constant
        case AttributeType.BOOLEAN, bool():
            return _unordered(operator, value), constant
        case AttributeType.TIMESTAMP, str():
            instant = microseconds_of(constant)
            if instant is not None:
                return for_integers(operator, instant)
        case AttributeType.INTEGER, int() | float() if not isinstance(constant, bool):
            return for_integers(operator, constant)
        case AttributeType.NUMBER, int() | float() if not isinstance(constant, bool):
            return for_doubles(operator, constant)
    raise _mismatch(value, Literal(constant), {}, kind)


def _membership(value: Value, options: tuple[Literal, ...], types: Schema) -> Lowered:
    constant = constant_of(value)
    if constant is NoConstant.UNKNOWN:
        return Settled(False)
    if constant is not NoConstant.VARIES:
        return Settled(any(settled(Operator.EQUAL, constant, option.value) for option in options))
    kind = type_of(value, types)
    restated = [_restated(Operator.EQUAL, value, option.value, kind) for option in options]
    return OneOf(value, kind, tuple(found[1] for found in restated if not isinstance(found, bool)))


def _related(operator: Operator, left: Value, right: Value, types: Schema) -> Lowered:
    one, other = type_of(left, types), type_of(right, types)
    if one is other:
        return Related(_unordered(operator, left) if one in UNORDERED else operator, left, right, one)
    if not {one, other} <= NUMERIC:
        raise _mismatch(left, right, types)
    if isinstance(left, Attribute) and one is AttributeType.INTEGER:
        return IntegerAgainstDouble(operator, left, right)
    assert isinstance(right, Attribute), "only attributes are integers"
    return IntegerAgainstDouble(MIRRORED[operator], right, left)


def _unordered(operator: Operator, value: Value) -> Operator:
    if operator in (Operator.EQUAL, Operator.UNEQUAL):
        return operator
    msg = f"condition: {text_of(value)} has no order for {operator.value}. Use ==, != or in (...)."
    raise ConditionTypeError(msg)


def _mismatch(left: Value, right: Value, types: Schema, kind: AttributeType | None = None) -> ConditionTypeError:
    one, other = kind or type_of(left, types), type_of(right, types)
    return ConditionTypeError(
        f"condition: {text_of(left)} is {one.value} and {text_of(right)} is {other.value}: they cannot be compared. "
        "Check the condition against the schema of the events."
    )
