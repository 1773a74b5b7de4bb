"""A table as a stream of graphs: which column is which predicate, and how its values are written as terms.

Every value has exactly one term and every term one value, so that comparing numbers in columns and comparing terms in
graphs cannot differ. The graph of an instant is the union of its rows, each a star around its subject.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Literal, TypeAlias

from foresail.patterns.errors import PatternError, nearest
from foresail.patterns.spaseq.terms import XSD, quoted, value_of

Kind: TypeAlias = Literal["number", "integer", "double", "string", "boolean", "iri"]
KINDS: tuple[Kind, ...] = ("number", "integer", "double", "string", "boolean", "iri")
NUMBERS = frozenset({"number", "integer", "double"})
_TEMPLATE = re.compile(r"([^{}]*)\{(\w+)\}([^{}]*)")
_KEYS = ("subject", "prefixes", "columns")
_OF_COLUMN = ("column", "type")
LARGEST = 1e15
"""Numbers beyond this are no terms: whole numbers must stay exact."""
DECIMALS = 9


@dataclass(frozen=True, slots=True)
class Terms:
    """How the values of a column are written: `before` and `after` are what an IRI has around them."""

    kind: Kind
    before: str = ""
    after: str = ""

    def term(self, value: Any) -> str:
        """The term of a value as columns hold it: a float, or a text."""
        match self.kind:
            case "string":
                return quoted(value)
            case "iri":
                return f"<{self.before}{escaped(value)}{self.after}>"
            case "boolean":
                return f'"{"true" if value else "false"}"^^<{XSD}boolean>'
            case "double":
                return f'"{_plain(value)}"^^<{XSD}double>'
            case _:
                return f'"{_plain(value)}"^^<{XSD}{"integer" if value == int(value) else "decimal"}>'

    def value(self, term: str) -> float | str | None:
        """The value whose term this is; None where there is none."""
        if self.kind == "string":
            held = value_of(term)
            return held if isinstance(held, str) and quoted(held) == term else None
        if self.kind == "iri":
            begin, end = f"<{self.before}", f"{self.after}>"
            inside = term[len(begin) : len(term) - len(end)]
            fits = term.startswith(begin) and term.endswith(end) and len(term) > len(begin) + len(end)
            return inside if fits and escaped(inside) == inside else None
        held = value_of(term)
        if held is None or isinstance(held, str) or (self.kind == "boolean") is not isinstance(held, bool):
            return None
        value = float(held)
        if abs(value) >= LARGEST:
            return None
        mine = self.term(value)
        return value if mine.partition("^^")[2] == term.partition("^^")[2] and value_of(mine) == held else None


@dataclass(frozen=True, slots=True)
class MappedColumn:
    """A column and how it is written; `kind` None is told by the column's own type."""

    name: str
    kind: Kind | None = None
    before: str = ""
    after: str = ""


@dataclass(frozen=True, slots=True)
class TableMapping:
    """The mapping of one table."""

    subject: MappedColumn
    columns: Mapping[str, MappedColumn]
    """By the IRI of a predicate."""

    @property
    def names(self) -> tuple[str, ...]:
        """The columns that it reads."""
        return tuple(dict.fromkeys([self.subject.name, *(column.name for column in self.columns.values())]))


def escaped(text: str) -> str:
    """A text as it may stand in an IRI."""
    return "".join(sign if sign.isalnum() or sign in "-._~" else _percent(sign) for sign in str(text))


def _percent(sign: str) -> str:
    return "".join(f"%{byte:02X}" for byte in sign.encode())


def _plain(value: float) -> str:
    return str(int(value)) if value == int(value) else f"{Decimal(repr(float(value))):f}"


def read_mapping(held: Any, source: str) -> TableMapping:
    """The mapping that a file holds; `source` names it in errors."""
    if not isinstance(held, dict):
        raise _fault(source, "is no mapping", "Write subject: and columns:.")
    for key in held:
        if key not in _KEYS:
            raise _fault(source, f"unknown key '{key}'", f"{nearest(str(key), _KEYS)}Known: {', '.join(_KEYS)}.")
    subject, columns = held.get("subject"), held.get("columns")
    prefixes = held.get("prefixes") or {}
    if not isinstance(subject, str) or not isinstance(columns, dict) or not columns or not isinstance(prefixes, dict):
        raise _fault(source, "subject: or columns: is missing", "Write subject: urn:mmsi:{mmsi} and columns:.")
    return TableMapping(
        _templated(subject, source),
        {_iri(str(name), prefixes, source): _column(value, source) for name, value in columns.items()},
    )


def _templated(text: str, source: str) -> MappedColumn:
    found = _TEMPLATE.fullmatch(text)
    if found is None or ":" not in found[1]:
        raise _fault(source, f"'{text}' is no template of an IRI", "Write one column in braces: urn:mmsi:{mmsi}.")
    return MappedColumn(found[2], "iri", found[1], found[3])


def _iri(name: str, prefixes: Mapping[Any, Any], source: str) -> str:
    if name.startswith("<"):
        return name[1:-1]
    prefix, colon, local = name.partition(":")
    if colon and prefix in prefixes:
        return str(prefixes[prefix]) + local
    if "://" in name or name.startswith("urn:"):
        return name
    known = ", ".join(f"{each}:" for each in prefixes) or "none"
    raise _fault(source, f"'{name}' is no IRI", f"Give its prefix below prefixes:. Known: {known}.")


def _column(held: Any, source: str) -> MappedColumn:
    if isinstance(held, str):
        return _templated(held, source) if "{" in held else MappedColumn(held)
    if not isinstance(held, dict) or "column" not in held:
        raise _fault(source, f"'{held}' names no column", "Write the column's name, or {column: NAME, type: TYPE}.")
    for key in held:
        if key not in _OF_COLUMN:
            listed = ", ".join(_OF_COLUMN)
            raise _fault(source, f"unknown key '{key}' of a column", f"{nearest(str(key), _OF_COLUMN)}Known: {listed}.")
    kind = held.get("type")
    if kind is not None and kind not in KINDS[:-1]:
        raise _fault(source, f"unknown type '{kind}'", f"{nearest(str(kind), KINDS)}Known: {', '.join(KINDS[:-1])}.")
    return MappedColumn(str(held["column"]), kind)


def _fault(source: str, fault: str, way_out: str) -> PatternError:
    return PatternError(f"{source}: {fault}. {way_out}")
