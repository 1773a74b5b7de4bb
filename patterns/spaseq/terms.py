"""RDF terms as texts in N-Triples notation: equal texts are equal terms, and a text can be kept, sent and shown.

The engine abbreviates numbers and truth values in its tables; here they get their types back. Values are only taken of
the types whose order needs no further rules, so that a comparison made here can never differ from the engine's.
"""

import re
from decimal import Decimal
from typing import TypeAlias

XSD = "http://www.w3.org/2001/XMLSchema#"
Value: TypeAlias = int | float | Decimal | str | bool
_MOST_REMEMBERED = 200_000
_TYPED = re.compile(rf'"((?:[^"\\]|\\.)*)"\^\^<{re.escape(XSD)}(\w+)>')
_PLAIN = re.compile(r'"((?:[^"\\]|\\.)*)"')
_ESCAPES = {"t": "\t", "n": "\n", "r": "\r", "b": "\b", "f": "\f", '"': '"', "'": "'", "\\": "\\"}
_ESCAPED = re.compile(r"\\(u[0-9A-Fa-f]{4}|U[0-9A-Fa-f]{8}|.)")

_expanded: dict[str, str | None] = {"": None}
_values: dict[str, Value | None] = {}


def expanded(cell: str) -> str | None:
    """The term of a cell of the engine's table; None where the variable is unbound."""
    try:
        return _expanded[cell]
    except KeyError:
        if len(_expanded) > _MOST_REMEMBERED:
            _expanded.clear()
            _expanded[""] = None
        term = _expanded[cell] = _expand(cell)
        return term


def _expand(cell: str) -> str:
    if cell[0] in '"<_':
        return cell
    if cell in ("true", "false"):
        return f'"{cell}"^^<{XSD}boolean>'
    kind = "double" if "e" in cell.lower() else "decimal" if "." in cell else "integer"
    return f'"{cell}"^^<{XSD}{kind}>'


def value_of(term: str) -> Value | None:
    """The number, text or truth that a literal stands for; None where its type has rules of its own."""
    try:
        return _values[term]
    except KeyError:
        if len(_values) > _MOST_REMEMBERED:
            _values.clear()
        value = _values[term] = _value(term)
        return value


def _value(term: str) -> Value | None:
    typed = _TYPED.fullmatch(term)
    if typed is None:
        plain = _PLAIN.fullmatch(term)
        return unescaped(plain[1]) if plain else None
    text, kind = typed.groups()
    try:
        match kind:
            case "integer":
                return int(text)
            case "decimal":
                return Decimal(text)
            case "double":
                return float(text)
            case "boolean":
                return text in ("true", "1")
            case _:
                return None
    except (ValueError, ArithmeticError):
        return None


def unescaped(text: str) -> str:
    """The text that an escaped one stands for."""
    if "\\" not in text:
        return text
    return _ESCAPED.sub(lambda found: _unescape(found[1]), text)


def _unescape(code: str) -> str:
    return chr(int(code[1:], 16)) if code[0] in "uU" and len(code) > 1 else _ESCAPES.get(code, code)


def quoted(text: str) -> str:
    """A text as a plain literal."""
    for sign, escape in (("\\", "\\\\"), ('"', '\\"'), ("\n", "\\n"), ("\r", "\\r"), ("\t", "\\t")):
        text = text.replace(sign, escape)
    return f'"{text}"'
