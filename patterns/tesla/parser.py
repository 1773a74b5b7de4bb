"""The text of TESLA rules to their trees, with the place of everything that a later check may point at."""

import re
from functools import cache
from importlib.resources import files
from typing import Any, Literal, cast

from lark import Lark, Token, Tree
from lark.exceptions import UnexpectedCharacters, UnexpectedInput, UnexpectedToken

from foresail.patterns.durations import LONGEST_US
from foresail.patterns.errors import PatternError, PatternSyntaxError, Place, nearest
from foresail.patterns.limits import TooLargeError, check_depth
from foresail.patterns.tesla.syntax import (
    AGGREGATES,
    FUNCTIONS,
    Aggregate,
    Assignment,
    Attribute,
    Between,
    Binary,
    Call,
    Clause,
    Comparison,
    Condition,
    Constant,
    Constraint,
    Declared,
    Expression,
    Named,
    Negation,
    Param,
    Positive,
    Predicate,
    Rule,
    Scope,
    Within,
)

MOST_CHARACTERS = 1_000_000
"""Of a rule set: room for some thousand rules."""
MOST_RULES = 10_000
MOST_SELECTED = 1_000
"""How many events `n-last` may ask for."""
UNITS_US = {
    "ms": 1_000,
    **dict.fromkeys(("s", "sec", "second", "seconds"), 1_000_000),
    **dict.fromkeys(("min", "mins", "minute", "minutes"), 60_000_000),
    **dict.fromkeys(("h", "hour", "hours"), 3_600_000_000),
    **dict.fromkeys(("d", "day", "days"), 86_400_000_000),
}
_WORDS = {
    "NAME": "a name",
    "PARAM": "a parameter such as $a",
    "NUMBER": "a number",
    "STRING": "a text in quotes",
    "COMPARE": "a comparison",
    "SIGN": "'+' or '-'",
    "TIMES": "'*' or '/'",
    "EACH": "each, last, first or 3-last",
    "$END": "the end",
}


def parse_rules(text: str, where: Place) -> tuple[Rule, ...]:
    """The rules of `text`, which begins at `where`; a fault points at its line and column."""
    if len(text) > MOST_CHARACTERS:
        msg = f"{where}: the rules have {len(text):,} characters; {MOST_CHARACTERS:,} are the limit. Split them."
        raise TooLargeError(msg)
    try:
        tree = _parser().parse(text)
    except UnexpectedInput as error:
        raise _syntax_error(error, text, where) from None
    check_depth(tree, where, "a rule")
    if not tree.children:
        msg = f"{where}: there is no rule. Write one: define Fire(area: string) from Smoke() where area=Smoke.area."
        raise PatternError(msg)
    if len(tree.children) > MOST_RULES:
        msg = f"{where}: there are {len(tree.children):,} rules; {MOST_RULES:,} are the limit. Split them."
        raise TooLargeError(msg)
    return _Reader(where).rules(tree)


