"""`.sre` files to catalog entries: the prefix notation `;(A,*(B),C){window:10}` as a person would write it here.

The text of an .sre file to lark's tree; a fault is shown with its line, a caret and what was expected.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any, Literal

from lark import Lark, Token, Tree, UnexpectedCharacters, UnexpectedEOF, UnexpectedInput, UnexpectedToken

from foresail.patterns.catalog.entry import PatternEntry
from foresail.patterns.errors import PatternSyntaxError, Place, nearest
from foresail.patterns.limits import check_depth
from foresail.patterns.notations.sre_expressions import (
    Reading,
    SreError,
    without_parentheses,
    write_expression,
    write_sentence,
)

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


OPTIONS = ("order", "partitionBy", "window", "windowType")


@dataclass(frozen=True, slots=True)
class Importing:
    """What the notation leaves open: the names, the domain, and what the numbers of a time window count."""

    name: str
    domain: Literal["maritime", "fleet"] = "maritime"
    time_unit: Literal["s", "ms"] = "s"


def import_sre(
    text: str, source: str, importing: Importing, declarations: tuple[str, str] | None = None
) -> list[PatternEntry]:
    """The entries that the patterns of an .sre file make; `declarations` is the text and the name of their file."""
    tree = parse_sre(text, source, "patterns")
    declared = parse_sre(*declarations, "declarations") if declarations else None
    place = Place(declarations[1]) if declarations else Place(source)
    patterns = [child for child in tree.children if isinstance(child, Tree)]
    entries = []
    for number, pattern in enumerate(patterns, start=1):
        name = importing.name if len(patterns) == 1 else f"{importing.name}_{number}"
        entries.append(_entry(pattern, name, Place(source), importing, (declared, place)))
    return entries


def _entry(
    tree: Tree[Token], name: str, where: Place, importing: Importing, declared: tuple[Tree[Token] | None, Place]
) -> PatternEntry:
    reading = Reading(where)
    body, *options = tree.children
    pattern = without_parentheses(write_expression(body, reading))
    _check_registers(reading)
    fields = _options([o for o in options if isinstance(o, Tree)], reading, importing)
    used = dict(reading.names.by_text)
    features, exclusive = _declarations(declared[0], declared[1], reading)
    return PatternEntry.model_validate(
        {
            "name": name,
            "domain": importing.domain,
            "says": f"What the pattern {name} of {where.name} says.",
            "source": where.name,
            "notes": " ".join(dict.fromkeys(reading.notes)) or None,
            "where": {short: text for text, short in used.items()},
            "pattern": pattern,
            "features": features,
            "exclusive": exclusive,
            **fields,
        }
    )


def _check_registers(reading: Reading) -> None:
    for argument in reading.read:
        if argument.text not in reading.written:
            hint = nearest(argument.text, reading.written)
            msg = (
                f"{argument.place}: the register '{argument.text}' is never written. {hint}"
                f'Write ["{argument.text}"] behind the sentence whose event it keeps.'
            )
            raise SreError(msg)


def _options(options: Sequence[Tree[Token]], reading: Reading, importing: Importing) -> dict[str, Any]:
    given: dict[str, Token] = {}
    for option in options:
        key, value = (token for token in option.children if isinstance(token, Token))
        if key not in OPTIONS:
            msg = f"{reading.place(key)}: unknown option '{key}'. {nearest(key, OPTIONS)}Known: {', '.join(OPTIONS)}."
            raise SreError(msg)
        given[str(key)] = value
    fields: dict[str, Any] = {}
    if "order" in given:
        fields["forecast"] = {"order": _whole(given["order"], reading)}
    if "partitionBy" in given:
        reading.notes.append(f"Events are grouped by '{given['partitionBy']}': read that column as the track.")
    if "window" in given:
        fields["window"] = _window(given, reading, importing)
    return fields


def _window(given: dict[str, Token], reading: Reading, importing: Importing) -> str:
    size = _whole(given["window"], reading)
    kind = given.get("windowType", "count")
    if kind not in ("count", "time"):
        place = reading.place(given["windowType"])
        msg = f"{place}: windowType cannot be '{kind}'. {nearest(str(kind), ('count', 'time'))}Known: count, time."
        raise SreError(msg)
    if kind == "count":
        return f"{size} events"
    reading.notes.append(f"The window of {size} was read in {importing.time_unit}.")
    return f"{size}{importing.time_unit}"


def _whole(token: Token, reading: Reading) -> int:
    if not re.fullmatch("[0-9]+", str(token)):
        msg = f"{reading.place(token)}: '{token}' is not a whole number. Write one such as 10."
        raise SreError(msg)
    return int(token)


def _declarations(tree: Tree[Token] | None, where: Place, reading: Reading) -> tuple[dict[str, str], list[list[str]]]:
    """The features, and the groups of conditions of which at most one holds; a name the pattern has is used again."""
    used = set(reading.names.by_text)
    inside = Reading(where, names=reading.names)
    groups: list[list[str]] = []
    features: dict[str, str] = {}
    for kind, texts in _declared(tree, inside):
        if kind == "FEATURES":
            features.update({inside.names.name(text): text for text in texts if text not in used})
        else:
            groups.append(texts)
    known = used | set(features.values())
    exclusive = [[inside.names.name(text) for text in texts if text in known] for texts in groups]
    return features, [group for group in exclusive if len(group) > 1]


def _declared(tree: Tree[Token] | None, reading: Reading) -> Iterator[tuple[str, list[str]]]:
    for declaration in tree.children if tree else ():
        if isinstance(declaration, Tree):
            sign, sentences = declaration.children
            assert isinstance(sign, Token), "the grammar gives a sign first"
            assert isinstance(sentences, Tree), "the grammar gives a list second"
            yield sign.type, [write_sentence(child, reading) for child in sentences.children]
