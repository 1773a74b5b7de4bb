"""Conditions of filters as trees, and as functions over mappings that agree with the engine wherever they answer.

A filter over earlier events is asked for every pair of a run and an event, and the engine takes 60 µs for one answer.
So comparisons and sums of plain numbers, texts and truth values are done here. Anything that has further rules (mixed
types, overflow, dates, language tags) raises `Unsure`, and then the engine is asked.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from functools import cache
from importlib.resources import files
from typing import Any, Literal, TypeAlias, assert_never

from lark import Lark, Token, Transformer
from lark.exceptions import UnexpectedInput, VisitError

from foresail.patterns.spaseq.terms import XSD, Value, expanded, quoted, unescaped, value_of

Mu: TypeAlias = tuple[str | None, ...]
"""A mapping: the term of each variable of the query, None where it is unbound."""
Comparison: TypeAlias = Literal["<", "<=", ">", ">=", "=", "!="]
_LARGEST = 2**63 - 1
_MOST_DECIMALS = 18


class Unsure(Exception):  # noqa: N818 - not an error: the engine is asked instead
    """The answer has rules that only the engine knows."""


class _SparqlError(Exception):
    """What SPARQL calls an error: an unbound variable, a comparison of what has no order."""


@dataclass(frozen=True, slots=True)
class Var:
    """A variable."""

    name: str


@dataclass(frozen=True, slots=True)
class Constant:
    """A term that was written."""

    term: str


@dataclass(frozen=True, slots=True)
class Bound:
    """BOUND(?v)."""

    name: str


@dataclass(frozen=True, slots=True)
class Compare:
    """A comparison."""

    sign: Comparison
    left: "Expression"
    right: "Expression"


@dataclass(frozen=True, slots=True)
class Arithmetic:
    """A sum, a difference or a product."""

    sign: Literal["+", "-", "*"]
    left: "Expression"
    right: "Expression"


@dataclass(frozen=True, slots=True)
class Logic:
    """All or any of the parts."""

    sign: Literal["&&", "||"]
    parts: tuple["Expression", ...]


@dataclass(frozen=True, slots=True)
class Negation:
    """The contrary."""

    part: "Expression"


Expression: TypeAlias = Var | Constant | Bound | Compare | Arithmetic | Logic | Negation
Ask: TypeAlias = Callable[[Mu], Any]


def parse_expression(text: str, prefixes: Mapping[str, str]) -> Expression | None:
    """The tree of a filter's condition; None where it has more than the grammar of this file."""
    try:
        tree = _parser().parse(text)
        parsed: Expression = _ToExpression(prefixes).transform(tree)
    except (UnexpectedInput, VisitError, RecursionError):
        return None
    return parsed


def compiled(expression: Expression, slots: Mapping[str, int]) -> Callable[[Mu], bool]:
    """Whether a mapping satisfies the condition; raises `Unsure` where the engine must be asked."""
    ask = _ask(expression, slots)

    def holds(mu: Mu) -> bool:
        try:
            return _truth(ask(mu))
        except _SparqlError:
            return False

    return holds


def _truth(value: Any) -> bool:
    if value is True or value is False:
        return bool(value)
    raise Unsure


def _ask(expression: Expression, slots: Mapping[str, int]) -> Ask:
    match expression:
        case Var(name):
            return _read(slots[name])
        case Constant(term):
            constant = _Iri(term) if term.startswith("<") else value_of(term)
            return lambda mu: constant  # noqa: ARG005 - every node is asked alike
        case Bound(name):
            slot = slots[name]
            return lambda mu: mu[slot] is not None
        case Compare(sign, left, right):
            return _comparing(sign, _ask(left, slots), _ask(right, slots))
        case Arithmetic(sign, left, right):
            return _calculating(sign, _ask(left, slots), _ask(right, slots))
        case Logic(sign, parts):
            return _deciding(sign == "||", [_ask(part, slots) for part in parts])
        case Negation(part):
            asked = _ask(part, slots)
            return lambda mu: not _truth(asked(mu))
        case _:
            assert_never(expression)


class _Iri(str):
    """An IRI: equal or not, but without an order."""

    __slots__ = ()


def _read(slot: int) -> Ask:
    def ask(mu: Mu) -> Value:
        term = mu[slot]
        if term is None:
            raise _SparqlError
        value = _Iri(term) if term[0] == "<" else value_of(term)
        if value is None:
            raise Unsure
        return value

    return ask


