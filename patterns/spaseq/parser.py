"""The text of a SPAseq query to its tree, with the place of everything that a later check may point at."""

from functools import cache
from importlib.resources import files
from typing import Any

from lark import Lark, Token, Tree
from lark.exceptions import UnexpectedCharacters, UnexpectedInput, UnexpectedToken

from foresail.patterns.errors import PatternError, PatternSyntaxError, Place
from foresail.patterns.limits import check_depth, check_length
from foresail.patterns.spaseq.groups import GroupReader
from foresail.patterns.spaseq.syntax import (
    Atom,
    Both,
    Either,
    Gpm,
    Operand,
    Postfix,
    Query,
    Selection,
    Stream,
    Use,
    Variable,
)
from foresail.patterns.spaseq.triples import Triples, read_triples

_UNITS_US = {"SECOND": 1_000_000, "MINUTE": 60_000_000, "HOUR": 3_600_000_000}
_MOST_WINDOW_DIGITS = 9
_POSTFIX: dict[str, Postfix] = {"plus": "+", "optional": "?", "negated": "!"}
_WORDS = {
    "NAME": "a name",
    "VAR": "a variable",
    "IRI": "<IRI>",
    "NAMESPACE": "a prefix with its colon",
    "NUMBER": "a number",
    "SEPARATOR": "',' ';' or ':'",
    "$END": "the end",
}


def parse_query(text: str, where: Place) -> Query:
    """The tree of `text`, which begins at `where`; a fault points at its line and column."""
    check_length(text, where, "the query")
    try:
        tree = _parser().parse(text)
    except UnexpectedInput as error:
        raise _syntax_error(error, text, where) from None
    check_depth(tree, where, "the query")
    return _Reader(text, where).query(tree)


