"""Values of events as numbers that mean the same in every batch and process: what registers compare.

Whole numbers, times and yes and no are integers; a text is the first 60 bits of its SHA-256, so that equal texts have
equal codes wherever they are read (two different ones share a code once in 10^18 pairs). Null is `NULL`, or NaN.
"""

import hashlib
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from foresail.patterns.conditions.evaluate import ArrayColumn
from foresail.patterns.conditions.typing import AttributeType

NULL = int(np.iinfo(np.int64).min)
HEX_DIGITS = 15
"""60 bits, which Spark's `conv` can take as a signed integer."""


@lru_cache(maxsize=1 << 16)
def code_of(text: str) -> int:
    """The code of a text."""
    return int(hashlib.sha256(text.encode()).hexdigest()[:HEX_DIGITS], 16)


def stable(column: ArrayColumn) -> NDArray[Any]:
    """The values of a column as doubles or stable integers."""
    if column.type is AttributeType.NUMBER:
        numbers = column.values.astype(np.float64)
        return numbers if column.valid is None else np.where(column.valid, numbers, np.nan)
    codes = _text_codes(column) if column.type is AttributeType.STRING else column.values.astype(np.int64)
    return codes if column.valid is None else np.where(column.valid, codes, NULL)


def _text_codes(column: ArrayColumn) -> NDArray[np.int64]:
    if column.dictionary is None:
        words, inverse = np.unique(np.array([_word(w) for w in column.values], dtype=object), return_inverse=True)
        known = np.array([code_of(word) for word in words], dtype=np.int64)
        found: NDArray[np.int64] = known[inverse]
        return found
    known = np.array([*map(code_of, column.dictionary), NULL], dtype=np.int64)
    coded: NDArray[np.int64] = known[np.clip(column.values, -1, len(column.dictionary))]
    return coded


def _word(value: object) -> str:
    return value if isinstance(value, str) else ""
