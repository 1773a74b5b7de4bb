"""What the kernel of patterns with registers finds, as columns that it fills one row after the other."""

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from foresail.patterns.recognition.arrays import compiled, copy_part, copy_row

NOT_COUNTED = -1
ROWS, MEMBERS = 0, 1


class RegisterRows(NamedTuple):
    """A row per finding, and per row what each register held; `members` are the listed events of all rows."""

    size: NDArray[np.int64]
    event: NDArray[np.int64]
    status: NDArray[np.uint8]
    index: NDArray[np.int64]
    time: NDArray[np.int64]
    start_time: NDArray[np.int64]
    first_start_time: NDArray[np.int64]
    id_time: NDArray[np.int64]
    id_tie: NDArray[np.int64]
    count: NDArray[np.int64]
    omitted: NDArray[np.int64]
    register_index: NDArray[np.int64]
    register_time: NDArray[np.int64]
    members_end: NDArray[np.int64]
    members: NDArray[np.int64]


@njit(cache=True)
def fresh_register_rows(rows: int, members: int, registers: int) -> RegisterRows:
    """Room for so many."""
    return RegisterRows(
        np.zeros(2, dtype=np.int64),
        np.empty(rows, dtype=np.int64),
        np.empty(rows, dtype=np.uint8),
        np.empty(rows, dtype=np.int64),
        np.empty(rows, dtype=np.int64),
        np.empty(rows, dtype=np.int64),
        np.empty(rows, dtype=np.int64),
        np.empty(rows, dtype=np.int64),
        np.empty(rows, dtype=np.int64),
        np.empty(rows, dtype=np.int64),
        np.empty(rows, dtype=np.int64),
        np.empty((rows, registers), dtype=np.int64),
        np.empty((rows, registers), dtype=np.int64),
        np.empty(rows, dtype=np.int64),
        np.empty(members, dtype=np.int64),
    )


@njit(cache=True)
def rows_with_room(some: RegisterRows, rows: int, members: int) -> RegisterRows:
    """The same rows, with room for so many more."""
    n, m = some.size[ROWS], some.size[MEMBERS]
    if n + rows <= len(some.event) and m + members <= len(some.members):
        return some
    wider = fresh_register_rows(2 * (n + rows), 2 * (m + members), some.register_index.shape[1])
    wider.size[ROWS], wider.size[MEMBERS] = n, m
    copy_part(some.event, 0, n, wider.event, 0)
    copy_part(some.status, 0, n, wider.status, 0)
    copy_part(some.index, 0, n, wider.index, 0)
    copy_part(some.time, 0, n, wider.time, 0)
    copy_part(some.start_time, 0, n, wider.start_time, 0)
    copy_part(some.first_start_time, 0, n, wider.first_start_time, 0)
    copy_part(some.id_time, 0, n, wider.id_time, 0)
    copy_part(some.id_tie, 0, n, wider.id_tie, 0)
    copy_part(some.count, 0, n, wider.count, 0)
    copy_part(some.omitted, 0, n, wider.omitted, 0)
    copy_part(some.members_end, 0, n, wider.members_end, 0)
    copy_part(some.members, 0, m, wider.members, 0)
    for row in range(n):
        copy_row(some.register_index, row, wider.register_index, row)
        copy_row(some.register_time, row, wider.register_time, row)
    return wider


@compiled
def write_row(
    rows: RegisterRows,
    event: int,
    status: int,
    index: int,
    time: int,
    start_time: int,
    first_start_time: int,
    id_time: int,
    id_tie: int,
    count: int,
    omitted: int,
) -> int:
    """Append a finding; its number. What the registers held is written by the caller, and members before the row."""
    n = rows.size[ROWS]
    rows.event[n] = event
    rows.status[n] = status
    rows.index[n] = index
    rows.time[n] = time
    rows.start_time[n] = start_time
    rows.first_start_time[n] = first_start_time
    rows.id_time[n] = id_time
    rows.id_tie[n] = id_tie
    rows.count[n] = count
    rows.omitted[n] = omitted
    rows.members_end[n] = rows.size[MEMBERS]
    rows.size[ROWS] = n + 1
    return n
