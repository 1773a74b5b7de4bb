"""Values of attributes as single numbers, so that kernels need no types: null, numbers, texts and truth values.

Null is NaN. A text is a number beyond all others that holds its code in a dictionary; truth values lie beyond all
others on the negative side. What is beyond 2**1000 was no measured value to begin with.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

BEYOND = 2.0**1000
TEXT_UNIT = 2.0**960
FIRST_TEXT = 2**52
FALSE, TRUE = -(2.0**1001), -(2.0**1002)
NULL = float("nan")


def text_values(codes: NDArray[np.integer[Any]]) -> NDArray[np.float64]:
    """The values of texts with these codes; a negative code is null."""
    values = (codes.astype(np.float64) + FIRST_TEXT) * TEXT_UNIT
    return np.where(codes >= 0, values, np.nan)


def text_codes(values: NDArray[np.float64]) -> NDArray[np.int64]:
    """The codes of texts by their values."""
    codes: NDArray[np.int64] = (values / TEXT_UNIT).astype(np.int64) - FIRST_TEXT
    return codes


def number_values(numbers: NDArray[Any]) -> NDArray[np.float64]:
    """The values of numbers; what is no finite number is null."""
    plain = numbers.astype(np.float64)
    return np.where(np.abs(plain) < BEYOND, plain, np.nan)


def truth_values(truths: NDArray[np.bool_]) -> NDArray[np.float64]:
    """The values of truth values."""
    return np.where(truths, TRUE, FALSE)


class Dictionary:
    """The texts that have been seen, each with a code, and their order."""

    def __init__(self, texts: tuple[str, ...] = ()) -> None:
        self.texts: list[str] = list(texts)
        self._codes = {text: code for code, text in enumerate(self.texts)}
        self._ranks: NDArray[np.int64] = np.zeros(0, dtype=np.int64)

    def __len__(self) -> int:
        return len(self.texts)

    def code(self, text: str) -> int:
        """The code of a text, a new one if need be."""
        if text not in self._codes:
            self._codes[text] = len(self.texts)
            self.texts.append(text)
        return self._codes[text]

    def codes(self, texts: list[str]) -> NDArray[np.int64]:
        """The codes of some texts."""
        return np.fromiter((self.code(text) for text in texts), dtype=np.int64, count=len(texts))

    def value(self, value: float | str | bool | None) -> float:
        """Any value as a number."""
        if value is None:
            return NULL
        if isinstance(value, bool):
            return TRUE if value else FALSE
        if isinstance(value, str):
            return (self.code(value) + FIRST_TEXT) * TEXT_UNIT
        number = float(value)
        return number if abs(number) < BEYOND else NULL

    def ranks(self) -> NDArray[np.int64]:
        """By code the place of the text in the order of all texts."""
        if len(self._ranks) != max(len(self.texts), 1):
            self._ranks = np.zeros(max(len(self.texts), 1), dtype=np.int64)
            order = sorted(range(len(self.texts)), key=self.texts.__getitem__)
            self._ranks[order] = np.arange(len(self.texts))
        return self._ranks

    def python_value(self, value: float) -> float | str | bool | None:
        """A number as the value that it stands for."""
        if value != value:  # noqa: PLR0124 - NaN is not itself
            return None
        if value >= BEYOND:
            return self.texts[int(value / TEXT_UNIT) - FIRST_TEXT]
        if value <= -BEYOND:
            return value == TRUE
        return value
