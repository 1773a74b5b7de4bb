"""What the detection kernels find, as columns that they fill one row after the other."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from foresail.patterns.recognition.arrays import inlined

DETECTED, OPENED, UPDATED, CLOSED, TIMED_OUT = 0, 1, 2, 3, 4


class Rows(NamedTuple):
    """What the kernel found, a row per finding; `size[0]` of them are filled."""

    size: NDArray[np.int64]
    event: NDArray[np.int64]
    """Row of the batch on which it was found."""
    pattern: NDArray[np.int32]
    status: NDArray[np.uint8]
    position: NDArray[np.int64]
    time: NDArray[np.int64]
    start_index: NDArray[np.int64]
    start_time: NDArray[np.int64]
    first_start_time: NDArray[np.int64]
    id_time: NDArray[np.int64]
    id_tie: NDArray[np.int64]


class Moment(NamedTuple):
    """Where the kernel stands: the event's row, its place in the track, and its time."""

    event: int
    slot: int
    position: int
    time: int
    tie: int
    gap: int


def fresh_rows(capacity: int) -> Rows:
    """Room for `capacity` findings."""
    return Rows(
        np.zeros(1, dtype=np.int64),
        np.empty(capacity, dtype=np.int64),
        np.empty(capacity, dtype=np.int32),
        np.empty(capacity, dtype=np.uint8),
        *(np.empty(capacity, dtype=np.int64) for _ in range(7)),
    )


@inlined
def write(
    rows: Rows,
    moment: Moment,
    pattern: int,
    status: int,
    index: int,
    time: int,
    start_index: int,
    start_time: int,
    first_start_time: int,
    id_time: int,
    id_tie: int,
) -> None:
    """Append one finding."""
    n = rows.size[0]
    rows.event[n] = moment.event
    rows.pattern[n] = pattern
    rows.status[n] = status
    rows.position[n] = index
    rows.time[n] = time
    rows.start_index[n] = start_index
    rows.start_time[n] = start_time
    rows.first_start_time[n] = first_start_time
    rows.id_time[n] = id_time
    rows.id_tie[n] = id_tie
    rows.size[0] = n + 1
