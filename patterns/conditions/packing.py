"""The conditions of many patterns as bits of words, for batches that are already in Python."""

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from patterns.conditions.evaluate import ArrayColumn, evaluate
from patterns.conditions.syntax import Condition

WORD_BITS = 64


def packed(conditions: Sequence[Condition], columns: Mapping[str, ArrayColumn], rows: int) -> NDArray[np.int64]:
    """Per row the words that `pipeline.conditions.packed_words` makes in the JVM: condition i is bit i % 64."""
    words = np.zeros((rows, max(1, -(-len(conditions) // WORD_BITS))), dtype=np.uint64)
    for n, condition in enumerate(conditions):
        holds = evaluate(condition, columns, rows).astype(np.uint64)
        words[:, n // WORD_BITS] |= holds << np.uint64(n % WORD_BITS)
    return words.view(np.int64)
