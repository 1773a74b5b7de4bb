"""The attributes that trees read, as columns of numbers: which of them, and how a text becomes a number.

The code of a word is its place among the words that training met, so it is the same whoever reads the events.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from foresail.patterns.conditions.evaluate import ArrayColumn
from foresail.patterns.conditions.typing import AttributeType

InputKind: TypeAlias = Literal["number", "angle", "step"]
"""A quantity, a direction in degrees, or something that holds for a while and then changes: whole numbers, words."""
IDENTIFIERS = frozenset({"track", "mmsi", "imo", "offset", "source", "name", "callsign", "id", "time"})
"""Who it is, not what it does: a tree would learn tracks by heart."""
MOST_WORDS = 32
"""A text of more words than this is a name."""
LEAST_KNOWN = 0.01
"""Trees can do with the unknown, but not with what is hardly ever known."""
FAR = float(np.finfo(np.float32).max)
"""Stands for endlessly far."""


@dataclass(frozen=True, slots=True)
class InputColumn:
    """One attribute as trees read it."""

    name: str
    kind: InputKind
    words: tuple[str, ...] = ()
    """Of a text, what training met: the code of a word is its place; any other is unknown."""

    @property
    def key(self) -> str:
        """What a batch of events calls the column: two models may know different words of one attribute."""
        return f"{self.name}={crc32(repr(self.words).encode()):08x}"

    def numbers(self, column: ArrayColumn) -> NDArray[np.float64]:
        """The values of a column as numbers; NaN where they are unknown."""
        if column.type is AttributeType.STRING:
            values = self._codes(column)
        elif self.words:
            values = np.full(len(column.values), np.nan)
        else:
            values = column.values.astype(np.float64)
        known = values if column.valid is None else np.where(column.valid, values, np.nan)
        return np.clip(known, -FAR, FAR)

    def _codes(self, column: ArrayColumn) -> NDArray[np.float64]:
        place = {word: float(n) for n, word in enumerate(self.words)}
        if column.dictionary is None:
            return np.array([place.get(word, np.nan) for word in column.values], dtype=np.float64)
        of_code = np.array([*(place.get(word, np.nan) for word in column.dictionary), np.nan])
        valid = np.ones(len(column.values), dtype=np.bool_) if column.valid is None else column.valid
        codes: NDArray[np.float64] = of_code[np.where(valid, column.values, -1).astype(np.int64)]
        return codes


def usable_names(types: Mapping[str, AttributeType]) -> tuple[str, ...]:
    """The attributes that may say something of what comes: no times, and nothing that only tells who it is."""
    return tuple(
        name
        for name, kind in types.items()
        if kind is not AttributeType.TIMESTAMP and name not in IDENTIFIERS and not name.endswith("_id")
    )


def input_columns(columns: Mapping[str, ArrayColumn], names: Iterable[str]) -> tuple[InputColumn, ...]:
    """The named columns that trees can read: not those hardly ever known, always the same, or of too many words."""
    found = (_input_column(name, columns[name]) for name in names if name in columns)
    return tuple(column for column in found if column is not None)


def _input_column(name: str, column: ArrayColumn) -> InputColumn | None:
    valid = np.ones(len(column.values), dtype=np.bool_) if column.valid is None else column.valid
    if column.type is AttributeType.TIMESTAMP or not len(valid):
        return None
    if column.type is AttributeType.STRING:
        words = _words(column, valid)
        return InputColumn(name, "step", words) if 1 < len(words) <= MOST_WORDS else None
    values = column.values.astype(np.float64)
    known = valid & ~np.isnan(values)
    if known.mean() < LEAST_KNOWN or values[known].min() == values[known].max():
        return None
    few = len(np.unique(values[known])) <= MOST_WORDS
    if column.type is AttributeType.BOOLEAN or (column.type is AttributeType.INTEGER and few):
        return InputColumn(name, "step")
    return InputColumn(name, "angle" if name.endswith("_deg") and name not in ("lat_deg", "lon_deg") else "number")


def _words(column: ArrayColumn, valid: NDArray[np.bool_]) -> tuple[str, ...]:
    held = np.unique(column.values[valid])
    if column.dictionary is None:
        return tuple(sorted(map(str, held[: MOST_WORDS + 1])))
    return tuple(sorted({column.dictionary[int(code)] for code in held[: MOST_WORDS + 1]}))


def columns_as_json(columns: Sequence[InputColumn]) -> list[dict[str, object]]:
    """The columns as plain values."""
    return [{"name": c.name, "kind": c.kind, "words": list(c.words)} for c in columns]
