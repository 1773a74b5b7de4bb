"""Text to condition: the one reader of the condition language, with errors that point at the place."""

import json
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import TypeAlias, cast

from lark import Lark, Token, Transformer, UnexpectedCharacters, UnexpectedEOF, UnexpectedInput, UnexpectedToken
from lark.exceptions import VisitError
from lark.tree import Meta
from lark.visitors import v_args

from foresail.patterns.conditions.exact import constant_of
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
from foresail.patterns.conditions.text import check_terms
from foresail.patterns.conditions.typing import SIGNATURES, AttributeType, type_given
from foresail.patterns.errors import ConditionTypeError, PatternSyntaxError, Place, nearest
from foresail.patterns.limits import check_depth, check_length

Parameters: TypeAlias = Mapping[str, bool | int | float | str]
Named: TypeAlias = Mapping[str, Condition]

VALUE_TERMINALS = frozenset({"INTEGER", "FLOAT", "STRING", "_TRUE", "_FALSE", "NAME", "QUOTED", "LPAR", "MINUS"})
WORDS = {
    "OPERATOR": "a comparison (== != < <= > >=)",
    "PLUS": "arithmetic (+ - * /)",
    "RPAR": "')'",
    "LPAR": "'('",
    "COMMA": "','",
    "NAME": "a name",
    "$END": "the end of the condition",
}
UNSAID = frozenset({"MINUS", "TIMES", "OVER", "DOT", "QUOTED"})


def parse_condition(
    text: str, where: Place | None = None, *, parameters: Parameters | None = None, named: Named | None = None
) -> Condition:
    """The condition that `text` says; a name of `parameters` is its constant, one of `named` its condition."""
    reading = _Reading(text, where or Place(), parameters or {}, named or {})
    check_length(text, reading.where, "the condition")
    try:
        tree = _grammar().parse(text)
        check_depth(tree, reading.where, "the condition")
        piece = _Builder(reading).transform(tree)
    except UnexpectedInput as error:
        raise _syntax_error(error, reading) from None
    except VisitError as error:
        raise error.orig_exc from None
    condition = reading.condition(piece)
    check_terms(condition, reading.where)
    return condition


@cache
def _grammar() -> Lark:
    source = (Path(__file__).parent / "grammar.lark").read_text(encoding="utf-8")
    return Lark(source, parser="lalr", propagate_positions=True, maybe_placeholders=False)


@dataclass(frozen=True, slots=True)
class _Piece:
    """A node with the place of its first character in the text."""

    node: Condition | Value
    line: int
    column: int


@dataclass(frozen=True, slots=True)
class _Reading:
    """The text being read and what its names may stand for."""

    text: str
    where: Place
    parameters: Parameters
    named: Named

    def error(self, problem: str, line: int, column: int) -> PatternSyntaxError:
        place = self.where.at(line, column)
        return PatternSyntaxError(problem, place=place, source=self.text, line=line, column=column)

    def condition(self, piece: _Piece) -> Condition:
        """The piece as something that can hold; a number or a name alone cannot."""
        node = piece.node
        if (
            isinstance(node, Negative | Arithmetic)
            or (isinstance(node, Call) and type_given(node) is not AttributeType.BOOLEAN)
            or (isinstance(node, Literal) and not isinstance(node.value, bool))
        ):
            problem = "a value stands where a condition should. Compare it with something, such as `... > 0`."
            raise ConditionTypeError(str(self.error(problem, piece.line, piece.column)))
        return node

    def value(self, piece: _Piece) -> Value:
        """The piece as something that can be compared or computed with."""
        node = piece.node
        if isinstance(node, And | Or | Not | Comparison | Membership | IsKnown):
            problem = "a condition stands where a value should. Combine conditions with `and`, `or`, `not`."
            raise ConditionTypeError(str(self.error(problem, piece.line, piece.column)))
        return node