def _comparing(sign: Comparison, left: Ask, right: Ask) -> Ask:
    def ask(mu: Mu) -> bool:
        one, other = _alike(left(mu), right(mu))
        match sign:
            case "<":
                return bool(one < other)
            case "<=":
                return bool(one <= other)
            case ">":
                return bool(one > other)
            case ">=":
                return bool(one >= other)
            case "=":
                return bool(one == other)
            case "!=":
                return bool(one != other)
            case _:
                assert_never(sign)

    def ask_iris(mu: Mu) -> bool:
        one, other = left(mu), right(mu)
        if isinstance(one, _Iri) and isinstance(other, _Iri):
            return (one == other) == (sign == "=")
        one, other = _alike(one, other)
        return bool(one == other) == (sign == "=")

    return ask_iris if sign in ("=", "!=") else ask


def _alike(one: Any, other: Any) -> tuple[Any, Any]:
    """Both values in the type in which they are compared."""
    kinds = (type(one), type(other))
    if kinds[0] is kinds[1] and kinds[0] is not _Iri:
        return one, other
    if bool in kinds or str in kinds or _Iri in kinds or type(None) in kinds:
        raise Unsure
    if float in kinds:
        return float(one), float(other)
    return one, other


def _calculating(sign: Literal["+", "-", "*"], left: Ask, right: Ask) -> Ask:
    def ask(mu: Mu) -> Value:
        one, other = _alike(left(mu), right(mu))
        if isinstance(one, (bool, str)):
            raise Unsure
        result: Any = one + other if sign == "+" else one - other if sign == "-" else one * other
        if isinstance(result, int) and not -_LARGEST <= result <= _LARGEST:
            raise Unsure
        if isinstance(result, Decimal) and not _fits(one, other, result):
            raise Unsure
        number: Value = result
        return number

    return ask


def _fits(*numbers: Any) -> bool:
    """Whether decimals are far from where the engine rounds or gives up."""
    for number in numbers:
        exponent = Decimal(number).as_tuple().exponent
        if not isinstance(exponent, int) or exponent < -_MOST_DECIMALS // 2 or abs(number) > 10**9:
            return False
    return True


def _deciding(enough: bool, asks: list[Ask]) -> Ask:
    """Any (`enough` True) or all: a part that decides makes up for another that is an error."""

    def ask(mu: Mu) -> bool:
        fault = False
        for part in asks:
            try:
                if _truth(part(mu)) is enough:
                    return enough
            except _SparqlError:
                fault = True
        if fault:
            raise _SparqlError
        return not enough

    return ask


class _ToExpression(Transformer[Token, Expression]):
    """Lark's tree to ours: one small method a rule."""

    def __init__(self, prefixes: Mapping[str, str]) -> None:
        super().__init__()
        self._prefixes = prefixes

    def start(self, children: list[Expression]) -> Expression:
        return children[0]

    def any_of(self, children: list[Expression]) -> Expression:
        return Logic("||", tuple(children)) if len(children) > 1 else children[0]

    def all_of(self, children: list[Expression]) -> Expression:
        return Logic("&&", tuple(children)) if len(children) > 1 else children[0]

    def comparison(self, children: list[Any]) -> Expression:
        left, sign, right = children
        return Compare(sign.value, left, right)

    def plus(self, children: list[Expression]) -> Expression:
        return Arithmetic("+", *children)

    def minus(self, children: list[Expression]) -> Expression:
        return Arithmetic("-", *children)

    def times(self, children: list[Expression]) -> Expression:
        return Arithmetic("*", *children)

    def negation(self, children: list[Expression]) -> Expression:
        return Negation(children[0])

    def negative(self, children: list[Expression]) -> Expression:
        return Arithmetic("-", Constant(f'"0"^^<{XSD}integer>'), children[0])

    def bound(self, children: list[Token]) -> Expression:
        return Bound(children[0][1:])

    def variable(self, children: list[Token]) -> Expression:
        return Var(children[0][1:])

    def number(self, children: list[Token]) -> Expression:
        return Constant(expanded(str(children[0])) or "")

    def string(self, children: list[Token]) -> Expression:
        return Constant(quoted(unescaped(children[0][1:-1])))

    def truth(self, children: list[Token]) -> Expression:
        return Constant(expanded(str(children[0])) or "")

    def iri(self, children: list[Token]) -> Expression:
        return Constant(str(children[0]))

    def prefixed(self, children: list[Token]) -> Expression:
        prefix, _, local = children[0].partition(":")
        return Constant(f"<{self._prefixes[prefix]}{local}>")


@cache
def _parser() -> Lark:
    grammar = files("foresail.patterns.spaseq").joinpath("expression.lark").read_text(encoding="utf-8")
    return Lark(grammar, parser="lalr")
