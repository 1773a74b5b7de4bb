"""A condition as a tree. Nodes are plain values: they hold, they never compute.

A `Value` is what can be compared (a number, a name, an instant); a `Condition` is what can hold. A boolean attribute,
a call that says yes or no, and the literals `true` and `false` are both.
"""

from dataclasses import dataclass, field
from enum import Enum
from typing import TypeAlias

from foresail.patterns.errors import Place


class Operator(Enum):
    """How two values are compared."""

    EQUAL = "=="
    UNEQUAL = "!="
    LESS = "<"
    AT_MOST = "<="
    GREATER = ">"
    AT_LEAST = ">="


class Function(Enum):
    """What can be called in a condition."""

    ABS = "abs"
    MIN = "min"
    MAX = "max"
    ANGLE = "angle"
    DISTANCE_M = "distance_m"
    SECONDS_SINCE = "seconds_since"
    FLOOR = "floor"
    SQRT = "sqrt"
    HOUR = "hour"
    WEEKDAY = "weekday"
    LOCAL_HOUR = "local_hour"
    IS_NIGHT = "is_night"
    LOWER = "lower"
    STARTS_WITH = "starts_with"


@dataclass(frozen=True, slots=True, eq=False)
class Literal:
    """A constant. `1`, `1.0` and `true` are three different literals, although Python holds them equal."""

    value: bool | int | float | str

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Literal):
            return NotImplemented
        return type(self.value) is type(other.value) and self.value == other.value

    def __hash__(self) -> int:
        return hash((type(self.value), self.value))


@dataclass(frozen=True, slots=True)
class Attribute:
    """A named value of the current event, or of what `owner` names: a register or the feature of a pattern family."""

    name: str
    owner: str | None = None
    place: Place | None = field(default=None, compare=False, repr=False)

    @property
    def key(self) -> str:
        """The name under which schemas and columns hold this attribute: `speed_kn`, `port.distance_m`."""
        return self.name if self.owner is None else f"{self.owner}.{self.name}"


@dataclass(frozen=True, slots=True)
class Register:
    """An earlier event of the same run, as the argument of `seconds_since`."""

    name: str


@dataclass(frozen=True, slots=True)
class Negative:
    """`-value`. A negative number is a literal of its own and never stands in here."""

    value: "Value"


@dataclass(frozen=True, slots=True)
class Arithmetic:
    """`left operator right` with one of + - * /, computed in double precision whatever the operands are."""

    operator: str
    left: "Value"
    right: "Value"


@dataclass(frozen=True, slots=True)
class Call:
    """A function applied to its arguments; numbers are computed in double precision."""

    function: Function
    arguments: "tuple[Value | Register, ...]"


@dataclass(frozen=True, slots=True)
class Comparison:
    """`left operator right`: false when a side is unknown."""

    operator: Operator
    left: "Value"
    right: "Value"


@dataclass(frozen=True, slots=True)
class Membership:
    """`value in (options)`: false when the value is unknown."""

    value: "Value"
    options: tuple[Literal, ...]


@dataclass(frozen=True, slots=True)
class IsKnown:
    """The value is there: neither null nor NaN."""

    value: "Value"


@dataclass(frozen=True, slots=True)
class Not:
    """The part does not hold, be it false or unknown."""

    part: "Condition"


@dataclass(frozen=True, slots=True)
class And:
    """Every part holds."""

    parts: "tuple[Condition, ...]"


@dataclass(frozen=True, slots=True)
class Or:
    """Some part holds."""

    parts: "tuple[Condition, ...]"


Value: TypeAlias = Literal | Attribute | Negative | Arithmetic | Call
Condition: TypeAlias = And | Or | Not | Comparison | Membership | IsKnown | Literal | Attribute | Call

KEYWORDS = frozenset({"and", "or", "not", "in", "is", "true", "false"})
TIME = "time"
"""The attribute that every event has; `seconds_since` reads it."""
