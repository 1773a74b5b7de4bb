"""Whether a condition makes sense for the events at hand: attributes exist, and like is compared with like.

What each function of conditions takes and gives: one table for the parser, the checks and both back ends.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import TypeAlias, assert_never

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
from foresail.patterns.errors import ConditionTypeError, Place, UnknownAttributeError


class AttributeType(Enum):
    """What an attribute's values are, named as an analyst would name it."""

    NUMBER = "a number"
    INTEGER = "an integer"
    STRING = "a text"
    BOOLEAN = "true or false"
    TIMESTAMP = "a time"


NUMBER, STRING, BOOLEAN, TIMESTAMP = (
    AttributeType.NUMBER,
    AttributeType.STRING,
    AttributeType.BOOLEAN,
    AttributeType.TIMESTAMP,
)


@dataclass(frozen=True, slots=True)
class Signature:
    """The types of the arguments in their order, and of the result; with `further`, more of the last may follow."""

    takes: tuple[AttributeType, ...]
    gives: AttributeType = NUMBER
    further: bool = False

    def takes_at(self, place: int) -> AttributeType:
        """The type of the argument at that place, counted from 0."""
        return self.takes[min(place, len(self.takes) - 1)]


SIGNATURES: Mapping[Function, Signature] = {
    Function.ABS: Signature((NUMBER,)),
    Function.MIN: Signature((NUMBER, NUMBER), further=True),
    Function.MAX: Signature((NUMBER, NUMBER), further=True),
    Function.ANGLE: Signature((NUMBER, NUMBER)),
    Function.DISTANCE_M: Signature((NUMBER, NUMBER, NUMBER, NUMBER)),
    Function.SECONDS_SINCE: Signature((TIMESTAMP,)),
    Function.FLOOR: Signature((NUMBER,)),
    Function.SQRT: Signature((NUMBER,)),
    Function.HOUR: Signature((TIMESTAMP,)),
    Function.WEEKDAY: Signature((TIMESTAMP,)),
    Function.LOCAL_HOUR: Signature((TIMESTAMP, NUMBER)),
    Function.IS_NIGHT: Signature((TIMESTAMP, NUMBER, NUMBER), BOOLEAN),
    Function.LOWER: Signature((STRING,), STRING),
    Function.STARTS_WITH: Signature((STRING, STRING), BOOLEAN),
}


def type_given(call: Call) -> AttributeType:
    """The type of what a call gives."""
    return SIGNATURES[call.function].gives


__all__ = ["NUMERIC", "UNORDERED", "AttributeType", "Schema", "check_types", "literal_type"]

Schema: TypeAlias = Mapping[str, AttributeType]
NUMERIC = frozenset({AttributeType.NUMBER, AttributeType.INTEGER})
UNORDERED = frozenset({AttributeType.STRING, AttributeType.BOOLEAN})
REMEDY: Mapping[AttributeType, str] = {
    AttributeType.NUMBER: "Compare it with a number, such as 5.",
    AttributeType.INTEGER: "Compare it with a number, such as 5.",
    AttributeType.STRING: 'Compare it with a text in quotes, such as "tanker".',
    AttributeType.BOOLEAN: "Compare it with true or false, or write it alone.",
    AttributeType.TIMESTAMP: 'Compare it with a time in quotes, such as "2024-05-01T12:00:00Z".',
}
NEEDED: Mapping[AttributeType, str] = {
    AttributeType.TIMESTAMP: "Name an attribute that holds times, such as `time`.",
    AttributeType.STRING: "Name an attribute that holds texts, such as `name`.",
}


def check_types(
    condition: Condition, schema: Schema, where: Place, *, features: Mapping[str, Schema] | None = None
) -> None:
    """Raise the first fault; a register has the attributes of an event, a feature those that `features` says."""
    _Check(schema, where, features or {}).condition(condition)


def literal_type(literal: Literal) -> AttributeType:
    """The type of a constant as it is written."""
    match literal.value:
        case bool():
            return AttributeType.BOOLEAN
        case int():
            return AttributeType.INTEGER
        case float():
            return AttributeType.NUMBER
        case str():
            return AttributeType.STRING


