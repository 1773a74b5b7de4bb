"""Pattern text to tree, with the place of every terminal, so that later passes can point at it."""

from functools import cache
from importlib.resources import files

from lark import Lark, Token, Transformer
from lark.exceptions import UnexpectedCharacters, UnexpectedInput, UnexpectedToken, VisitError

from foresail.patterns.automata.limits import MOST_STATES
from foresail.patterns.errors import PatternError, PatternSyntaxError, Place, StateExplosionError
from foresail.patterns.language.syntax import (
    Absent,
    Anything,
    Both,
    Choice,
    Each,
    Hidden,
    Inline,
    Named,
    Not,
    Pattern,
    Repeat,
    Sequence,
    SkipTillAny,
    SkipTillNext,
)
from foresail.patterns.limits import check_depth, check_length

_MOST_DIGITS = 18
PATTERN_WORDS = frozenset({"any", "next", "each", "not", "absent", "hidden", "as", "_"})


def parse_pattern(text: str, where: Place) -> Pattern:
    """The tree of `text`, which begins at `where`; a fault points at its line and column."""
    check_length(text, where, "the pattern")
    try:
        tree = _parser().parse(text)
        check_depth(tree, where, "the pattern")
        parsed: Pattern = _ToSyntax(where).transform(tree)
    except UnexpectedInput as error:
        raise _syntax_error(error, text, where) from None
    except VisitError as error:
        if isinstance(error.orig_exc, PatternError):
            raise error.orig_exc from None
        raise
    return parsed


_WORDS = {
    "NAME": "a condition's name",
    "INLINE": "[condition]",
    "INT": "a number",
    "$END": "the end",
    "__ANON_0": "_",
}


def _syntax_error(error: UnexpectedInput, text: str, where: Place) -> PatternSyntaxError:
    line, column = _line_and_column(error, text)
    found = text.splitlines()[line - 1][column - 1 : column] if text.strip() else ""
    ended = isinstance(error, UnexpectedToken) and error.token.type == "$END"
    shown = "the pattern ends too early" if ended or not found else f"'{found}' cannot stand here"
    allowed = error.allowed if isinstance(error, UnexpectedCharacters) else getattr(error, "expected", ())
    expected = sorted({_word(name) for name in allowed or ()})
    problem = f"{shown}. Expected {', '.join(expected)}." if expected else f"{shown}."
    return PatternSyntaxError(problem, place=where.at(line, column), source=text, line=line, column=column)


def _line_and_column(error: UnexpectedInput, text: str) -> tuple[int, int]:
    if isinstance(error, UnexpectedToken) and error.token.type == "$END":
        lines = text.rstrip().splitlines() or [""]
        return len(lines), len(lines[-1]) + 1
    return max(error.line, 1), max(error.column, 1)


def _word(terminal: str) -> str:
    if terminal in _WORDS:
        return _WORDS[terminal]
    definition = next((t for t in _parser().terminals if t.name == terminal), None)
    return f"'{definition.pattern.value}'" if definition else terminal.lower()


@cache
def _parser() -> Lark:
    grammar = files("foresail.patterns.language").joinpath("grammar.lark").read_text(encoding="utf-8")
    return Lark(grammar, parser="lalr", propagate_positions=True)


class _ToSyntax(Transformer[Token, Pattern]):
    """Lark's tree to ours: one small method a rule."""

    def __init__(self, where: Place) -> None:
        super().__init__()
        self._where = where

    def _place(self, token: Token) -> Place:
        return self._where.at(token.line or 1, token.column or 1)

    def start(self, children: list[Pattern]) -> Pattern:
        return children[0]

    def named(self, children: list[Token]) -> Pattern:
        return Named(str(children[0]), self._place(children[0]))

    def inline(self, children: list[Token]) -> Pattern:
        token = children[0]
        return Inline(str(token)[1:-1], self._where.at(token.line or 1, (token.column or 1) + 1))

    def anything(self, children: list[Token]) -> Pattern:  # noqa: ARG002 - lark's signature
        return Anything(self._where)

    def choice(self, children: list[Pattern]) -> Pattern:
        return Choice(tuple(children))

    def both(self, children: list[Pattern]) -> Pattern:
        return Both(tuple(children))

    def sequence(self, children: list[Pattern]) -> Pattern:
        return Sequence(tuple(children))

    def hidden(self, children: list[Pattern]) -> Pattern:
        return Hidden(children[0])

    def star(self, children: list[Pattern]) -> Pattern:
        return Repeat(children[0], 0, None)

    def plus(self, children: list[Pattern]) -> Pattern:
        return Repeat(children[0], 1, None)

    def optional(self, children: list[Pattern]) -> Pattern:
        return Repeat(children[0], 0, 1)

    def exactly(self, children: tuple[Pattern, Token]) -> Pattern:
        part, count = children
        return Repeat(part, self._times(count), self._times(count))

    def at_least(self, children: tuple[Pattern, Token]) -> Pattern:
        part, least = children
        return Repeat(part, self._times(least), None)

    def between(self, children: tuple[Pattern, Token, Token]) -> Pattern:
        part, least, most = children
        if self._times(least) > self._times(most):
            msg = f"{self._place(least)}: {{{least},{most}}} asks for at least more than at most. Swap the two."
            raise PatternError(msg)
        return Repeat(part, self._times(least), self._times(most))

    def _times(self, count: Token) -> int:
        if len(count.lstrip("0")) > _MOST_DIGITS:
            msg = (
                f"{self._place(count)}: a count of {len(count):,} digits; {MOST_STATES} states are the limit. Lower it."
            )
            raise StateExplosionError(msg)
        return int(count)

    def keep(self, children: tuple[Pattern, Token]) -> Pattern:
        part, register = children
        match part:
            case Named(name, place, None):
                return Named(name, place, str(register))
            case Inline(text, place, None):
                return Inline(text, place, str(register))
            case Anything(place, None):
                return Anything(place, str(register))
            case _:
                msg = (
                    f"{self._place(register)}: 'as {register}' keeps one event, so it must follow a condition. "
                    "Write it right behind a name, [condition] or _."
                )
                raise PatternError(msg)

    def parts(self, children: list[Pattern]) -> tuple[Pattern, ...]:
        return tuple(children)

    def skip_till_any(self, children: list[tuple[Pattern, ...]]) -> Pattern:
        return SkipTillAny(children[0])

    def skip_till_next(self, children: list[tuple[Pattern, ...]]) -> Pattern:
        return SkipTillNext(children[0])

    def each(self, children: list[tuple[Pattern, ...]]) -> Pattern:
        return Each(children[0])

    def complement(self, children: list[Pattern]) -> Pattern:
        return Not(children[0])

    def absent(self, children: list[Pattern]) -> Pattern:
        return Absent(children[0])
