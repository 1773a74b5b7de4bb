"""Which record of a cell holds at a time: of several, the one that began last."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

Integers = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Records:
    """Records sorted by cell and begin; those of cell i stand at `first[i]..first[i + 1]`. Times are microseconds."""

    first: Integers
    valid_from_us: Integers
    valid_to_us: Integers


NO_RECORDS = Records(np.zeros(1, np.int64), np.zeros(0, np.int64), np.zeros(0, np.int64))


def build_records(
    cell: Integers, valid_from_us: Integers, valid_to_us: Integers, cells: int
) -> tuple[Records, Integers]:
    """The records sorted, and the order that sorts them."""
    order = np.lexsort((valid_to_us, valid_from_us, cell))
    first = np.concatenate(([0], np.cumsum(np.bincount(cell, minlength=cells)))).astype(np.int64)
    return Records(first, valid_from_us[order], valid_to_us[order]), order


@njit("void(i8[::1], i8[::1], i8[::1], i8[::1], i8[::1], i8[::1])", cache=True, nogil=True)
def _fill_holding(cell: Any, time_us: Any, first: Any, begins: Any, ends: Any, out: Any) -> None:
    for i in range(len(cell)):
        if cell[i] < 0:
            continue
        low, high = first[cell[i]], first[cell[i] + 1]
        begin = low
        while low < high:
            middle = (low + high) // 2
            if begins[middle] <= time_us[i]:
                low = middle + 1
            else:
                high = middle
        for record in range(low - 1, begin - 1, -1):
            if time_us[i] < ends[record]:
                out[i] = record
                break


def holding(cell: Integers, time_us: Integers, records: Records) -> Integers:
    """The record that holds in each cell at each time (from its begin until before its end), or -1."""
    out = np.full(len(cell), -1, np.int64)
    _fill_holding(
        np.array(cell), np.array(time_us), records.first, records.valid_from_us,
        records.valid_to_us, out,
    )  # fmt: skip
    return out