@v_args(meta=True)
class _Builder(Transformer[Token, _Piece]):
    """Builds the nodes bottom up; every method is named after the rule it reads."""

    def __init__(self, reading: _Reading) -> None:
        super().__init__()
        self._reading = reading

    def disjunction(self, meta: Meta, pieces: list[_Piece]) -> _Piece:
        return _at(meta, Or(self._conditions(pieces)))

    def conjunction(self, meta: Meta, pieces: list[_Piece]) -> _Piece:
        return _at(meta, And(self._conditions(pieces)))

    def negation(self, meta: Meta, pieces: list[_Piece]) -> _Piece:
        return _at(meta, Not(self._reading.condition(pieces[0])))

    def chain(self, meta: Meta, pieces: list[_Piece | Token]) -> _Piece:
        values = [self._reading.value(cast(_Piece, piece)) for piece in pieces[::2]]
        operators = [Operator("==" if sign == "=" else str(sign)) for sign in pieces[1::2]]
        links = [
            Comparison(operator, left, right)
            for operator, (left, right) in zip(operators, pairwise(values), strict=True)
        ]
        return _at(meta, links[0] if len(links) == 1 else And(tuple(links)))

    def membership(self, meta: Meta, pieces: list[_Piece]) -> _Piece:
        options = tuple(self._option(piece) for piece in pieces[1:])
        return _at(meta, Membership(self._reading.value(pieces[0]), options))

    def exclusion(self, meta: Meta, pieces: list[_Piece]) -> _Piece:
        return _at(meta, Not(cast(Membership, self.membership(meta, pieces).node)))

    def known(self, meta: Meta, pieces: list[_Piece]) -> _Piece:
        return _at(meta, IsKnown(self._reading.value(pieces[0])))

    def unknown(self, meta: Meta, pieces: list[_Piece]) -> _Piece:
        return _at(meta, Not(IsKnown(self._reading.value(pieces[0]))))

    def arithmetic(self, meta: Meta, pieces: list[_Piece | Token]) -> _Piece:
        left, operator, right = pieces
        return _at(
            meta,
            Arithmetic(
                str(operator), self._reading.value(cast(_Piece, left)), self._reading.value(cast(_Piece, right))
            ),
        )

    def negative(self, meta: Meta, pieces: list[_Piece]) -> _Piece:
        value = self._reading.value(pieces[1])
        if isinstance(value, Literal) and isinstance(value.value, int | float) and not isinstance(value.value, bool):
            return _at(meta, Literal(-value.value))
        return _at(meta, Negative(value))

    def group(self, meta: Meta, pieces: list[_Piece]) -> _Piece:
        return _at(meta, pieces[0].node)

    def whole(self, meta: Meta, tokens: list[Token]) -> _Piece:
        return _at(meta, Literal(self._number(meta, tokens[0], int)))

    def decimal(self, meta: Meta, tokens: list[Token]) -> _Piece:
        return _at(meta, Literal(self._number(meta, tokens[0], float)))

    def string(self, meta: Meta, tokens: list[Token]) -> _Piece:
        try:
            return _at(meta, Literal(_unquote(str(tokens[0]))))
        except ValueError:
            problem = 'this text has an escape that is none. Write \\\\ for a backslash and \\" for a quotation mark.'
            raise self._reading.error(problem, meta.line, meta.column) from None

    def true(self, meta: Meta, _: list[Token]) -> _Piece:
        return _at(meta, Literal(True))

    def false(self, meta: Meta, _: list[Token]) -> _Piece:
        return _at(meta, Literal(False))

    def name(self, _: Meta, tokens: list[Token]) -> str:
        return str(tokens[0]).strip("`")

    def attribute(self, meta: Meta, names: list[str]) -> _Piece:
        name = names[0]
        if name in self._reading.parameters:
            return _at(meta, Literal(self._reading.parameters[name]))
        if name in self._reading.named:
            return _at(meta, self._reading.named[name])
        return _at(meta, Attribute(name, None, self._place(meta)))

    def owned(self, meta: Meta, names: list[str]) -> _Piece:
        return _at(meta, Attribute(names[1], names[0], self._place(meta)))

    def call(self, meta: Meta, pieces: list[_Piece | Token]) -> _Piece:
        function = self._function(meta, str(pieces[0]))
        arguments = [cast(_Piece, piece) for piece in pieces[1:]]
        signature = SIGNATURES[function]
        least, given = len(signature.takes), len(arguments)
        if given < least or (given > least and not signature.further):
            wanted = f"at least {least}" if signature.further else str(least)
            problem = f"{function.value}() takes {wanted} argument{'s' * (wanted != '1')}, not {given}."
            raise self._reading.error(problem, meta.line, meta.column)
        if function is Function.SECONDS_SINCE:
            return _at(meta, Call(function, (self._register(arguments[0]),)))
        values = [self._argument(function, signature.takes_at(n), piece) for n, piece in enumerate(arguments)]
        if function is Function.STARTS_WITH:
            values[1] = self._beginning(values[1], arguments[1])
        return _at(meta, Call(function, tuple(values)))

    def _argument(self, function: Function, wanted: AttributeType, piece: _Piece) -> Value:
        """The argument, unless it can be told without knowing the events that it is of another type."""
        value = self._reading.value(piece)
        if wanted is AttributeType.TIMESTAMP and not isinstance(value, Attribute):
            problem = f"{function.value}() takes a time here, such as the attribute `time`."
            raise self._reading.error(problem, piece.line, piece.column)
        if wanted is AttributeType.STRING and not _may_be_text(value):
            problem = f"{function.value}() takes a text here: an attribute such as `name`, or one in quotes."
            raise self._reading.error(problem, piece.line, piece.column)
        return value

    def _beginning(self, value: Value, piece: _Piece) -> Literal:
        constant = constant_of(value)
        if isinstance(constant, str):
            return Literal(constant)
        problem = 'starts_with() compares with a constant, such as starts_with(name, "MS ").'
        raise self._reading.error(problem, piece.line, piece.column)

    def _function(self, meta: Meta, name: str) -> Function:
        known = [function.value for function in Function]
        if name not in known:
            problem = f"there is no function '{name}'. {nearest(name, known)}Known functions: {', '.join(known)}."
            raise self._reading.error(problem, meta.line, meta.column)
        return Function(name)

    def _register(self, piece: _Piece) -> Register:
        if isinstance(piece.node, Attribute) and piece.node.owner is None:
            return Register(piece.node.name)
        problem = "seconds_since() takes the name of a register, such as `last` of `... as last`."
        raise self._reading.error(problem, piece.line, piece.column)

    def _option(self, piece: _Piece) -> Literal:
        if isinstance(piece.node, Literal):
            return piece.node
        problem = "only constants and parameters can be listed after `in`. Write comparisons joined with `or` instead."
        raise self._reading.error(problem, piece.line, piece.column)

    def _number(self, meta: Meta, token: Token, read: Callable[[str], int | float]) -> int | float:
        try:
            number = read(str(token))
            finite = float(number) not in (float("inf"), float("-inf"))
        except (ValueError, OverflowError):
            finite = False
        if not finite:
            problem = "this is not a number that can be held. Numbers go up to 1.79e308, `_` may stand between digits."
            raise self._reading.error(problem, meta.line, meta.column)
        return number

    def _conditions(self, pieces: Iterable[_Piece]) -> tuple[Condition, ...]:
        return tuple(self._reading.condition(piece) for piece in pieces)

    def _place(self, meta: Meta) -> Place:
        return self._reading.where.at(meta.line, meta.column)


