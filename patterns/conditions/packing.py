"""The conditions of many patterns as bits of words, for batches that are already in Python.

Events whose attributes fall into the same bins satisfy the same conditions. So every attribute is looked at once,
however many conditions read it, and conditions are evaluated once for each combination of bins that occurs.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, assert_never

import numpy as np
from numpy.typing import NDArray

from patterns.conditions.bins import add_bins, bins_of
from patterns.conditions.evaluate import ArrayColumn, evaluate, holds
from patterns.conditions.lowering import (
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
from patterns.conditions.syntax import Attribute, Condition, Value
from patterns.conditions.typing import AttributeType

WORD_BITS = 64
FEW_CONDITIONS = 4
"""So few are evaluated as fast as values are sorted into bins."""
MOST_KEYS = 1 << 62


def packed(conditions: Sequence[Condition], columns: Mapping[str, ArrayColumn], rows: int) -> NDArray[np.int64]:
    """Per row the words that `pipeline.conditions.packed_words` makes in the JVM: condition i is bit i % 64."""
    if len(conditions) <= FEW_CONDITIONS or rows == 0:
        return _each(conditions, columns, rows)
    keys = _keys(conditions, columns, rows)
    if keys is None:
        return _each(conditions, columns, rows)
    first = np.concatenate([[0], np.flatnonzero(keys[1:] != keys[:-1]) + 1])
    _, example, which = np.unique(keys[first], return_index=True, return_inverse=True)
    few = {name: _taken(column, first[example]) for name, column in columns.items()}
    words = _each(conditions, few, len(example))[which.reshape(-1)]
    return np.repeat(words, np.diff(np.append(first, rows)), axis=0)


def _each(conditions: Sequence[Condition], columns: Mapping[str, ArrayColumn], rows: int) -> NDArray[np.int64]:
    """The same, each condition evaluated on every row."""
    words = np.zeros((rows, max(1, -(-len(conditions) // WORD_BITS))), dtype=np.uint64)
    for n, condition in enumerate(conditions):
        true = evaluate(condition, columns, rows).astype(np.uint64)
        words[:, n // WORD_BITS] |= true << np.uint64(n % WORD_BITS)
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


def _keys(conditions: Sequence[Condition], columns: Mapping[str, ArrayColumn], rows: int) -> NDArray[np.int64] | None:
    """Per row a number that tells its combination of bins; None where there would be too many."""
    types = {key: column.type for key, column in columns.items()}
    read = _Read()
    for condition in conditions:
        read.take(lower(condition, types))
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
