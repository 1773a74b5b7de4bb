"""Values sorted into bins within which no condition can tell them apart; a few kernels, compiled ahead."""

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
from numba import boolean, float64, int64, njit, types
from numpy.typing import NDArray

from foresail.patterns.conditions.evaluate import ArrayColumn
from foresail.patterns.conditions.typing import AttributeType

Keys = NDArray[np.int64]


@njit(cache=True, error_model="numpy")
def _bin_numbers(values: NDArray[Any], valid: NDArray[np.bool_], marks: NDArray[Any], keys: Keys) -> None:
    """Append to each key the bin of a value: between marks, on a mark, or unknown."""
    many, all_valid = len(marks), len(valid) == 0
    bins = 2 * many + 2
    for i in range(len(values)):
        value = values[i]
        place = bins - 1
        if (all_valid or valid[i]) and value == value:  # noqa: PLR0124 - only NaN differs from itself
            low, high = 0, many
            while low < high:
                middle = (low + high) // 2
                if marks[middle] < value:
                    low = middle + 1
                else:
                    high = middle
            place = 2 * low
            if low < many and marks[low] == value:
                place += 1
        keys[i] = keys[i] * bins + place


@njit(cache=True, error_model="numpy")
def _bin_codes(values: NDArray[Any], valid: NDArray[np.bool_], bins: int, keys: Keys) -> None:
    """Append to each key the value itself, a code below `bins` - 1, or that it is unknown."""
    all_valid = len(valid) == 0
    for i in range(len(values)):
        known = all_valid or valid[i]
        keys[i] = keys[i] * bins + (np.int64(values[i]) if known else bins - 1)


def _read_only(kind: Any) -> Any:
    return types.Array(kind, 1, "C", readonly=True)


@cache
def bin_kernels() -> tuple[Callable[..., None], Callable[..., None]]:
    """Both kernels, compiled for every type of column that they are called with."""
    if not _bin_numbers.signatures:
        keys = types.Array(int64, 1, "C")
        for number in (float64, int64):
            _bin_numbers.compile((_read_only(number), _read_only(boolean), _read_only(number), keys))
        for code in (boolean, types.int32):
            _bin_codes.compile((_read_only(code), _read_only(boolean), int64, keys))
        _bin_numbers.disable_compile()
        _bin_codes.disable_compile()
    return _bin_numbers, _bin_codes


NO_NULLS = np.empty(0, dtype=np.bool_)


def add_bins(column: ArrayColumn, constants: set[Any], keys: Keys) -> None:
    """Append to each key the bin of a column's value with respect to these constants."""
    numbers, codes = bin_kernels()
    valid = NO_NULLS if column.valid is None else np.ascontiguousarray(column.valid)
    values = np.ascontiguousarray(column.values)
    if column.type in (AttributeType.BOOLEAN, AttributeType.STRING):
        codes(values, valid, bins_of(column, constants), keys)
    else:
        numbers(values, valid, np.array(sorted(constants), dtype=values.dtype), keys)


def bins_of(column: ArrayColumn, constants: set[Any]) -> int:
    """How many bins `add_bins` tells apart."""
    if column.type is AttributeType.BOOLEAN:
        return 3
    if column.type is AttributeType.STRING:
        assert column.dictionary is not None, "texts without codes have no bins"
        return len(column.dictionary) + 1
    return 2 * len(constants) + 2
