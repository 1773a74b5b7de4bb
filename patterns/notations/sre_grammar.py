"""The text of an .sre file to lark's tree; a fault is shown with its line, a caret and what was expected."""

from functools import cache
from importlib.resources import files
from typing import Literal

from lark import Lark, Token, Tree, UnexpectedCharacters, UnexpectedEOF, UnexpectedInput, UnexpectedToken

from foresail.patterns.errors import PatternSyntaxError, Place
from foresail.patterns.limits import check_depth

_WORDS = {
    "SEMICOLON": "';('",
    "PLUS": "'+('",
    "STAR": "'*('",
    "BANG": "'!('",
    "HASH": "'#('",
    "AT": "'@('",
    "CIRCUMFLEX": "'^('",
    "VBAR": "'|('",
    "MINUS": "'-('",
    "WORD": "a name",
    "NUMBER": "a number",
    "QUOTED": "a register between quotes",
    "LPAR": "'('",
    "RPAR": "')'",
    "COMMA": "','",
    "LBRACE": "'{'",
    "RBRACE": "'}'",
    "LSQB": "'['",
    "RSQB": "']'",
    "COLON": "':'",
    "AMPERSAND": "'&'",
    "FEATURES": "'+('",
    "EXCLUSIVES": "'~('",
    "$END": "the end of the file",
}


def parse_sre(text: str, source: str, start: Literal["patterns", "declarations"]) -> Tree[Token]:
    """The tree of a file of patterns or of declarations; `source` names it in errors."""
    try:
        tree = _grammar(start).parse(text)
        check_depth(tree, Place(source), "the file")
        return tree
    except UnexpectedInput as error:
        raise _syntax_error(error, text, Place(source)) from None


@cache
def _grammar(start: str) -> Lark:
    grammar = files("foresail.patterns.notations").joinpath("sre.lark").read_text(encoding="utf-8")
    return Lark(grammar, parser="lalr", start=start, propagate_positions=True, maybe_placeholders=False)


def _syntax_error(error: UnexpectedInput, text: str, where: Place) -> PatternSyntaxError:
    ended = isinstance(error, UnexpectedEOF) or (isinstance(error, UnexpectedToken) and error.token.type == "$END")
    lines = text.splitlines() or [""]
    line, column = (len(lines), len(lines[-1]) + 1) if ended else (error.line, error.column)
    expected = (
        getattr(error, "accepts", None) or getattr(error, "expected", None) or getattr(error, "allowed", None) or ()
    )
    wanted = ", ".join(sorted({_WORDS.get(name, name.lower()) for name in expected}))
    if ended:
        found = "the text ends too early"
    elif isinstance(error, UnexpectedCharacters):
        found = f"unexpected '{text[error.pos_in_stream or 0]}'"
    else:
        found = f"unexpected '{getattr(error, 'token', '')}'"
    problem = f"{found}. Expected {wanted}." if wanted else f"{found}."
    if found == "unexpected '~'":
        problem = f"{found}. Declarations stand in a file of their own: give it with --declarations."
    return PatternSyntaxError(problem, place=where.at(line, column), source=text, line=line, column=column)
