"""By how much a condition does not hold: the comparisons that keep it from holding, and how far each is off."""

from collections.abc import Mapping
from dataclasses import dataclass
from math import inf, isnan

import numpy as np
from numpy.typing import NDArray

from foresail.patterns.conditions.evaluate import ArrayColumn, evaluate, numbers
from foresail.patterns.conditions.syntax import (
    And,
    Arithmetic,
    Attribute,
    Comparison,
    Condition,
    Literal,
    Not,
    Operator,
    Or,
    Value,
)
from foresail.patterns.conditions.text import attributes_of, text_of
from foresail.patterns.conditions.typing import AttributeType

OPPOSITE = {
    Operator.EQUAL: Operator.UNEQUAL,
    Operator.UNEQUAL: Operator.EQUAL,
    Operator.LESS: Operator.AT_LEAST,
    Operator.AT_LEAST: Operator.LESS,
    Operator.GREATER: Operator.AT_MOST,
    Operator.AT_MOST: Operator.GREATER,
}


@dataclass(frozen=True, slots=True)
class Shortfall:
    """A comparison that is not as it should be: what was read, and the limit."""

    needs: str
    """What should hold: `speed_kn < 1`."""
    reads: str
    """What is compared: `speed_kn`."""
    value: float | None = None
    """None where it is unknown, or no number."""
    limit: float | None = None
    remembered: tuple[tuple[str, float], ...] = ()
    """What was read of registers: `before.fuel_level`, and its value."""
    asked: float | None = None
    """How much `reads` should have been beyond what one register remembers, where that is all that is compared."""

    @property
    def off(self) -> float:
        """How far the value is from the limit; endless where either is unknown."""
        return inf if self.value is None or self.limit is None else abs(self.value - self.limit)


def shortfalls(condition: Condition, event: Mapping[str, ArrayColumn], wanted: bool = True) -> tuple[Shortfall, ...]:
    """What keeps `condition` from being as `wanted` on one event, given as columns of one row; nothing where it is."""
    if bool(evaluate(condition, event, 1)[0]) is wanted:
        return ()
    match condition:
        case Not(part):
            return shortfalls(part, event, not wanted)
        case And(parts) | Or(parts):
            found = [some for part in parts if (some := shortfalls(part, event, wanted))]
            if isinstance(condition, And) is wanted:
                return tuple(one for some in found for one in some)
            return min(found, key=lambda some: (len(some), sum(one.off for one in some)))
        case Comparison(operator, left, right):
            return (_compared(operator if wanted else OPPOSITE[operator], left, right, event),)
        case _:
            reads = ", ".join(attribute.key for attribute in attributes_of(condition))
            return (Shortfall(text_of(condition if wanted else Not(condition)), reads),)


def offs(condition: Condition, events: Mapping[str, ArrayColumn], rows: int) -> NDArray[np.float64]:
    """For each row how far the condition is from holding: 0 where it does, endless where no distance can be told."""
    match condition:
        case And(parts):
            return np.asarray(np.sum([offs(part, events, rows) for part in parts], axis=0), dtype=np.float64)
        case Or(parts):
            return np.asarray(np.min([offs(part, events, rows) for part in parts], axis=0), dtype=np.float64)
        case _:
            far = np.full(rows, inf)
            if isinstance(condition, Comparison) and not any(
                _is_text(side, events) for side in (condition.left, condition.right)
            ):
                left, right = (numbers(side, events, rows) for side in (condition.left, condition.right))
                far = np.nan_to_num(np.abs(left - right), nan=inf, posinf=inf)
            return np.where(evaluate(condition, events, rows), 0.0, far)


def _compared(operator: Operator, left: Value, right: Value, event: Mapping[str, ArrayColumn]) -> Shortfall:
    needs = text_of(Comparison(operator, left, right))
    if isinstance(left, Literal) and not isinstance(right, Literal):
        left, right = right, left
    reads = text_of(left)
    if any(_is_text(value, event) for value in (left, right)):
        return Shortfall(needs, reads)
    value, limit = (float(numbers(part, event, 1)[0]) for part in (left, right))
    remembered = [a for part in (left, right) for a in attributes_of(part) if a.owner is not None]
    held = tuple((a.key, float(numbers(a, event, 1)[0])) for a in remembered if event[a.key].type in _NUMBERS)
    return Shortfall(
        needs,
        reads,
        None if isnan(value) else value,
        None if isnan(limit) else limit,
        tuple((name, some) for name, some in held if not isnan(some)),
        _asked_beyond(right) if isinstance(left, Attribute) and left.owner is None else None,
    )


_NUMBERS = (AttributeType.NUMBER, AttributeType.INTEGER)


def _asked_beyond(limit: Value) -> float | None:
    """The amount in `before.fuel_level - 0.1`; None of any other value."""
    match limit:
        case Arithmetic("+" | "-" as sign, Attribute(_, str()), Literal(int() | float() as amount)):
            return float(amount) if sign == "+" else -float(amount)
    return None


def _is_text(value: Value, event: Mapping[str, ArrayColumn]) -> bool:
    if isinstance(value, Literal):
        return isinstance(value.value, str)
    kinds = (AttributeType.STRING, AttributeType.BOOLEAN)
    return any(event[attribute.key].type in kinds for attribute in attributes_of(value))