def _may_be_text(value: Value) -> bool:
    match value:
        case Literal(constant):
            return isinstance(constant, str)
        case Call():
            return type_given(value) is AttributeType.STRING
    return isinstance(value, Attribute)


def _at(meta: Meta, node: Condition | Value) -> _Piece:
    return _Piece(node, meta.line, meta.column)


def _unquote(quoted: str) -> str:
    inside = quoted[1:-1]
    if quoted[0] == "'":
        inside = re.sub(r"\\.|\"", lambda found: {"\\'": "'", '"': '\\"'}.get(found[0], found[0]), inside)
    return cast(str, json.loads(f'"{inside}"', strict=False))


def _syntax_error(error: UnexpectedInput, reading: _Reading) -> PatternSyntaxError:
    if isinstance(error, UnexpectedCharacters):
        found = error.char
        if found in ('"', "'", "`"):
            return reading.error(f"this {found} is never closed. Add the closing {found}.", error.line, error.column)
        problem = f"unexpected {found!r}. Expected {_expectation(error.allowed or ())}."
        return reading.error(problem, error.line, error.column)
    accepted = error.accepts if isinstance(error, UnexpectedToken) else ()
    if isinstance(error, UnexpectedEOF) or (isinstance(error, UnexpectedToken) and error.token.type == "$END"):
        line, column = _end_of(reading.text)
        what = "the condition ends too early" if reading.text.strip() else "the condition is empty"
        return reading.error(f"{what}. Expected {_expectation(accepted or ())}.", line, column)
    assert isinstance(error, UnexpectedToken), "lark knows three kinds of unexpected input"
    problem = f"unexpected '{error.token}'. Expected {_expectation(accepted or ())}."
    return reading.error(problem, error.line, error.column)


def _end_of(text: str) -> tuple[int, int]:
    lines = text.rstrip().splitlines() or [""]
    return len(lines), len(lines[-1]) + 1


def _expectation(terminals: Iterable[str]) -> str:
    names = set(terminals)
    said = []
    if {"INTEGER", "NAME"} <= names:
        said.append("a value (a number, a text in quotes, an attribute, `(`)")
        names -= VALUE_TERMINALS
    said += [
        WORDS.get(name, f"`{name.lower().strip('_')}`")
        for name in sorted(names - UNSAID, key=lambda name: name.strip("_"))
    ]
    return " or ".join([", ".join(said[:-1]), said[-1]]) if len(said) > 1 else "".join(said)
