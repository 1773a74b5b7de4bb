"""The conditions of many patterns as bits of words, for batches that are already in Python.

Events whose attributes fall into the same bins satisfy the same conditions. So every attribute is looked at once,
however many conditions read it, and conditions are evaluated once for each combination of bins that occurs.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, assert_never

import numpy as np
from numpy.typing import NDArray

from foresail.patterns.conditions.bins import add_bins, bins_of
from foresail.patterns.conditions.evaluate import ArrayColumn, holds
from foresail.patterns.conditions.lowering import (
    Denied,
    IntegerAgainstDouble,
    Joined,
    Lowered,
    OneOf,
    Present,
    Related,
    Settled,
    VersusConstant,
    lower,
)
from foresail.patterns.conditions.syntax import Attribute, Condition, Value
from foresail.patterns.conditions.typing import AttributeType

WORD_BITS = 64
FEW_CONDITIONS = 4
"""So few are evaluated as fast as values are sorted into bins."""
MOST_KEYS = 1 << 62


def words_for(conditions: int) -> int:
    """How many words hold so many conditions; at least one, so that there is always a column."""
    return max(1, -(-conditions // WORD_BITS))


def packed(conditions: Sequence[Condition], columns: Mapping[str, ArrayColumn], rows: int) -> NDArray[np.int64]:
    """Per row the words that `pipeline.conditions.packed_words` makes in the JVM: condition i is bit i % 64."""
    return Packer(conditions).words(columns, rows)


class Packer:
    """The same for many batches: conditions are restated once for each combination of column types."""

    def __init__(self, conditions: Sequence[Condition]) -> None:
        self._conditions = tuple(conditions)
        self._restated: dict[tuple[tuple[str, AttributeType], ...], _Restated] = {}

    def words(self, columns: Mapping[str, ArrayColumn], rows: int) -> NDArray[np.int64]:
        """Per row of these columns the words."""
        restated = self._for(columns)
        few = len(self._conditions) <= FEW_CONDITIONS or rows == 0
        keys = None if few else _keys(restated.read, columns, rows)
        if keys is None:
            return _each(restated.nodes, columns, rows)
        first = np.concatenate([[0], np.flatnonzero(keys[1:] != keys[:-1]) + 1])
        _, example, which = np.unique(keys[first], return_index=True, return_inverse=True)
        examples = {name: _taken(column, first[example]) for name, column in columns.items()}
        words = _each(restated.nodes, examples, len(example))[which.reshape(-1)]
        return np.repeat(words, np.diff(np.append(first, rows)), axis=0)

    def _for(self, columns: Mapping[str, ArrayColumn]) -> "_Restated":
        types = {key: column.type for key, column in columns.items()}
        known = tuple(types.items())
        if known not in self._restated:
            nodes = tuple(lower(condition, types) for condition in self._conditions)
            read = _Read()
            for node in nodes:
                read.take(node)
            self._restated[known] = _Restated(nodes, read)
        return self._restated[known]


def _each(nodes: Sequence[Lowered], columns: Mapping[str, ArrayColumn], rows: int) -> NDArray[np.int64]:
    """The words, each condition evaluated on every row."""
    words = np.zeros((rows, words_for(len(nodes))), dtype=np.uint64)
    for n, node in enumerate(nodes):
        words[:, n // WORD_BITS] |= holds(node, columns, rows).astype(np.uint64) << np.uint64(n % WORD_BITS)
    return words.view(np.int64)


@dataclass(frozen=True, slots=True)
class _Read:
    """What conditions ask: of attributes the constants they are compared with, and what is not as simple."""

    constants: dict[str, set[Any]] = field(default_factory=dict)
    others: dict[str, Lowered] = field(default_factory=dict)

    def take(self, node: Lowered) -> None:
        match node:
            case Settled():
                return
            case Denied(part):
                self.take(part)
            case Joined(_, parts):
                for part in parts:
                    self.take(part)
            case Present(value):
                self._compare(node, value, ())
            case VersusConstant(_, value, _, constant):
                self._compare(node, value, (constant,))
            case OneOf(value, _, constants):
                self._compare(node, value, constants)
            case Related() | IntegerAgainstDouble():
                self.others[repr(node)] = node
            case _:
                assert_never(node)

    def _compare(self, node: Lowered, value: Value, constants: Iterable[Any]) -> None:
        if isinstance(value, Attribute):
            self.constants.setdefault(value.key, set()).update(constants)
        else:
            self.others[repr(node)] = node


@dataclass(frozen=True, slots=True)
class _Restated:
    """Conditions for columns of certain types, and what they ask."""

    nodes: tuple[Lowered, ...]
    read: _Read


def _keys(read: _Read, columns: Mapping[str, ArrayColumn], rows: int) -> NDArray[np.int64] | None:
    """Per row a number that tells its combination of bins; None where there would be too many."""
    combinations = 2 ** len(read.others)
    for name, constants in read.constants.items():
        column = columns[name]
        if column.type is AttributeType.STRING and column.dictionary is None:
            return None
        combinations *= bins_of(column, constants)
    if combinations > MOST_KEYS:
        return None
    keys = np.zeros(rows, dtype=np.int64)
    for name, constants in read.constants.items():
        add_bins(columns[name], constants, keys)
    for node in read.others.values():
        keys = 2 * keys + holds(node, columns, rows)
    return keys


def _taken(column: ArrayColumn, rows: NDArray[np.int64]) -> ArrayColumn:
    valid = None if column.valid is None else column.valid[rows]
    return ArrayColumn(column.values[rows], valid, column.type, column.dictionary)
