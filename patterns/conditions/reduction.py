"""Conditions restated as formulas over terms: which cell each term lies in decides every condition.

A term is an attribute, a computed value, or a pair of values that are compared with each other. What is known about
terms beyond their own cells (a computed value is unknown when one of its attributes is; two values on either side of
a constant are ordered) becomes requirements: formulas that hold for every event.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import TypeAlias, assert_never

from foresail.patterns.conditions.cells import (
    Against,
    Cell,
    Exactly,
    Known,
    Ordered,
    Says,
    Test,
    Unknown,
    cells_for,
    compare,
    holds,
)
from foresail.patterns.conditions.exact import MIRRORED, NoConstant, constant_of
from foresail.patterns.conditions.functions import EARTH_RADIUS_M
from foresail.patterns.conditions.sun import microseconds_of
from foresail.patterns.conditions.syntax import (
    And,
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
    Value,
)
from foresail.patterns.conditions.text import attributes_of, text_of
from foresail.patterns.conditions.typing import AttributeType, Schema, type_given
from foresail.patterns.errors import ConditionTypeError

EXACT_AS_DOUBLE = 2**53
"""Below this, an integer and the double made of it stand in the same order to a constant."""
BOUNDS: Mapping[Function, tuple[float, float]] = {
    Function.ABS: (0.0, float("inf")),
    Function.ANGLE: (0.0, 180.0),
    Function.DISTANCE_M: (0.0, 4 * EARTH_RADIUS_M),
    Function.SQRT: (0.0, float("inf")),
    Function.HOUR: (0, 23),
    Function.LOCAL_HOUR: (0, 23),
    Function.WEEKDAY: (1, 7),
}
WHOLE_RESULTS = frozenset({Function.HOUR, Function.LOCAL_HOUR, Function.WEEKDAY})
"""What gives whole numbers only. `floor` is none of them: it also gives infinities, and numbers beyond all integers."""


@dataclass(frozen=True, slots=True)
class Asks:
    """The atom of a formula: one test on one term."""

    term: str
    test: Test


@dataclass(frozen=True, slots=True)
class Denies:
    """The part does not hold."""

    part: "Formula"


@dataclass(frozen=True, slots=True)
class Joins:
    """All parts hold, or with `every` unset at least one."""

    every: bool
    parts: "tuple[Formula, ...]"


Formula: TypeAlias = Asks | Denies | Joins | bool


@dataclass(frozen=True, slots=True)
class Reduction:
    """Conditions as formulas, the requirements that always hold, and the cells of every term by name."""

    formulas: tuple[Formula, ...]
    requirements: tuple[Formula, ...]
    cells: Mapping[str, tuple[Cell, ...]]


def reduce_conditions(conditions: Sequence[Condition], types: Schema, known: Collection[str]) -> Reduction:
    """The conditions over terms and cells; an attribute without a type may be anything its tests allow."""
    terms = _Terms(types, known)
    formulas = tuple(terms.formula(condition) for condition in conditions)
    requirements = tuple(terms.requirements())
    for asked in chain.from_iterable(map(_asked_in, requirements)):
        terms.tests[asked.term][asked.test] = None
    return Reduction(formulas, requirements, terms.cells())


@dataclass(slots=True)
class _Terms:
    """The terms met so far with the tests that were asked of each."""

    types: Schema
    known: Collection[str]
    values: dict[str, Value] = field(default_factory=dict)
    pairs: dict[str, tuple[Value, Value]] = field(default_factory=dict)
    tests: dict[str, dict[Test, None]] = field(default_factory=dict)

    def formula(self, node: Condition) -> Formula:
        match node:
            case Literal(value):
                return bool(value)
            case Attribute() | Call():
                return self._comparison(Operator.EQUAL, node, Literal(True))
            case Not(part):
                return Denies(self.formula(part))
            case And(parts):
                return Joins(True, tuple(self.formula(part) for part in parts))
            case Or(parts):
                return Joins(False, tuple(self.formula(part) for part in parts))
            case IsKnown(value):
                constant = constant_of(value)
                if constant is NoConstant.VARIES:
                    return self._ask(value, Known())
                return constant is not NoConstant.UNKNOWN
            case Membership(value, options):
                return Joins(False, tuple(self._comparison(Operator.EQUAL, value, option) for option in options))
            case Comparison(operator, left, right):
                return self._comparison(operator, left, right)
            case _:
                assert_never(node)

    def _comparison(self, operator: Operator, left: Value, right: Value) -> Formula:
        one, other = constant_of(left), constant_of(right)
        if one is NoConstant.UNKNOWN or other is NoConstant.UNKNOWN:
            return False
        if one is NoConstant.VARIES:
            if other is NoConstant.VARIES:
                return self._relation(operator, left, right)
            return self._test(operator, left, other)
        if other is NoConstant.VARIES:
            return self._test(MIRRORED[operator], right, one)
        return settled(operator, one, other)

    def _test(self, operator: Operator, value: Value, constant: bool | int | float | str) -> Formula:
        """The comparison of a value with a constant, seen through `-` and `abs` where that is exact."""
        if isinstance(constant, bool):
            return self._ask(value, Says(constant == _equality(operator, text_of(value))))
        if not isinstance(constant, str) and abs(constant) < EXACT_AS_DOUBLE:
            match value:
                case Negative(inner):
                    return self._test(MIRRORED[operator], inner, -constant)
                case Call(Function.ABS, (inner,)) if not isinstance(inner, Literal) and isinstance(inner, Value):
                    return self._absolute(operator, inner, constant)
        if isinstance(constant, str) and self._type(value) is AttributeType.TIMESTAMP:
            return self._ask(value, Against(operator, _instant(constant)))
        return self._ask(value, Against(operator, constant))

    def _absolute(self, operator: Operator, inner: Value, constant: int | float) -> Formula:
        above, below = self._test(operator, inner, constant), self._test(MIRRORED[operator], inner, -constant)
        if operator in (Operator.EQUAL, Operator.UNEQUAL) and constant < 0:
            return operator is Operator.UNEQUAL and self.formula(IsKnown(inner))
        nearer = operator in (Operator.LESS, Operator.AT_MOST, Operator.UNEQUAL)
        return Joins(nearer, (above, below))

    def _relation(self, operator: Operator, left: Value, right: Value) -> Formula:
        one, other = text_of(left), text_of(right)
        if one == other:
            return compare(operator, 0, 0) and self._ask(left, Known())
        if other < one:
            left, right, one, other, operator = right, left, other, one, MIRRORED[operator]
        name = f"{one} <> {other}"
        self.pairs[name] = (left, right)
        return self._asking(name, Ordered(operator))

    def _ask(self, value: Value, test: Test) -> Asks:
        name = text_of(value)
        self.values[name] = value
        return self._asking(name, test)

    def _asking(self, name: str, test: Test) -> Asks:
        self.tests.setdefault(name, {})[test] = None
        return Asks(name, test)

    def _type(self, value: Value) -> AttributeType | None:
        if isinstance(value, Call):
            return AttributeType.INTEGER if value.function in WHOLE_RESULTS else type_given(value)
        if not isinstance(value, Attribute):
            return AttributeType.NUMBER
        return self.types.get(value.key, self.types.get(value.name))

    def cells(self) -> dict[str, tuple[Cell, ...]]:
        """The cells of every term."""
        found: dict[str, tuple[Cell, ...]] = {}
        for name, (left, right) in self.pairs.items():
            unknown = () if self._always_known(left) and self._always_known(right) else (Unknown(),)
            found[name] = (*unknown, *cells_for(self.tests[name], None))
        for name, value in self.values.items():
            unknown = () if self._always_known(value) else (Unknown(),)
            bounds = BOUNDS.get(value.function) if isinstance(value, Call) else None
            found[name] = (*unknown, *cells_for(self.tests[name], self._type(value), bounds))
        return found

    def _always_known(self, value: Value) -> bool:
        return isinstance(value, Attribute) and value.key in self.known

    def requirements(self) -> Iterator[Formula]:
        """What holds for every event about terms that depend on each other."""
        self._settle_instants()
        for name, value in self.values.items():
            if not isinstance(value, Attribute):
                yield from self._unknown_with(name, attributes_of(value))
        for name, (left, right) in self.pairs.items():
            yield from self._unknown_with(name, (*attributes_of(left), *attributes_of(right), left, right))
            if {text_of(left), text_of(right)} <= self.values.keys():
                yield from self._ordered_by_constants(name, text_of(left), text_of(right))

    def _unknown_with(self, name: str, parts: Iterable[Value]) -> Iterator[Formula]:
        for part in dict.fromkeys(map(text_of, parts)):
            if part in self.values:
                yield _implied(Denies(Asks(part, Known())), Denies(Asks(name, Known())))

    def _ordered_by_constants(self, name: str, left: str, right: str) -> Iterator[Formula]:
        yield _implied(Joins(True, (Asks(left, Known()), Asks(right, Known()))), Asks(name, Known()))
        both = list(chain(self.tests[left], self.tests[right]))
        if any(isinstance(test, Says) for test in both):
            yield from _matching(name, left, right, Says(True), Says(False))
        for constant in dict.fromkeys(test.constant for test in both if isinstance(test, Against)):
            at, off = Against(Operator.EQUAL, constant), Against(Operator.UNEQUAL, constant)
            yield from _matching(name, left, right, at, off)
            if not isinstance(constant, str):
                yield from _apart(name, left, right, constant)

    def _settle_instants(self) -> None:
        """Refuse what cannot be decided without knowing whether an attribute holds texts or times."""
        for name, value in self.values.items():
            if self._type(value) is None:
                texts = [
                    test for test in self.tests[name] if isinstance(test, Against) and isinstance(test.constant, str)
                ]
                _check_texts(name, texts)


def _matching(name: str, left: str, right: str, at: Test, off: Test) -> Iterator[Formula]:
    equal = Asks(name, Ordered(Operator.EQUAL))
    yield _implied(Joins(True, (Asks(left, at), Asks(right, at))), equal)
    yield _implied(Joins(True, (Asks(left, at), Asks(right, off))), Denies(equal))
    yield _implied(Joins(True, (Asks(left, off), Asks(right, at))), Denies(equal))
    if isinstance(off, Says):
        yield _implied(Joins(True, (Asks(left, off), Asks(right, off))), equal)


def _apart(name: str, left: str, right: str, constant: int | float) -> Iterator[Formula]:
    sides = ((left, right, Operator.LESS), (right, left, Operator.GREATER))
    for low, high, order in sides:
        for reach, beyond in ((Operator.AT_MOST, Operator.GREATER), (Operator.LESS, Operator.AT_LEAST)):
            split = (Asks(low, Against(reach, constant)), Asks(high, Against(beyond, constant)))
            yield _implied(Joins(True, split), Asks(name, Ordered(order)))


def _implied(premise: Formula, conclusion: Formula) -> Formula:
    return Joins(False, (Denies(premise), conclusion))


def _asked_in(formula: Formula) -> Iterator[Asks]:
    match formula:
        case Asks():
            yield formula
        case Denies(part):
            yield from _asked_in(part)
        case Joins(_, parts):
            for part in parts:
                yield from _asked_in(part)


def settled(operator: Operator, left: bool | int | float | str, right: bool | int | float | str) -> bool:
    """The comparison of two constants."""
    if isinstance(left, bool) and isinstance(right, bool):
        return (left == right) == _equality(operator, "true or false")
    return holds(Against(operator, right), Exactly(left))


def _equality(operator: Operator, what: str) -> bool:
    """True for ==, false for !=."""
    if operator in (Operator.EQUAL, Operator.UNEQUAL):
        return operator is Operator.EQUAL
    msg = f"condition: {what} has no order for {operator.value}. Use == or !=."
    raise ConditionTypeError(msg)


def _instant(text: str) -> int:
    instant = microseconds_of(text)
    if instant is None:
        msg = f'condition: "{text}" is not a time. Write it like "2024-05-01T12:00:00Z".'
        raise ConditionTypeError(msg)
    return instant


def _check_texts(name: str, tests: Sequence[Against]) -> None:
    spelt: dict[int, str] = {}
    for test in tests:
        text = str(test.constant)
        if test.operator not in (Operator.EQUAL, Operator.UNEQUAL):
            msg = (
                f'condition: {name} {test.operator.value} "{text}" orders texts. Say that {name} is a time, or use ==.'
            )
            raise ConditionTypeError(msg)
        instant = microseconds_of(text)
        if instant is not None and spelt.setdefault(instant, text) != text:
            msg = f'condition: "{spelt[instant]}" and "{text}" are the same time. Write them alike in all conditions.'
            raise ConditionTypeError(msg)
