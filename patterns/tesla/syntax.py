"""TESLA rules as a tree. Nodes are plain values with the places of what was written; they never compute."""

from dataclasses import dataclass
from typing import Literal, TypeAlias

from foresail.patterns.errors import Place

Comparison: TypeAlias = Literal["=", "!=", "<", "<=", ">", ">="]
Value: TypeAlias = float | str | bool
AGGREGATES = ("avg", "sum", "count", "min", "max")
FUNCTIONS = {"abs": (1, 1), "min": (2, 8), "max": (2, 8), "round": (1, 2), "dist": (4, 4)}
"""The functions of values, and how many they take at least and at most."""
TS = "ts"
"""The pseudo-attribute of every event: its time in seconds since 1970."""


@dataclass(frozen=True, slots=True)
class Constant:
    """A number, a text or a truth value."""

    value: Value
    place: Place


@dataclass(frozen=True, slots=True)
class Param:
    """A parameter where it is used, without its dollar sign."""

    name: str
    place: Place


@dataclass(frozen=True, slots=True)
class Attribute:
    """An attribute of an event that the rule has bound: `Smoke.area`."""

    event: str
    name: str
    place: Place


@dataclass(frozen=True, slots=True)
class Call:
    """A function of values."""

    function: str
    arguments: tuple["Expression", ...]
    place: Place


@dataclass(frozen=True, slots=True)
class Binary:
    """`left operator right`, for + - * and /."""

    operator: str
    left: "Expression"
    right: "Expression"


@dataclass(frozen=True, slots=True)
class Within:
    """Not longer than so many microseconds before the event of that name."""

    span_us: int
    anchor: str
    place: Place


@dataclass(frozen=True, slots=True)
class Between:
    """Between two events, in whichever order they came."""

    one: str
    other: str
    place: Place


Scope: TypeAlias = Within | Between


@dataclass(frozen=True, slots=True)
class Aggregate:
    """A figure over all events of a scope."""

    function: str
    predicate: "Predicate"
    attribute: str | None
    scope: Scope
    place: Place


Expression: TypeAlias = Constant | Param | Attribute | Call | Binary | Aggregate


@dataclass(frozen=True, slots=True)
class Constraint:
    """`attribute comparison expression` inside a predicate."""

    attribute: str
    comparison: Comparison
    expression: Expression
    place: Place


@dataclass(frozen=True, slots=True)
class Predicate:
    """Events of a type that satisfy constraints; `name` is what the rule calls the event."""

    type: str
    constraints: tuple[Constraint, ...]
    name: str
    per: str | None
    place: Place


@dataclass(frozen=True, slots=True)
class Positive:
    """A clause that adds an event before its anchor: all of them (`number` None), or the last or first so many."""

    policy: Literal["each", "last", "first"]
    number: int | None
    predicate: Predicate
    scope: Within
    place: Place


@dataclass(frozen=True, slots=True)
class Negation:
    """No such event in the scope."""

    predicate: Predicate
    scope: Scope


@dataclass(frozen=True, slots=True)
class Condition:
    """A chain of comparisons: `45 < $t = Avg(...) <= 90`."""

    operands: tuple[Expression, ...]
    comparisons: tuple[Comparison, ...]
    place: Place


Clause: TypeAlias = Positive | Negation | Condition


@dataclass(frozen=True, slots=True)
class Declared:
    """An attribute of the composite event, its type as written."""

    name: str
    type: str
    place: Place


@dataclass(frozen=True, slots=True)
class Assignment:
    """What an attribute of the composite event is set to."""

    name: str
    expression: Expression
    place: Place


@dataclass(frozen=True, slots=True)
class Named:
    """The name of an event where it is used."""

    name: str
    place: Place


@dataclass(frozen=True, slots=True)
class Rule:
    """How composite events of a type come about."""

    name: str
    type: str
    declared: tuple[Declared, ...]
    terminator: Predicate
    clauses: tuple[Clause, ...]
    assignments: tuple[Assignment, ...]
    consuming: tuple[Named, ...]
    place: Place


def predicates_of(rule: Rule) -> list[Predicate]:
    """Every predicate of a rule in the order of the text, those of aggregates included."""
    found = [rule.terminator]
    expressions: list[Expression] = []
    for clause in rule.clauses:
        match clause:
            case Positive(predicate=predicate) | Negation(predicate=predicate):
                found.append(predicate)
                expressions += [constraint.expression for constraint in predicate.constraints]
            case Condition(operands):
                expressions += operands
    expressions += [assignment.expression for assignment in rule.assignments]
    while expressions:
        match expressions.pop(0):
            case Aggregate(_, predicate):
                found.append(predicate)
            case Call(_, arguments):
                expressions += arguments
            case Binary(_, left, right):
                expressions += [left, right]
            case _:
                pass
    return found