@dataclass(frozen=True, slots=True)
class _Check:
    schema: Schema
    where: Place
    features: Mapping[str, Schema]

    def condition(self, node: Condition) -> None:
        match node:
            case And(parts) | Or(parts):
                for part in parts:
                    self.condition(part)
            case Not(part):
                self.condition(part)
            case Comparison(operator, left, right):
                self._comparison(node, operator, left, right)
            case Membership(value, options):
                for option in options:
                    self._comparison(node, Operator.EQUAL, value, option)
            case IsKnown(value):
                self._type(value)
            case Literal() | Attribute() | Call():
                self._truth(node)
            case _:
                assert_never(node)

    def _truth(self, node: Literal | Attribute | Call) -> None:
        found = self._type(node)
        if found is not AttributeType.BOOLEAN:
            way_out = f"Compare it with something, such as `{text_of(node)} is known`."
            raise self._error(node, f"'{text_of(node)}' is {found.value}, not a condition. {way_out}")

    def _comparison(self, node: Condition, operator: Operator, left: Value, right: Value) -> None:
        one, other = self._type(left), self._type(right)
        if AttributeType.TIMESTAMP in (one, other) and self._is_instant(left, right):
            return
        if one is not other and not {one, other} <= NUMERIC:
            faulty, kind = (right, one) if isinstance(right, Literal) else (left, other)
            problem = f"{text_of(left)} is {one.value} and {text_of(right)} is {other.value}: they cannot be compared."
            if isinstance(faulty, Literal):
                raise self._error(node, f"{problem} {REMEDY[kind]}")
            raise self._error(node, f"{problem} Compare attributes of the same type.")
        if one in UNORDERED and operator not in (Operator.EQUAL, Operator.UNEQUAL):
            problem = f"{text_of(left)} is {one.value}, which has no order for {operator.value}."
            raise self._error(node, f"{problem} Use ==, != or in (...).")

    def _is_instant(self, left: Value, right: Value) -> bool:
        for side in (left, right):
            if isinstance(side, Literal) and isinstance(side.value, str):
                if microseconds_of(side.value) is None:
                    problem = f"{text_of(side)} is not a time."
                    attribute = right if side is left else left
                    raise self._error(attribute, f"{problem} {REMEDY[AttributeType.TIMESTAMP]}")
                return True
        return False

    def _type(self, value: Value) -> AttributeType:
        match value:
            case Literal():
                return literal_type(value)
            case Attribute():
                return self._attribute(value)
            case Negative(inner):
                self._number(inner, value)
            case Arithmetic(_, left, right):
                self._number(left, value)
                self._number(right, value)
            case Call():
                return self._call(value)
            case _:
                assert_never(value)
        return AttributeType.NUMBER

    def _call(self, call: Call) -> AttributeType:
        signature = SIGNATURES[call.function]
        for place, argument in enumerate(call.arguments):
            if isinstance(argument, Register):
                continue
            wanted = signature.takes_at(place)
            if wanted is AttributeType.NUMBER:
                self._number(argument, call)
            elif self._type(argument) is not wanted:
                problem = f"`{text_of(call)}` needs {wanted.value}, and {text_of(argument)} is"
                raise self._error(call, f"{problem} {self._type(argument).value}. {NEEDED[wanted]}")
        return signature.gives

    def _number(self, operand: Value, whole: Value) -> None:
        found = self._type(operand)
        if found in NUMERIC:
            return
        problem = f"`{text_of(whole)}` needs numbers, and {text_of(operand)} is {found.value}."
        hint = f" Use {Function.SECONDS_SINCE.value}(register) to measure time." if _is_time(found) else ""
        raise self._error(whole, f"{problem}{hint or ' Name an attribute that holds a number.'}")

    def _attribute(self, attribute: Attribute) -> AttributeType:
        if attribute.key in self.schema:
            return self.schema[attribute.key]
        known = self.schema
        if attribute.owner is not None and attribute.owner in self.features:
            known = self.features[attribute.owner]
        if attribute.name not in known:
            raise UnknownAttributeError(attribute.key, _spelt(known, attribute.owner), attribute.place or self.where)
        return known[attribute.name]

    def _error(self, node: Condition | Value, problem: str) -> ConditionTypeError:
        places = [attribute.place for attribute in attributes_of(node) if attribute.place]
        return ConditionTypeError(f"{places[0] if places else self.where}: {problem}")


def _is_time(found: AttributeType) -> bool:
    return found is AttributeType.TIMESTAMP


def _spelt(known: Schema, owner: str | None) -> list[str]:
    return [name if owner is None or "." in name else f"{owner}.{name}" for name in known]
