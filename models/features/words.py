"""A condition as a reader says it: `7000 <= port.distance_m < 8000 and speed_kn >= 7` is 7 to 8 km off the port, ...

Learned conditions have only a number for a name, so pages, alerts and explanations say what they mean instead.

The attributes of events as the numbers that a tree or a boosting reads, each with the test it stands for.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from foresail.patterns.catalog.entry import PatternEntry
from foresail.patterns.compiler import CompiledPattern
from foresail.patterns.conditions.evaluate import ArrayColumn
from foresail.patterns.conditions.parser import parse_condition
from foresail.patterns.conditions.syntax import And, Attribute, Comparison, Condition, Literal, Operator
from foresail.patterns.conditions.text import attributes_of
from foresail.patterns.conditions.typing import AttributeType
from foresail.patterns.errors import PatternError

LEARNED = re.compile(r"leaf_\d+")
"""What learned conditions are called."""
UNITS = {"kn": "kn", "kmh": "km/h", "m": "m", "km": "km", "s": "s", "min": "min", "h": "h", "deg": "°", "pct": "%"}
LARGER = {"m": (1000.0, "km"), "s": (60.0, "min")}
SPEED, DISTANCE = "speed", "distance"
MIRRORED = {
    Operator.LESS: Operator.GREATER,
    Operator.AT_MOST: Operator.AT_LEAST,
    Operator.GREATER: Operator.LESS,
    Operator.AT_LEAST: Operator.AT_MOST,
}


@dataclass(slots=True)
class _Asked:
    """What a condition asks of one attribute."""

    low: float | None = None
    high: float | None = None
    others: list[str] = field(default_factory=list)


def is_learned(name: str) -> bool:
    """Whether a condition of this name was learned."""
    return LEARNED.fullmatch(name) is not None


def in_words(text: str) -> str:
    """The condition `text` in words; as it is where it asks more than one value after the other."""
    try:
        asked = _asked(parse_condition(text))
    except (PatternError, _NoWordsError):
        return text
    return ", ".join(phrase for key, wanted in asked.items() for phrase in _phrases(key, wanted))


class _NoWordsError(ValueError):
    """The condition is no list of simple questions."""


def _asked(condition: Condition) -> dict[str, _Asked]:
    asked: dict[str, _Asked] = {}
    for part in condition.parts if isinstance(condition, And) else (condition,):
        for key, operator, value in _questions(part):
            wanted = asked.setdefault(key, _Asked())
            if isinstance(value, bool | str):
                wanted.others.append(_in_words(key, operator, value))
            elif operator in (Operator.AT_LEAST, Operator.GREATER):
                wanted.low = value
            elif operator in (Operator.AT_MOST, Operator.LESS):
                wanted.high = value
            else:
                wanted.others.append(f"{_plain(key)} {_number(value)}")
    return asked


def _questions(part: Condition) -> Iterator[tuple[str, Operator, bool | int | float | str]]:
    match part:
        case And(parts):
            for inner in parts:
                yield from _questions(inner)
        case Comparison(operator, Attribute() as attribute, Literal(value)):
            yield attribute.key, operator, value
        case Comparison(operator, Literal(value), Attribute() as attribute):
            yield attribute.key, MIRRORED.get(operator, operator), value
        case _:
            raise _NoWordsError


def _in_words(key: str, operator: Operator, value: bool | str) -> str:
    holds = operator is Operator.EQUAL
    if isinstance(value, bool):
        return _plain(key) if holds == value else f"not {_plain(key)}"
    return f"{_plain(key)} {'' if holds else 'not '}{value}"


def _phrases(key: str, wanted: _Asked) -> Iterator[str]:
    if wanted.low is not None or wanted.high is not None:
        yield _measured(key, wanted.low, wanted.high)
    yield from wanted.others


def _measured(key: str, low: float | None, high: float | None) -> str:
    words = re.split(r"[._]", key)
    unit = words.pop() if len(words) > 1 and words[-1] in UNITS else ""
    amount = _amount(low, high, unit)
    if words[-1] == DISTANCE and len(words) > 1:
        return f"{amount} off the {' '.join(words[:-1])}"
    return amount if words == [SPEED] and unit else f"{' '.join(words)} {amount}"


def _amount(low: float | None, high: float | None, unit: str) -> str:
    size, name = LARGER.get(unit, (1.0, ""))
    if size == 1.0 or max(abs(low or 0.0), abs(high or 0.0)) < size:
        size, name = 1.0, UNITS.get(unit, "")
    between = "" if name in ("°", "%") else " "
    ends = [None if end is None else _number(end / size) for end in (low, high)]
    after = f"{between}{name}" if name else ""
    if ends[0] is None:
        return f"less than {ends[1]}{after}"
    return f"{ends[0]}{after} or more" if ends[1] is None else f"{ends[0]} to {ends[1]}{after}"


def _plain(key: str) -> str:
    return re.sub(r"[._]", " ", key)


def _number(value: float) -> str:
    return f"{value:.4g}" if abs(value) < 10_000 else f"{value:,.0f}"


LEAST_KNOWN = 0.9
"""An attribute that is unknown more often would leave most events outside every leaf."""
MOST_WORDS = 12
"""Of a text, its most frequent words; each is a yes or no of its own."""


@dataclass(frozen=True, slots=True)
class Quantity:
    """One column of numbers: an attribute, or whether a text is one word (`word`)."""

    attribute: str
    type: AttributeType
    word: str | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Attributes:
    """The quantities of some events; unknown is NaN."""

    quantities: tuple[Quantity, ...]
    values: NDArray[np.float64]
    """One row per event, one column per quantity."""
    left_out: tuple[str, ...]
    """Attributes that are too often unknown, or cannot be numbers."""

    @property
    def known(self) -> NDArray[np.bool_]:
        """The events of which every quantity is known."""
        return np.asarray(~np.isnan(self.values).any(axis=1))

    @classmethod
    def of(
        cls, columns: Mapping[str, ArrayColumn], names: Sequence[str], least_known: float = LEAST_KNOWN
    ) -> "Attributes":
        """The quantities of the named columns, but those known in less than `least_known` of the events."""
        quantities: list[Quantity] = []
        values: list[NDArray[np.float64]] = []
        left_out: list[str] = []
        for name in names:
            found = _quantities(name, columns[name], least_known) if name in columns else []
            if not found:
                left_out.append(name)
            for quantity, numbers in found:
                quantities.append(quantity)
                values.append(numbers)
        rows = len(next(iter(columns.values())).values) if columns else 0
        table = np.column_stack(values) if values else np.empty((rows, 0))
        return cls(tuple(quantities), table, tuple(left_out))


def attributes_of_entry(entry: PatternEntry, pattern: CompiledPattern) -> tuple[str, ...]:
    """What a tree may read: the attributes that the entry allows, or else those its conditions and features read."""
    if entry.learn and entry.learn.attributes:
        return entry.learn.attributes
    read = (attribute.key for condition in pattern.conditions for attribute in attributes_of(condition))
    return tuple(name for name in dict.fromkeys(read) if name != "time")


def _quantities(name: str, column: ArrayColumn, least_known: float) -> list[tuple[Quantity, NDArray[np.float64]]]:
    rows = len(column.values)
    valid = np.ones(rows, dtype=np.bool_) if column.valid is None else column.valid
    if column.type is AttributeType.TIMESTAMP:
        return []
    if column.type is AttributeType.STRING:
        return _words(name, column, valid) if valid.mean() >= least_known else []
    numbers = np.where(valid, column.values.astype(np.float64), np.nan)
    finite_or_far = np.where(np.isposinf(numbers), np.finfo(np.float32).max, numbers)
    if rows and (~np.isnan(finite_or_far)).mean() < least_known:
        return []
    return [(Quantity(name, column.type), finite_or_far)]


def _words(name: str, column: ArrayColumn, valid: NDArray[np.bool_]) -> list[tuple[Quantity, NDArray[np.float64]]]:
    if column.dictionary is None:
        return []
    often = np.bincount(column.values[valid].astype(np.int64), minlength=len(column.dictionary))
    chosen = [int(n) for n in np.argsort(-often, kind="stable")[:MOST_WORDS] if often[n]]
    return [
        (
            Quantity(name, AttributeType.STRING, column.dictionary[n]),
            np.where(valid, (column.values == n).astype(np.float64), np.nan),
        )
        for n in chosen
    ]
