"""Starts at rest: what is kept between batches of the queues (`queues`), as plain arrays without links."""

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from foresail.patterns.conditions.packing import WORD_BITS
from foresail.patterns.recognition.arrays import compiled, copy_part, copy_row
from foresail.patterns.recognition.queues import NONE, Queues, append_start, fresh_queues, starts_of
from foresail.patterns.recognition.tables import Plan


class Begun(NamedTuple):
    """Queues at rest: the starts of each row, one row after the other."""

    rows_at: NDArray[np.int64]
    pattern: NDArray[np.int32]
    time: NDArray[np.int64]
    index: NDArray[np.int64]
    runs: NDArray[np.uint64]


def nothing_begun(words: int, rows: int) -> Begun:
    """No starts in any of `rows` rows, where a set of run states takes so many words."""
    return Begun(
        np.zeros(rows + 1, dtype=np.int64),
        np.empty(0, dtype=np.int32),
        np.empty(0, dtype=np.int64),
        np.empty(0, dtype=np.int64),
        np.empty((0, words), dtype=np.uint64),
    )


def run_words(plan: Plan) -> int:
    """How many words hold a set of run states of any pattern."""
    return words_for(int(np.diff(plan.tables.runs_at).max(initial=1)))


def words_for(runs: int) -> int:
    """How many words hold a set of so many run states."""
    return -(-runs // WORD_BITS)


def rearranged_starts(begun: Begun, rows: NDArray[np.int64]) -> Begun:
    """Starts whose row i is row `rows[i]` of `begun`, or none where that is negative."""
    first = np.where(rows >= 0, begun.rows_at[rows], 0)
    many = np.where(rows >= 0, begun.rows_at[rows + 1], 0) - first
    rows_at = np.concatenate([[0], np.cumsum(many)]).astype(np.int64)
    taken = np.arange(rows_at[-1]) + np.repeat(first - rows_at[:-1], many)
    return Begun(rows_at, begun.pattern[taken], begun.time[taken], begun.index[taken], begun.runs[taken])


@njit(cache=True)
def stored_room(rows: int, starts: int, words: int) -> Begun:
    """Room for so many rows and starts."""
    return Begun(
        np.zeros(rows + 1, dtype=np.int64),
        np.empty(starts, dtype=np.int32),
        np.empty(starts, dtype=np.int64),
        np.empty(starts, dtype=np.int64),
        np.empty((starts, words), dtype=np.uint64),
    )


@njit(cache=True)
def stored_with_room(begun: Begun, filled: int, rows: int, starts: int) -> Begun:
    """The first `filled` rows, with room for so many rows and starts in all."""
    if rows < len(begun.rows_at) and starts <= len(begun.time):
        return begun
    wider = stored_room(2 * rows, 2 * starts, begun.runs.shape[1])
    for row in range(filled):
        copy_stored(begun, row, wider, row)
    return wider


@njit(cache=True)
def filled_part(begun: Begun, rows: int) -> Begun:
    """The first `rows` rows alone."""
    exact = stored_room(rows, begun.rows_at[rows], begun.runs.shape[1])
    for row in range(rows):
        copy_stored(begun, row, exact, row)
    return exact


@compiled
def copy_stored(begun: Begun, row: int, onto: Begun, at_row: int) -> None:
    """Put the starts that rest in a row into row `at_row` of `onto`, the first that is not filled."""
    first, end, at = begun.rows_at[row], begun.rows_at[row + 1], onto.rows_at[at_row]
    copy_part(begun.pattern, first, end, onto.pattern, at)
    copy_part(begun.time, first, end, onto.time, at)
    copy_part(begun.index, first, end, onto.index, at)
    for start in range(end - first):
        copy_row(begun.runs, first + start, onto.runs, at + start)
    onto.rows_at[at_row + 1] = at + end - first


@compiled
def take_starts(begun: Begun, row: int, some: Queues, onto: int) -> None:
    """Fill the empty queues of row `onto` with the starts that rest in a row; there must be room."""
    pattern, group = np.int64(NONE), np.int64(NONE)
    for at in range(begun.rows_at[row], begun.rows_at[row + 1]):
        if begun.pattern[at] != pattern:
            pattern, group = np.int64(begun.pattern[at]), np.int64(NONE)
        group = append_start(some, onto, pattern, group, begun.time[at], begun.index[at], begun.runs, at)


@compiled
def store_starts(some: Queues, row: int, begun: Begun, onto: int) -> None:
    """Put the starts of a row into row `onto` of those at rest, the first that is not filled; there must be room."""
    at = begun.rows_at[onto]
    for pattern in range(some.head.shape[1]):
        group, node = np.int64(some.head[row, pattern]), np.int64(some.head[row, pattern])
        while node != NONE:
            if some.skip[group] == node:
                group = node
            begun.pattern[at], begun.time[at], begun.index[at] = pattern, some.time[node], some.index[node]
            copy_row(some.runs, group, begun.runs, at)
            at += 1
            node = np.int64(some.next[node])
    begun.rows_at[onto + 1] = at


@njit(cache=True)
def at_rest(some: Queues, rows: int) -> Begun:
    """The starts of the first `rows` rows, as they are kept between batches."""
    many = 0
    for row in range(rows):
        many += starts_of(some, row)
    begun = stored_room(rows, many, some.runs.shape[1])
    for row in range(rows):
        store_starts(some, row, begun, row)
    return begun


@njit(cache=True)
def awake(begun: Begun, rows: int, patterns: int) -> Queues:
    """The starts that rest in the first `rows` rows, as the kernels step them."""
    some = fresh_queues(rows, patterns, begun.runs.shape[1], len(begun.time) + 2 * rows + patterns + 64)
    for row in range(rows):
        take_starts(begun, row, some, row)
    return some
