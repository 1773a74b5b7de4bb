"""`.sre` files to catalog entries: the prefix notation `;(A,*(B),C){window:10}` written as a person would write it here."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from typing import Any, Literal

from lark import Lark, Token, Tree, UnexpectedCharacters, UnexpectedEOF, UnexpectedInput, UnexpectedToken

from patterns.catalog.entry import RESERVED, PatternEntry
from patterns.errors import PatternSyntaxError, Place, nearest
from patterns.notations.sre_predicates import METRES_PER_KM, Argument, SreError, condition_of

OPTIONS = ("order", "partitionBy", "window", "windowType")
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


@dataclass(frozen=True, slots=True)
class Importing:
    """What the notation leaves open: the names, the domain, and what the numbers of a time window count."""

    name: str
    domain: Literal["maritime", "fleet"] = "maritime"
    time_unit: Literal["s", "ms"] = "s"


@dataclass(slots=True)
class _Names:
    """The conditions met so far, each text under one readable name."""

    by_text: dict[str, str] = field(default_factory=dict)

    def name(self, text: str) -> str:
        if text not in self.by_text:
            self.by_text[text] = self._unused(_readable(text))
        return self.by_text[text]

    def _unused(self, wanted: str) -> str:
        taken = {*self.by_text.values(), *RESERVED}
        tries = (wanted if number == 1 else f"{wanted}_{number}" for number in range(1, len(taken) + 2))
        return next(name for name in tries if name not in taken)


@dataclass(slots=True)
class _Reading:
    """One pattern while it is being read: its conditions, the registers it writes and reads, and what to tell."""

    where: Place
    names: _Names = field(default_factory=_Names)
    written: set[str] = field(default_factory=set)
    read: list[Argument] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def place(self, token: Token) -> Place:
        return self.where.at(token.line or 1, token.column or 1)


def import_sre(text: str, source: str, importing: Importing, declarations: tuple[str, str] | None = None) -> list[PatternEntry]:
    """The entries that the patterns of an .sre file make; `declarations` is the text and the name of their file."""
    tree = _parsed(text, source, "patterns")
    declared = _parsed(*declarations, "declarations") if declarations else None
    place = Place(declarations[1]) if declarations else Place(source)
    patterns = [child for child in tree.children if isinstance(child, Tree)]
    entries = []
    for number, pattern in enumerate(patterns, start=1):
        name = importing.name if len(patterns) == 1 else f"{importing.name}_{number}"
        entries.append(_entry(pattern, name, Place(source), importing, (declared, place)))
    return entries


def _parsed(text: str, source: str, start: str) -> Tree[Token]:
    try:
        return _grammar(start).parse(text)
    except UnexpectedInput as error:
        raise _syntax_error(error, text, Place(source)) from None


@cache
def _grammar(start: str) -> Lark:
    grammar = files("patterns.notations").joinpath("sre.lark").read_text(encoding="utf-8")
    return Lark(grammar, parser="lalr", start=start, propagate_positions=True, maybe_placeholders=False)


def _syntax_error(error: UnexpectedInput, text: str, where: Place) -> PatternSyntaxError:
    ended = isinstance(error, UnexpectedEOF) or (isinstance(error, UnexpectedToken) and error.token.type == "$END")
    lines = text.splitlines() or [""]
    line, column = (len(lines), len(lines[-1]) + 1) if ended else (error.line, error.column)
    expected = getattr(error, "accepts", None) or getattr(error, "expected", None) or getattr(error, "allowed", None) or ()
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


def _entry(
    tree: Tree[Token], name: str, where: Place, importing: Importing, declared: tuple[Tree[Token] | None, Place]
) -> PatternEntry:
    reading = _Reading(where)
    body, *options = tree.children
    pattern = _outermost(_write(body, reading))
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


def _write(node: Any, reading: _Reading) -> str:
    """The expression as pattern text, between parentheses where it is more than one item."""
    kind, children = node.data, node.children
    if kind == "terminal":
        return _terminal(children, reading)
    raw = children[0].children
    parts = [_write(child, reading) for child in raw]
    match kind:
        case "sequence":
            return _group(" ; ", parts)
        case "choice":
            return _group(" | ", parts)
        case "iteration":
            return f"{_one(node, parts, 'iteration', reading)}*"
        case "negation":
            return f"not({_outermost(_one(node, parts, 'negation', reading))})"
        case "skip_till_any" | "skip_till_next":
            word = "any" if kind == "skip_till_any" else "next"
            whole = len(raw) == 1 and raw[0].data == "sequence"
            inner = [_write(child, reading) for child in raw[0].children[0].children] if whole else parts
            return f"{word}({', '.join(map(_outermost, inner))})"
    msg = f"an expression of kind {kind} is not of the grammar"
    raise AssertionError(msg)


def _one(node: Any, parts: Sequence[str], what: str, reading: _Reading) -> str:
    if len(parts) > 1:
        reading.notes.append(f"The {what} of {len(parts)} expressions on line {node.meta.line} was read as one of their sequence.")
    return _group(" ; ", parts)


def _group(sign: str, parts: Sequence[str]) -> str:
    return parts[0] if len(parts) == 1 else f"({sign.join(parts)})"


def _outermost(text: str) -> str:
    """The text without the parentheses that enclose all of it."""
    if not text.startswith("("):
        return text
    depth = 0
    for position, letter in enumerate(text):
        depth += (letter == "(") - (letter == ")")
        if depth == 0:
            return text[1:-1] if position == len(text) - 1 else text
    return text


def _terminal(children: list[Any], reading: _Reading) -> str:
    condition = _sentence(children[0], reading)
    name = "_" if condition == "true" else reading.names.name(condition)
    if len(children) == 1:
        return name
    register = str(children[1])[1:-1]
    if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", register) or register in RESERVED:
        msg = f"{reading.place(children[1])}: '{register}' cannot name a register. Use letters and digits."
        raise SreError(msg)
    reading.written.add(register)
    return f"{name} as {register}"


def _sentence(node: Any, reading: _Reading) -> str:
    match node.data:
        case "predicate":
            return _predicate(node, reading)
        case "complement":
            return f"not ({_sentence(node.children[0], reading)})"
        case "conjunction":
            return " and ".join(_nested(child, "disjunction", reading) for child in node.children[0].children)
        case _:
            return " or ".join(_sentence(child, reading) for child in node.children[0].children)


def _nested(node: Any, weaker: str, reading: _Reading) -> str:
    said = _sentence(node, reading)
    return f"({said})" if node.data == weaker else said


def _predicate(node: Any, reading: _Reading) -> str:
    word, *rest = node.children
    arguments = [
        Argument(str(token).strip('"'), token.type == "QUOTED", reading.place(token))
        for argument in (rest[0].children if rest else [])
        for token in argument.children
    ]
    if str(word) == "BT":
        reading.notes.append("BT includes both ends.")
    reading.read.extend(argument for argument in arguments if argument.register)
    return condition_of(str(word), arguments, reading.place(word))


def _check_registers(reading: _Reading) -> None:
    for argument in reading.read:
        if argument.text not in reading.written:
            hint = nearest(argument.text, reading.written)
            msg = (
                f"{argument.place}: the register '{argument.text}' is never written. {hint}"
                f'Write ["{argument.text}"] behind the sentence whose event it keeps.'
            )
            raise SreError(msg)


def _options(options: Sequence[Tree[Token]], reading: _Reading, importing: Importing) -> dict[str, Any]:
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


def _window(given: dict[str, Token], reading: _Reading, importing: Importing) -> str:
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


def _whole(token: Token, reading: _Reading) -> int:
    if not re.fullmatch("[0-9]+", str(token)):
        msg = f"{reading.place(token)}: '{token}' is not a whole number. Write one such as 10."
        raise SreError(msg)
    return int(token)


def _declarations(
    tree: Tree[Token] | None, where: Place, reading: _Reading
) -> tuple[dict[str, str], list[list[str]]]:
    """The features, and the groups of conditions of which at most one holds; a name the pattern has is used again."""
    used = set(reading.names.by_text)
    inside = _Reading(where, names=reading.names)
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


def _declared(tree: Tree[Token] | None, reading: _Reading) -> Iterator[tuple[str, list[str]]]:
    for declaration in tree.children if tree else ():
        if isinstance(declaration, Tree):
            sign, sentences = declaration.children
            assert isinstance(sign, Token) and isinstance(sentences, Tree), "the grammar gives a sign and a list"
            yield sign.type, [_sentence(child, reading) for child in sentences.children]


def _readable(text: str) -> str:
    """A name made of the constants and attributes of a condition: `type = "SELL" and name = "INTC"` is sell_intc."""
    if text.startswith("not "):
        return f"not_{_readable(text[4:].removeprefix('(').removesuffix(')'))}"
    circle = re.fullmatch(r"(?:([0-9.e+]+) <= )?distance_m\([^)]*\) (<|>=) ([0-9.e+]+)", text)
    if circle:
        low, sign, high = circle.groups()
        words = ["from", _km(low), "to", _km(high)] if low else ["within" if sign == "<" else "beyond", _km(high)]
        return "_".join(words) + "_km"
    constants = re.findall(r'"([^"]*)"', text)
    words = constants or [word for word in re.findall(r"[A-Za-z_][A-Za-z0-9_]*|[0-9]+", text) if word not in RESERVED]
    slug = re.sub(r"[^A-Za-z0-9]+", "_", "_".join(words[:3])).strip("_").lower()
    return slug if re.match("[a-z]", slug) else f"c_{slug}".rstrip("_")


def _km(metres: str) -> str:
    return f"{float(metres) / METRES_PER_KM:g}".replace(".", "_")
