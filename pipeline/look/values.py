"""Texts as values: numbers with either decimal sign, and the words and numbers that feeds write for "no value"."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

Decimal = Literal[".", ","]

POINT_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d{1,3})?", re.ASCII)
COMMA_NUMBER = re.compile(r"[+-]?(\d+,?\d*|,\d+)([eE][+-]?\d{1,3})?", re.ASCII)
GROUPED_NUMBER = re.compile(r"[+-]?\d{1,3}([.,' ]\d{3})+([.,]\d+)?", re.ASCII)
WHOLE_NUMBER = re.compile(r"[+-]?\d+", re.ASCII)
PLACEHOLDERS = frozenset(
    ("null", "none", "nan", "na", "n/a", "#n/a", "nil", "-", "--", "---", "?", "\\n", "unknown", "undefined", "missing")
)
SENTINELS = (
    *(-99.0, -999.0, -9999.0, -99999.0, -999.9, -999999.0, 999.0, 9999.0, 99999.0, 999999.0),
    *(-32768.0, 32767.0, 65535.0, -2147483648.0, 2147483647.0, 4294967295.0),
)
FAR_OFF = 5.0
"""A sentinel lies at least so many times further from zero than any value beside it."""
TRUE_WORDS, FALSE_WORDS = frozenset(("true", "1", "yes", "on")), frozenset(("false", "0", "no", "off"))
LEAST_SHARE = 0.9
"""Values that must be of a kind for the column to be of it: feeds have faulty rows."""


@dataclass(frozen=True, slots=True)
class Column:
    """One column of the head, as text; an empty cell is None."""

    name: str
    cells: tuple[str | None, ...]

    @property
    def filled(self) -> tuple[str, ...]:
        """The cells that say something: neither empty nor a word for nothing."""
        return tuple(cell for cell in self.cells if cell is not None and cell.lower() not in PLACEHOLDERS)

    @property
    def placeholders(self) -> tuple[str, ...]:
        """The words for nothing, as they are written here."""
        return tuple(dict.fromkeys(cell for cell in self.cells if cell is not None and cell.lower() in PLACEHOLDERS))


def number_of(text: str | None, decimal: Decimal = ".") -> float | None:
    """The number that `text` spells with this decimal sign."""
    if text is None or not (COMMA_NUMBER if decimal == "," else POINT_NUMBER).fullmatch(text):
        return None
    return float(text.replace(",", "."))


def numbers_of(texts: Iterable[str], decimal: Decimal = ".") -> list[float]:
    """The numbers among `texts`."""
    return [value for text in texts if (value := number_of(text, decimal)) is not None]


def is_mostly(pattern: re.Pattern[str], texts: Sequence[str]) -> bool:
    """Whether nearly all of `texts` are of `pattern`."""
    return bool(texts) and sum(1 for text in texts if pattern.fullmatch(text)) >= LEAST_SHARE * len(texts)


def decimal_of(texts: Sequence[str]) -> Decimal | None:
    """The decimal sign of a column of numbers; None when it is no such column."""
    if is_mostly(POINT_NUMBER, texts):
        return "."
    return "," if is_mostly(COMMA_NUMBER, texts) else None


def is_grouped(texts: Sequence[str]) -> bool:
    """Whether the column has numbers with signs between the thousands, which nothing here reads."""
    return decimal_of(texts) is None and is_mostly(GROUPED_NUMBER, texts)


def sentinels_of(numbers: Sequence[float]) -> tuple[float, ...]:
    """The numbers that stand for "no value": well-known ones, repeated, and far off all the others."""
    counts = Counter(numbers)
    known = [value for value in SENTINELS if counts[value] > 1]
    others = [abs(value) for value in counts if value not in known]
    if not others:
        return ()
    return tuple(value for value in known if abs(value) >= FAR_OFF * max(others))


def kind_of(texts: Sequence[str], decimal: Decimal = ".") -> Literal["long", "double", "boolean", "string"]:
    """The type of a column that passes through: the narrowest that loses nothing."""
    if not texts:
        return "string"
    if {text.lower() for text in texts} <= {"true", "false"}:
        return "boolean"
    # a number with zeros in front is a name; so is one too long for a column of numbers
    if any(re.match(r"[+-]?0\d", text) for text in texts):
        return "string"
    if all(WHOLE_NUMBER.fullmatch(text) for text in texts):
        return "long" if max(map(len, texts)) <= 18 else "string"
    return "double" if len(numbers_of(texts, decimal)) == len(texts) else "string"
