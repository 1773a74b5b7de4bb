"""Rules after the checks: names are slots, parameters are the attributes that they stand for, aggregates are steps."""

from dataclasses import dataclass
from typing import Literal, TypeAlias

from foresail.patterns.errors import PatternError, Place
from foresail.patterns.tesla.syntax import Comparison, Value

SELF = -1
"""The slot of the event that a predicate looks at."""
Kind: TypeAlias = Literal["number", "string", "bool"]
KINDS: dict[str, Kind] = {
    "string": "string",
    "int": "number",
    "float": "number",
    "double": "number",
    "bool": "bool",
}
"""By the type that an attribute is declared with what its values are."""


class RuleError(PatternError):
    """A rule that the grammar allows and that cannot be meant."""


@dataclass(frozen=True, slots=True)
class Literally:
    """A constant."""

    value: Value


@dataclass(frozen=True, slots=True)
class Field:
    """An attribute of the event in a slot."""

    slot: int
    attribute: str


@dataclass(frozen=True, slots=True)
class Computed:
    """What a step has computed."""

    number: int


@dataclass(frozen=True, slots=True)
class Apply:
    """An operation on values: + - * / or a function."""

    operation: str
    arguments: tuple["Term", ...]


Term: TypeAlias = Literally | Field | Computed | Apply


@dataclass(frozen=True, slots=True)
class Test:
    """`attribute comparison term` of the event that a predicate looks at."""

    attribute: str
    comparison: Comparison
    term: Term


@dataclass(frozen=True, slots=True)
class Matching:
    """What a predicate asks for: of the event alone, by equality with bound values, and otherwise."""

    type: str
    alone: tuple[Test, ...]
    keys: tuple[Test, ...]
    rest: tuple[Test, ...]


@dataclass(frozen=True, slots=True)
class Span:
    """Within `span_us` before the event in slot `anchor`; between it and the one in `other` if that is not None."""

    anchor: int
    span_us: int
    other: int | None = None


@dataclass(frozen=True, slots=True)
class Select:
    """Bind a slot to each, or to the last or first `number`, of the events that match."""

    slot: int
    policy: Literal["each", "last", "first"]
    number: int
    per: str | None
    matching: Matching
    span: Span


@dataclass(frozen=True, slots=True)
class Absent:
    """No event matches."""

    matching: Matching
    span: Span


@dataclass(frozen=True, slots=True)
class Compute:
    """An aggregate over the events that match."""

    number: int
    function: str
    attribute: str | None
    matching: Matching
    span: Span


@dataclass(frozen=True, slots=True)
class Compare:
    """A condition on bound values."""

    left: Term
    comparison: Comparison
    right: Term


Step: TypeAlias = Select | Absent | Compute | Compare


@dataclass(frozen=True, slots=True)
class Resolved:
    """A rule as it is evaluated."""

    name: str
    type: str
    attributes: tuple[tuple[str, str], ...]
    """Of the composite event: name and declared type."""
    names: tuple[str, ...]
    """What the rule calls the event in each slot; slot 0 is the terminator."""
    types: tuple[str, ...]
    terminator: Matching
    steps: tuple[Step, ...]
    values: tuple[Term, ...]
    """What each attribute is set to."""
    consumed: tuple[int, ...]
    bound: tuple[str, ...]
    """The attributes of the terminator that parameters stand for, in the order of the text."""
    place: Place

    def matchings(self) -> list[Matching]:
        """All predicates, that of the terminator first."""
        return [self.terminator, *(step.matching for step in self.steps if not isinstance(step, Compare))]


def terms_of(rule: Resolved) -> list[Term]:
    """Every term that the rule evaluates."""
    found = list(rule.values)
    for matching in rule.matchings():
        found += [test.term for test in (*matching.alone, *matching.keys, *matching.rest)]
    for step in rule.steps:
        if isinstance(step, Compare):
            found += [step.left, step.right]
    return found


def fields_of(term: Term) -> list[Field]:
    """The attributes that a term reads."""
    match term:
        case Field():
            return [term]
        case Apply(_, arguments):
            return [field for argument in arguments for field in fields_of(argument)]
        case _:
            return []
