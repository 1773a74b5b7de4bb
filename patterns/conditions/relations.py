"""Conditions that relate the current event to remembered ones, as small programs over columns.

A relation is split: what it asks of the current event alone is a condition like any other and becomes a bit of the
words, so that most events never come to the program. The program reads values of columns, of the current event or of
one that a register holds, and is interpreted by the kernel: no machine code is made for a pattern.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, assert_never

import numpy as np
from numpy.typing import NDArray

from foresail.patterns.conditions.evaluate import ArrayColumn, value_column
from foresail.patterns.conditions.exact import as_double
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
from foresail.patterns.conditions.stable_codes import NULL, code_of, stable
from foresail.patterns.conditions.syntax import (
    TIME,
    And,
    Arithmetic,
    Attribute,
    Call,
    Condition,
    Function,
    Literal,
    Negative,
    Not,
    Operator,
    Or,
    Register,
    Value,
)
from foresail.patterns.conditions.text import attributes_of, text_of
from foresail.patterns.conditions.typing import AttributeType, Schema, type_given
from foresail.patterns.errors import RegistersError

CURRENT = -1
"""Stands where others have the number of a register: the event that is being read."""
CONSTANT, NUMBER, LONG, COMPARE, COMPARE_NUMBERS, COMPARE_LONGS, COMPARE_LONG, LONG_AGAINST = range(8)
KNOWN, KNOWN_LONG, BIT, DENY, EVERY, SOME, NEGATE, ADD, SUBTRACT, MULTIPLY, DIVIDE = range(8, 19)
FUNCTIONS = {
    Function.ABS: 19,
    Function.MIN: 20,
    Function.MAX: 21,
    Function.ANGLE: 22,
    Function.DISTANCE_M: 23,
    Function.SECONDS_SINCE: 24,
    Function.FLOOR: 25,
    Function.SQRT: 26,
    Function.HOUR: 27,
    Function.LOCAL_HOUR: 28,
    Function.WEEKDAY: 29,
}
OPERATORS = {operator: number for number, operator in enumerate(Operator)}
ARITHMETIC = {"+": ADD, "-": SUBTRACT, "*": MULTIPLY, "/": DIVIDE}
MOST_DEPTH = 64
"""Values that a program may hold at once."""
_WIDTH = 6
_VALUE = "value:"
"""Before the names of these columns: others of a batch (where events were, their offsets) may be called alike."""


class Programs(NamedTuple):
    """The programs of all relations, one after the other; relation r is `code[at[r]:at[r + 1]]`."""

    at: NDArray[np.int64]
    code: NDArray[np.int32]
    constants: NDArray[np.float64]
    integers: NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Column:
    """A value of each event that programs read: an attribute, or what a function makes of its texts."""

    value: Value
    long: bool
    """Whether it is kept as an integer (whole numbers, times, codes of texts, yes and no) and not as a double."""

    @property
    def name(self) -> str:
        """Under which a batch holds it."""
        return f"{_VALUE}{text_of(self.value)}"


def value_columns(kept: Iterable[Column], columns: Mapping[str, ArrayColumn], rows: int) -> dict[str, NDArray[Any]]:
    """The values of each event by name: doubles with NaN, or integers with NULL, where nothing is known."""
    return {some.name: _kept_as(some.long, stable(value_column(some.value, columns, rows))) for some in kept}


def _kept_as(long: bool, values: NDArray[Any]) -> NDArray[Any]:
    """Integers where nothing was known of the type, and so doubles are read."""
    if long or values.dtype == np.float64:
        return values
    return np.where(values == NULL, np.nan, values.astype(np.float64))


def registers_read(condition: Condition | Value, registers: Collection[str]) -> frozenset[str]:
    """The registers among `registers` that a condition reads."""
    return frozenset(a.owner for a in attributes_of(condition) if a.owner is not None and a.owner in registers)


def may_hold(condition: Condition, registers: Collection[str], wanted: bool = True) -> Condition:
    """What a relation asks of the current event alone: it holds wherever the relation can."""
    if not registers_read(condition, registers):
        return condition
    match condition:
        case And(parts) | Or(parts):
            every = isinstance(condition, And)
            return _joined(every, [may_hold(part, registers, wanted) for part in parts])
        case Not(part):
            inner = may_hold(part, registers, not wanted)
            return Literal(not inner.value) if isinstance(inner, Literal) else Not(inner)
        case _:
            return Literal(wanted)


def own_parts(condition: Condition, registers: Collection[str]) -> list[Condition]:
    """The parts of a relation that read the current event alone, the largest of them."""
    if not registers_read(condition, registers):
        return [] if isinstance(condition, Literal) else [condition]
    match condition:
        case And(parts) | Or(parts):
            return [own for part in parts for own in own_parts(part, registers)]
        case Not(part):
            return own_parts(part, registers)
        case _:
            return []


def _joined(every: bool, parts: Sequence[Condition]) -> Condition:
    neutral = Literal(every)
    kept = [part for part in parts if part != neutral]
    if Literal(not every) in kept:
        return Literal(not every)
    if len(kept) <= 1:
        return kept[0] if kept else neutral
    return And(tuple(kept)) if every else Or(tuple(kept))


@dataclass(slots=True)
class Programmer:
    """Turns relations into programs, and notes the columns that they read."""

    registers: Sequence[str]
    types: Schema
    bits: Mapping[str, int]
    """By its text the bit of a condition that reads the current event alone."""
    columns: dict[str, Column] = field(default_factory=dict)
    _code: list[tuple[int, ...]] = field(default_factory=list)
    _constants: list[float] = field(default_factory=list)
    _integers: list[int] = field(default_factory=list)

    def programs(self, relations: Iterable[Condition]) -> Programs:
        """The programs of `relations`, in that order."""
        at = [0]
        for relation in relations:
            self._condition(relation)
            at.append(len(self._code))
        rows = [(*row, *[0] * (_WIDTH - len(row))) for row in self._code]
        return Programs(
            np.array(at, dtype=np.int64),
            np.array(rows, dtype=np.int32).reshape(-1, _WIDTH),
            np.array([*self._constants, 0.0], dtype=np.float64),
            np.array([*self._integers, 0], dtype=np.int64),
        )

    def _condition(self, condition: Condition) -> None:
        if not registers_read(condition, self.registers):
            if isinstance(condition, Literal):
                self._constant(float(bool(condition.value)))
            else:
                self._code.append((BIT, self.bits[text_of(condition)]))
            return
        match condition:
            case And(parts) | Or(parts):
                for n, part in enumerate(parts):
                    self._condition(part)
                    if n:
                        self._code.append((EVERY if isinstance(condition, And) else SOME,))
            case Not(part):
                self._condition(part)
                self._code.append((DENY,))
            case _:
                self._lowered(lower(condition, self.types))

    def _lowered(self, node: Lowered) -> None:
        match node:
            case Settled(holds):
                self._constant(float(holds))
            case Denied(part):
                self._lowered(part)
                self._code.append((DENY,))
            case Joined(every, parts):
                self._constant(float(every))
                for part in parts:
                    self._lowered(part)
                    self._code.append((EVERY if every else SOME,))
            case Present(value):
                self._present(value)
            case VersusConstant(operator, value, kind, constant):
                self._versus(operator, value, kind, constant)
            case OneOf(value, kind, constants):
                self._constant(0.0)
                for constant in constants:
                    self._versus(Operator.EQUAL, value, kind, constant)
                    self._code.append((SOME,))
            case Related(operator, left, right, kind):
                self._related(operator, left, right, kind)
            case IntegerAgainstDouble(operator, integer, double):
                self._value(double)
                self._code.append((LONG_AGAINST, OPERATORS[operator], *self._place(integer)))
            case _:
                assert_never(node)

    def _present(self, value: Value) -> None:
        if self._is_long(value):
            self._code.append((KNOWN_LONG, *self._place(value)))
        else:
            self._value(value)
            self._code.append((KNOWN,))

    def _versus(self, operator: Operator, value: Value, kind: AttributeType, constant: object) -> None:
        if kind is AttributeType.NUMBER:
            self._value(value)
            self._constant(float(constant))  # type: ignore[arg-type]
            self._code.append((COMPARE, OPERATORS[operator]))
            return
        integer = code_of(str(constant)) if kind is AttributeType.STRING else int(constant)  # type: ignore[call-overload]
        self._integers.append(integer)
        self._code.append((COMPARE_LONG, OPERATORS[operator], *self._place(value), len(self._integers) - 1))

    def _related(self, operator: Operator, left: Value, right: Value, kind: AttributeType) -> None:
        if kind is not AttributeType.NUMBER:
            self._code.append((COMPARE_LONGS, OPERATORS[operator], *self._place(left), *self._place(right)))
        elif isinstance(left, Attribute) and isinstance(right, Attribute):
            self._code.append((COMPARE_NUMBERS, OPERATORS[operator], *self._place(left), *self._place(right)))
        else:
            self._value(left)
            self._value(right)
            self._code.append((COMPARE, OPERATORS[operator]))

    def _value(self, value: Value | Register) -> None:
        match value:
            case Literal(number):
                assert not isinstance(number, str), "a text is never computed with"
                self._constant(as_double(number))
            case Attribute():
                self._code.append((LONG if self._is_long(value) else NUMBER, *self._place(value)))
            case Negative(inner):
                self._value(inner)
                self._code.append((NEGATE,))
            case Arithmetic(operator, left, right):
                self._value(left)
                self._value(right)
                self._code.append((ARITHMETIC[operator],))
            case Call(function, (Register(name),)):
                self._value(Attribute(TIME))
                self._value(Attribute(TIME, name))
                self._code.append((FUNCTIONS[function],))
            case Call(Function.MIN | Function.MAX as function, (first, *others)):
                self._value(first)
                for other in others:
                    self._value(other)
                    self._code.append((FUNCTIONS[function],))
            case Call(function, arguments):
                for argument in arguments:
                    self._value(argument)
                self._code.append((FUNCTIONS[function],))
            case Register():
                msg = "a register is only the argument of seconds_since"
                raise AssertionError(msg)
            case _:
                assert_never(value)

    def _is_long(self, value: Value) -> bool:
        if isinstance(value, Attribute) or (isinstance(value, Call) and type_given(value) is not AttributeType.NUMBER):
            return type_of(value, self.types) is not AttributeType.NUMBER
        return False

    def _place(self, value: Value) -> tuple[int, int]:
        """Which event a column is read of, and the column; both sides of a function must be of one event."""
        owners = {a.owner if a.owner in self.registers else None for a in attributes_of(value)}
        if len(owners) > 1:
            msg = f"`{text_of(value)}` reads several events. Give it values of one event alone."
            raise RegistersError(msg)
        owner = next(iter(owners), None)
        own = _of_current(value, owner)
        column = Column(own, self._is_long(value))
        self.columns.setdefault(column.name, column)
        slot = CURRENT if owner is None else list(self.registers).index(owner)
        alike = [name for name, other in self.columns.items() if other.long == column.long]
        return slot, alike.index(column.name)

    def _constant(self, value: float) -> None:
        self._constants.append(value)
        self._code.append((CONSTANT, len(self._constants) - 1))


def _of_current(value: Value, owner: str | None) -> Value:
    """The same value of the current event."""
    match value:
        case Attribute(name, found, place):
            return Attribute(name, None if found == owner else found, place)
        case Call(function, arguments):
            moved = tuple(a if isinstance(a, Register) else _of_current(a, owner) for a in arguments)
            return Call(function, moved)
        case Negative(inner):
            return Negative(_of_current(inner, owner))
        case Arithmetic(operator, left, right):
            return Arithmetic(operator, _of_current(left, owner), _of_current(right, owner))
        case Literal():
            return value
        case _:
            assert_never(value)


def depth_of(programs: Programs) -> int:
    """The most values that any program holds at once."""
    takes = {COMPARE: 2, LONG_AGAINST: 1, KNOWN: 1, DENY: 1, EVERY: 2, SOME: 2, NEGATE: 1}
    takes |= dict.fromkeys((ADD, SUBTRACT, MULTIPLY, DIVIDE), 2)
    two = (Function.MIN, Function.MAX, Function.ANGLE, Function.SECONDS_SINCE, Function.LOCAL_HOUR)
    takes |= dict.fromkeys(FUNCTIONS.values(), 1) | {FUNCTIONS[function]: 2 for function in two}
    takes[FUNCTIONS[Function.DISTANCE_M]] = 4
    deepest = 0
    for first, end in zip(programs.at[:-1].tolist(), programs.at[1:].tolist(), strict=True):
        held = 0
        for row in programs.code[first:end].tolist():
            held += 1 - takes.get(row[0], 0)
            deepest = max(deepest, held)
    return deepest
