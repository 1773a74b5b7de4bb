"""The attributes of events as the numbers that a tree or a boosting reads, each with the test it stands for."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from foresail.patterns.catalog.entry import PatternEntry
from foresail.patterns.compiler import CompiledPattern
from foresail.patterns.conditions.evaluate import ArrayColumn
from foresail.patterns.conditions.inspection import attributes_of
from foresail.patterns.conditions.typing import AttributeType

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