class _Reader:
    """Lark's tree to ours."""

    def __init__(self, where: Place) -> None:
        self._where = where

    def _place(self, token: Token) -> Place:
        return self._where.at(token.line or 1, token.column or 1)

    def rules(self, tree: Tree[Token]) -> tuple[Rule, ...]:
        found: list[Rule] = []
        first: dict[str, Place] = {}
        for number, child in enumerate(_held(tree), start=1):
            rule = self._rule(child, number)
            if rule.name in first:
                msg = f"{rule.place}: there is a rule '{rule.name}' already, at {first[rule.name]}. Rename one."
                raise PatternError(msg)
            first[rule.name] = rule.place
            found.append(rule)
        return tuple(found)

    def _rule(self, tree: Tree[Token], number: int) -> Rule:
        tokens = [child for child in tree.children if isinstance(child, Token)]
        name, made = (tokens[0], tokens[1]) if len(tokens) == 2 else (None, tokens[0])
        parts: dict[str, list[Any]] = {}
        for child in tree.children:
            if isinstance(child, Tree):
                parts.setdefault(str(child.data), []).append(child)
        clauses = [child for child in tree.children if isinstance(child, Tree) and child.data in _CLAUSES]
        return Rule(
            str(name) if name is not None else f"{made}_{number}",
            str(made),
            tuple(self._declared(each) for each in parts.get("declared", ())),
            self._predicate(parts["pred"][0], alone=True),
            tuple(self._clause(clause) for clause in clauses),
            tuple(self._assignment(each) for where in parts.get("where", ()) for each in where.children),
            tuple(Named(str(t), self._place(t)) for held in parts.get("consuming", ()) for t in held.children),
            self._place(name if name is not None else made),
        )

    def _declared(self, tree: Tree[Token]) -> Declared:
        name, kind = _held(tree)
        return Declared(str(name), str(kind).lower(), self._place(name))

    def _assignment(self, tree: Tree[Token]) -> Assignment:
        name, sign, expression = _held(tree)
        if sign != "=":
            msg = f"{self._place(sign)}: 'where' sets attributes. Write {name} = ..., and conditions before 'where'."
            raise PatternError(msg)
        return Assignment(str(name), self._expression(expression), self._place(name))

    def _clause(self, tree: Tree[Token]) -> Clause:
        if tree.data == "condition":
            return self._condition(tree)
        if tree.data == "negation":
            pred, scope = _held(tree)
            return Negation(self._predicate(pred, alone=True), self._scope(scope))
        selector, pred, scope = _held(tree)
        place = self._place(selector)
        if tree.data == "positive_between":
            msg = f"{place}: '{selector}' cannot select between two events. Write within ... from ..., or use not."
            raise PatternError(msg)
        policy, number = self._selector(selector)
        found = self._scope(scope)
        assert isinstance(found, Within), "the grammar has seen to it"
        return Positive(policy, number, self._predicate(pred), found, place)

    def _selector(self, token: Token) -> tuple[Literal["each", "last", "first"], int | None]:
        number, dash, word = str(token).lower().rpartition("-")
        policy = cast(Literal["each", "last", "first"], word.strip())
        if not dash:
            return policy, None if policy == "each" else 1
        wanted = int(number) if len(number.strip()) < len(str(MOST_SELECTED)) + 1 else MOST_SELECTED + 1
        if not 1 <= wanted <= MOST_SELECTED:
            msg = f"{self._place(token)}: '{token}' must select 1 to {MOST_SELECTED:,} events. Write another number."
            raise PatternError(msg)
        return policy, wanted

    def _condition(self, tree: Tree[Token]) -> Condition:
        held = _held(tree)
        operands = tuple(self._expression(each) for each in held[::2])
        return Condition(operands, tuple(_comparison(sign) for sign in held[1::2]), self._place(held[1]))

    def _predicate(self, tree: Tree[Token], alone: bool = False) -> Predicate:
        call, alias, per = _held(tree)
        if per is not None and alone:
            msg = f"{self._place(per.children[0])}: 'per' is for what last and first select. Leave it out here."
            raise PatternError(msg)
        return self._of_call(call, alias, None if per is None else str(per.children[0]))

    def _of_call(self, call: Tree[Token], alias: Token | None = None, per: str | None = None) -> Predicate:
        name, *items = _held(call)
        constraints = []
        for item in items:
            if item is None:
                continue
            if item.data != "constraint":
                msg = f"{self._place(name)}: '{name}(...)' holds constraints, such as {name}(value > 45). Write those."
                raise PatternError(msg)
            attribute, sign, expression = _held(item)
            read = self._expression(expression)
            constraints.append(Constraint(str(attribute), _comparison(sign), read, self._place(attribute)))
        return Predicate(
            str(name), tuple(constraints), str(name if alias is None else alias), per,
            self._place(name if alias is None else alias),
        )  # fmt: skip

    def _scope(self, tree: Tree[Token]) -> Scope:
        if tree.data == "between":
            one, other = _held(tree)
            return Between(str(one), str(other), self._place(one))
        amount, unit, anchor = _held(tree)
        return Within(self._span(amount, unit), str(anchor), self._place(anchor))

    def _span(self, amount: Token, unit: Token | None) -> int:
        name = "s" if unit is None else str(unit).lower()
        if name not in UNITS_US:
            known = "ms, s, min, h, d"
            msg = (
                f"{self._place(unit or amount)}: unknown unit '{unit}'. {nearest(name, UNITS_US)}Known units: {known}."
            )
            raise PatternError(msg)
        span = float(amount) * UNITS_US[name]
        if not 0.5 <= span <= LONGEST_US:
            msg = f"{self._place(amount)}: a window of {amount} {name} is impossible. Write a span above zero."
            raise PatternError(msg)
        return round(span)

    def _expression(self, tree: Tree[Token]) -> Expression:
        held = _held(tree)
        match str(tree.data):
            case "number":
                return Constant(float(held[0]), self._place(held[0]))
            case "string":
                return Constant(str(held[0])[1:-1], self._place(held[0]))
            case "true" | "false":
                return Constant(tree.data == "true", self._where.at(tree.meta.line, tree.meta.column))
            case "param":
                return Param(str(held[0])[1:], self._place(held[0]))
            case "attribute":
                return Attribute(str(held[0]), str(held[1]), self._place(held[0]))
            case "binary":
                return Binary(str(held[1]), self._expression(held[0]), self._expression(held[2]))
            case "signed":
                inner = self._expression(held[1])
                zero = Constant(0.0, self._place(held[0]))
                if held[0] == "+":
                    return inner
                if isinstance(inner, Constant) and type(inner.value) is float:
                    return Constant(-inner.value, zero.place)
                return Binary("-", zero, inner)
            case "call_attribute":
                name = held[0].children[0]
                msg = f"{self._place(name)}: '{name}(...).{held[1]}' needs an aggregate around it, such as Avg(...)."
                raise PatternError(msg)
            case _:
                return self._call(tree)

    def _call(self, tree: Tree[Token]) -> Expression:
        name, *items = _held(tree)
        place, word = self._place(name), str(name).lower()
        arguments = [item for item in items if item is not None]
        inner = arguments[0].children[0] if len(arguments) == 1 and arguments[0].data == "argument" else None
        scope = None if inner is None else arguments[0].children[1]
        over_type = inner is not None and (
            inner.data == "call_attribute" or (inner.data == "call" and scope is not None)
        )
        if word in AGGREGATES and (over_type or word not in FUNCTIONS):
            if inner is None or not over_type or scope is None:
                msg = f"{place}: {name} takes events and a scope, as in {name}(Temp().value within 5 min from Smoke)."
                raise PatternError(msg)
            apart = inner.data == "call_attribute"
            called, attribute = (inner.children[0], str(inner.children[1])) if apart else (inner, None)
            return Aggregate(word, self._of_call(called), attribute, self._scope(scope), place)
        if word not in FUNCTIONS:
            known = ", ".join((*AGGREGATES, *FUNCTIONS))
            msg = f"{place}: unknown function '{name}'. {nearest(word, (*AGGREGATES, *FUNCTIONS))}Known: {known}."
            raise PatternError(msg)
        least, most = FUNCTIONS[word]
        wrong = any(item.data != "argument" or item.children[1] is not None for item in arguments)
        if wrong or not least <= len(arguments) <= most:
            count = str(least) if least == most else f"{least} to {most}"
            msg = f"{place}: {word} takes {count} value{'s' if most > 1 else ''}. Write {word}(...) with just those."
            raise PatternError(msg)
        return Call(word, tuple(self._expression(item.children[0]) for item in arguments), place)


