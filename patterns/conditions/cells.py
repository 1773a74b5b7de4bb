"""The domain of a term, split into cells within which no test on that term can change its answer.

Numbers fall into points and open intervals between the constants they are compared with; texts into the named ones and
the rest; a relation of two values into less, equal and greater. One more cell stands for unknown.
"""

from collections.abc import Collection
from dataclasses import dataclass
from itertools import pairwise
from math import floor, inf, nextafter
from typing import TypeAlias

from foresail.patterns.conditions.exact import (
    GREATEST_INTEGER,
    LEAST_INTEGER,
    as_double,
    is_double,
    is_machine_integer,
)
from foresail.patterns.conditions.syntax import Operator
from foresail.patterns.conditions.typing import AttributeType

Number: TypeAlias = int | float
WHOLE = frozenset({AttributeType.INTEGER, AttributeType.TIMESTAMP})


@dataclass(frozen=True, slots=True)
class Known:
    """The test that the term is there."""


@dataclass(frozen=True, slots=True)
class Against:
    """The test `term operator constant`; a text is only compared for equality."""

    operator: Operator
    constant: int | float | str


@dataclass(frozen=True, slots=True)
class Says:
    """The test that a boolean term is known and has this value."""

    value: bool


@dataclass(frozen=True, slots=True)
class Ordered:
    """The test `left operator right` of a term that is a pair of values."""

    operator: Operator


Test: TypeAlias = Known | Against | Says | Ordered


@dataclass(frozen=True, slots=True)
class Unknown:
    """Null and NaN."""


@dataclass(frozen=True, slots=True)
class Somehow:
    """Any known value that no other cell names."""


@dataclass(frozen=True, slots=True)
class Exactly:
    """One named number or text."""

    value: int | float | str


@dataclass(frozen=True, slots=True)
class Verdict:
    """A boolean that is true, or one that is false."""

    value: bool


@dataclass(frozen=True, slots=True)
class Between:
    """The open interval of numbers from `low` to `high`; None is beyond all numbers."""

    low: Number | None
    high: Number | None


@dataclass(frozen=True, slots=True)
class Relation:
    """How the left value of a pair stands to the right one: -1 less, 0 equal, 1 greater."""

    sign: int


Cell: TypeAlias = Unknown | Somehow | Exactly | Verdict | Between | Relation


def holds(test: Test, cell: Cell) -> bool:
    """Whether the test says yes in the cell."""
    if isinstance(cell, Unknown):
        return False
    match test, cell:
        case Known(), _:
            return True
        case Ordered(operator), Relation(sign):
            return compare(operator, sign, 0)
        case Says(value), Verdict(found):
            return value == found
        case Against(operator, str() as text), Exactly(str() as found):
            return (operator is Operator.EQUAL) == (text == found)
        case Against(operator, str()), Somehow():
            return operator is Operator.UNEQUAL
        case Against(operator, int() | float() as constant), Exactly(int() | float() as number):
            return compare(operator, number, constant)
        case Against(operator, int() | float() as constant), Between(low, high):
            return _holds_between(operator, low, high, constant)
    return False


def compare(operator: Operator, left: Number, right: Number) -> bool:
    """`left operator right`, exactly, whatever mixture of integers and doubles."""
    match operator:
        case Operator.EQUAL:
            return left == right
        case Operator.UNEQUAL:
            return left != right
        case Operator.LESS:
            return left < right
        case Operator.AT_MOST:
            return left <= right
        case Operator.GREATER:
            return left > right
        case Operator.AT_LEAST:
            return left >= right


def cells_for(
    tests: Collection[Test], kind: AttributeType | None, bounds: tuple[Number, Number] | None = None
) -> tuple[Cell, ...]:
    """The cells that the tests tell apart and in which a known value of this kind, within bounds, can lie."""
    if any(isinstance(test, Ordered) for test in tests):
        return (Relation(-1), Relation(0), Relation(1))
    constants = [test.constant for test in tests if isinstance(test, Against)]
    cells: list[Cell] = []
    numbers = sorted({constant for constant in constants if not isinstance(constant, str)})
    if numbers:
        cells += [cell for cell in _intervals(numbers) if _can_be(cell, kind) and _within(cell, bounds)]
    texts = sorted({constant for constant in constants if isinstance(constant, str)})
    if texts:
        cells += [*map(Exactly, texts), Somehow()]
    if any(isinstance(test, Says) for test in tests):
        cells += [Verdict(True), Verdict(False)]
    return tuple(cells) or (Somehow(),)


def _intervals(constants: list[Number]) -> list[Exactly | Between]:
    ends: list[Number | None] = [None, *constants, None]
    found: list[Exactly | Between] = []
    for low, high in pairwise(ends):
        found.append(Between(low, high))
        if high is not None:
            found.append(Exactly(high))
    return found


def _holds_between(operator: Operator, low: Number | None, high: Number | None, constant: Number) -> bool:
    match operator:
        case Operator.LESS | Operator.AT_MOST:
            return high is not None and high <= constant
        case Operator.GREATER | Operator.AT_LEAST:
            return low is not None and low >= constant
        case _:
            return operator is Operator.UNEQUAL


def _can_be(cell: Exactly | Between, kind: AttributeType | None) -> bool:
    as_whole = kind is None or kind in WHOLE
    as_number = kind is None or kind is AttributeType.NUMBER
    if isinstance(cell, Exactly):
        assert not isinstance(cell.value, str), "texts are never ends of intervals"
        return (as_whole and is_machine_integer(cell.value)) or (as_number and is_double(cell.value))
    return (as_whole and _has_integer(cell)) or (as_number and _has_double(cell))


def _has_integer(cell: Between) -> bool:
    first = LEAST_INTEGER if cell.low is None or cell.low < LEAST_INTEGER else _floor(cell.low) + 1
    return first <= GREATEST_INTEGER and (cell.high is None or first < cell.high)


def _floor(number: Number) -> int:
    return GREATEST_INTEGER if number > GREATEST_INTEGER else floor(number)


def _has_double(cell: Between) -> bool:
    if cell.low is None:
        return cell.high is None or cell.high > -inf
    first = as_double(cell.low)
    if first <= cell.low:
        first = nextafter(first, inf)
    return first > cell.low and (cell.high is None or first < cell.high)


def _within(cell: Exactly | Between, bounds: tuple[Number, Number] | None) -> bool:
    if bounds is None:
        return True
    low, high = bounds
    if isinstance(cell, Exactly):
        assert not isinstance(cell.value, str), "texts are never ends of intervals"
        return low <= cell.value <= high
    return (cell.high is None or cell.high > low) and (cell.low is None or cell.low < high)
