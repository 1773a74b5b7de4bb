"""How near a feature must be for a family's conditions to see it: beyond that, all distances look the same."""

from collections.abc import Iterable, Iterator
from typing import assert_never

from foresail.patterns.conditions.syntax import (
    And,
    Attribute,
    Call,
    Comparison,
    Condition,
    IsKnown,
    Literal,
    Membership,
    Not,
    Or,
)
from foresail.patterns.conditions.text import attributes_of
from foresail.patterns.errors import PatternRuleError

DISTANCE = "distance_m"


def reach_m(conditions: Iterable[Condition], family: str, declared_m: float | None, where: str) -> float:
    """The radius within which rows of near features are needed; the declared one, if it is wide enough."""
    thresholds = list(_thresholds(conditions, family))
    needed = max((value for value in thresholds if value is not None), default=0.0)
    if declared_m is None and None in thresholds:
        msg = f"{where}: cannot tell how far '{family}.{DISTANCE}' matters. Add radius_m to for_each."
        raise PatternRuleError(msg)
    if declared_m is not None and declared_m < needed:
        msg = f"{where}: radius_m is {declared_m:g}, but a condition asks beyond it, at {needed:g}. Widen radius_m."
        raise PatternRuleError(msg)
    return needed if declared_m is None else float(declared_m)


def _thresholds(conditions: Iterable[Condition], family: str) -> Iterator[float | None]:
    """The constants that the distance is compared with; None where it is not a plain comparison."""
    for condition in conditions:
        match condition:
            case And(parts) | Or(parts):
                yield from _thresholds(parts, family)
            case Not(part):
                yield from _thresholds([part], family)
            case Comparison(_, Attribute(name, owner), Literal(value)) | Comparison(
                _, Literal(value), Attribute(name, owner)
            ) if owner == family and name == DISTANCE and isinstance(value, int | float):
                yield float(value)
            case Comparison() | Membership() | IsKnown() | Attribute() | Call() | Literal():
                if any(attribute.owner == family for attribute in attributes_of(condition)):
                    yield None
            case _:
                assert_never(condition)