_CLAUSES = ("positive", "positive_between", "negation", "condition")


def _comparison(sign: Token) -> Comparison:
    return cast(Comparison, "!=" if sign == "<>" else str(sign))


def _held(tree: Tree[Token]) -> list[Any]:
    """What a rule of the grammar holds; the rule says which are tokens and which are trees."""
    return tree.children


def _syntax_error(error: UnexpectedInput, text: str, where: Place) -> PatternSyntaxError:
    ended = isinstance(error, UnexpectedToken) and error.token.type == "$END"
    lines = text.rstrip().splitlines() or [""]
    line, column = (len(lines), len(lines[-1]) + 1) if ended else (max(error.line, 1), max(error.column, 1))
    found = "" if ended else _token_at(text, line, column)
    allowed = error.allowed if isinstance(error, UnexpectedCharacters) else getattr(error, "accepts", None)
    expected = sorted({_word(name) for name in allowed or getattr(error, "expected", ()) or ()})
    shown = f"'{found}' cannot stand here" if found else "the rule ends too early"
    problem = f"{shown}. Expected {', '.join(expected)}." if expected else f"{shown}."
    return PatternSyntaxError(problem, place=where.at(line, column), source=text, line=line, column=column)


def _token_at(text: str, line: int, column: int) -> str:
    rest = text.splitlines()[line - 1][column - 1 :]
    return re.split(r"\W", rest, maxsplit=1)[0][:40] if rest[:1].isalnum() else rest[:1]


def _word(terminal: str) -> str:
    if terminal in _WORDS:
        return _WORDS[terminal]
    definition = next((t for t in _parser().terminals if t.name == terminal), None)
    return f"'{definition.pattern.value.lower()}'" if definition else terminal.lower()


@cache
def _parser() -> Lark:
    grammar = files("foresail.patterns.tesla").joinpath("grammar.lark").read_text(encoding="utf-8")
    return Lark(grammar, parser="lalr", propagate_positions=True, maybe_placeholders=True)