class _Reader:
    """Lark's tree to ours."""

    def __init__(self, text: str, where: Place) -> None:
        self._text = text
        self._where = where
        self._prefixes: dict[str, str] = {}

    def query(self, tree: Tree[Token]) -> Query:
        parts: dict[str, list[Any]] = {}
        for child in _held(tree):
            parts.setdefault(str(child.data), []).append(child)
        prologue = self._prologue(parts["prologue"][0])
        select = parts.get("select")
        partition = parts.get("partition")
        return Query(
            prologue,
            self._projected(select[0]) if select else None,
            self._construct(parts["construct"][0]) if "construct" in parts else None,
            self._within(parts["within"][0]),
            self._variable(partition[0].children[0]) if partition else None,
            tuple(self._stream(stream) for stream in parts.get("stream", ())),
            self._sequence(parts["seq"][0]),
            tuple(self._gpm(gpm) for gpm in parts.get("gpm", ())),
            self._where,
            tuple(self._prefixes.items()),
        )

    def _place(self, token: Token) -> Place:
        return self._where.at(token.line or 1, token.column or 1)

    def _variable(self, token: Token) -> Variable:
        return Variable(token[1:], self._place(token))

    def _prologue(self, tree: Tree[Token]) -> str:
        said = []
        base = ""
        for child in _held(tree):
            if child.data == "prefix":
                namespace, iri = _held(child)
                self._prefixes[namespace[:-1]] = iri[1:-1] if ":" in iri else base + iri[1:-1]
                said.append(f"PREFIX {namespace} {iri}")
            else:
                base = _held(child)[0][1:-1]
                said.append(f"BASE {_held(child)[0]}")
        return " ".join(said)

    def _projected(self, tree: Tree[Token]) -> tuple[Variable, ...] | None:
        if _held(tree)[0].type == "ALL":
            return None
        return tuple(self._variable(token) for token in _held(tree))

    def _construct(self, tree: Tree[Token]) -> Triples:
        group = _held(tree)[0]
        reader = GroupReader(self._text, self._where, self._prefixes)
        reader.read(group)
        found = read_triples(_held(group), reader.iri_of, template=True)
        if not found.complete or not found.found:
            where = self._where.at(group.meta.line, group.meta.column)
            msg = f"{where}: CONSTRUCT takes triples of plain terms. Write [] as _:b, and leave out what is no triple."
            raise PatternError(msg)
        return found

    def _within(self, tree: Tree[Token]) -> int:
        amount, unit = _held(tree)
        name = unit.upper().removesuffix("S")
        if name not in _UNITS_US:
            msg = f"{self._place(unit)}: unknown unit '{unit}' of WITHIN. Known units: SECONDS, MINUTES, HOURS."
            raise PatternError(msg)
        if not amount.isdecimal() or len(amount) > _MOST_WINDOW_DIGITS or not int(amount):
            msg = f"{self._place(amount)}: WITHIN takes a whole number above zero, not {amount[:40]}. Write another."
            raise PatternError(msg)
        return int(amount) * _UNITS_US[name]

    def _stream(self, tree: Tree[Token]) -> Stream:
        name, iri = _held(tree)
        return Stream(str(name), str(iri)[1:-1], self._place(name))

    def _sequence(self, tree: Tree[Token]) -> tuple[Atom, ...]:
        atoms: list[Atom] = []
        after: Selection | None = None
        for child in _held(tree):
            if isinstance(child, Token):
                after = child.value
                separator = child
                continue
            atoms.append(self._atom(child, after))
            after = None
        if after is not None:
            msg = f"{self._place(separator)}: nothing follows the '{separator}'. Remove it, or name a graph pattern."
            raise PatternError(msg)
        return tuple(atoms)

    def _atom(self, tree: Tree[Token], after: Selection | None) -> Atom:
        what = self._operand(tree)
        first = what
        while not isinstance(first, Use):
            first = first.parts[0]
        return Atom(what, _POSTFIX.get(str(tree.data), ""), after, first.place)

    def _operand(self, tree: Tree[Token]) -> Operand:
        if tree.data in ("both", "either"):
            parts = tuple(self._operand(child) for child in _held(tree))
            return Both(parts) if tree.data == "both" else Either(parts)
        name = _held(tree)[0]
        return Use(str(name), self._place(name))

    def _gpm(self, tree: Tree[Token]) -> Gpm:
        name, stream, group = _held(tree)
        reader = GroupReader(self._text, self._where, self._prefixes)
        found = reader.read(group)
        begin = group.meta.start_pos + 1
        return Gpm(
            str(name),
            str(stream),
            self._text[begin : group.meta.end_pos - 1],
            self._where.at(group.meta.line, group.meta.column + 1),
            self._place(name),
            self._place(stream),
            tuple(found.filters),
            tuple(found.enrichments),
            tuple(dict.fromkeys(found.graphs)),
            len(found.graphs) > len(found.enrichments),
            frozenset(found.words),
            frozenset(found.after_enrichment),
            tuple(found.nested_reads),
            read_triples(_held(group), reader.iri_of),
        )


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
    shown = f"'{found}' cannot stand here" if found else "the query ends too early"
    if found in ("&", "|") and ("'|'" in expected or "'&'" in expected):
        problem = f"'{found}' mixes & and |. Put one of the two in parentheses, as in (A & B) | C."
    else:
        problem = f"{shown}. Expected {', '.join(expected)}." if expected else f"{shown}."
    return PatternSyntaxError(problem, place=where.at(line, column), source=text, line=line, column=column)


def _token_at(text: str, line: int, column: int) -> str:
    rest = text.splitlines()[line - 1][column - 1 :]
    return rest.split(maxsplit=1)[0][:40] if rest[:1].isalnum() else rest[:1]


def _word(terminal: str) -> str:
    if terminal in _WORDS:
        return _WORDS[terminal]
    definition = next((t for t in _parser().terminals if t.name == terminal), None)
    return f"'{definition.pattern.value}'" if definition else terminal.lower()


@cache
def _parser() -> Lark:
    grammar = files("foresail.patterns.spaseq").joinpath("grammar.lark").read_text(encoding="utf-8")
    return Lark(grammar, parser="lalr", propagate_positions=True)
