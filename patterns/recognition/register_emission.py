"""From configurations that end to rows: detections, counts, listed sets and episodes, with what registers held."""

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from foresail.patterns.recognition.arrays import compiled, copy_row
from foresail.patterns.recognition.register_graph import Graph, Paths, walked
from foresail.patterns.recognition.register_pool import MOST_SETS, register_order
from foresail.patterns.recognition.register_program import EMPTY
from foresail.patterns.recognition.register_rows import MEMBERS, NOT_COUNTED, RegisterRows, rows_with_room, write_row
from foresail.patterns.recognition.register_state import (
    FIRST_START_TIME,
    FIRST_TIE,
    FIRST_TIME,
    LAST_INDEX,
    LAST_TIME,
    START_INDEX,
    START_TIME,
    STATUS,
    Held,
    OpenEpisode,
)
from foresail.patterns.recognition.rows import DETECTED, OPENED, UPDATED
from foresail.patterns.recognition.track_state import NO_EPISODE, PENDING, REPORTED

COMPLETE, LATEST_START, LATEST_BEGAN, FIRST_START, FIRST_BEGAN, ROOTS, TAKEN = range(7)
_LATEST, _FIRST, _LAST_TAKEN = 0, 1, 2


class Accepted(NamedTuple):
    """What ends at one event."""

    numbers: NDArray[np.int64]
    """By the names above: sets, the latest and the earliest beginning, how many roots."""
    registers: NDArray[np.int64]
    """Of the latest, of the earliest, and of what is being looked at."""
    node: NDArray[np.int64]
    node_registers: NDArray[np.int64]


class Now(NamedTuple):
    """The event that is read, and how to find what registers hold: events of the batch, or remembered ones."""

    event: int
    column: int
    bits: int
    place: int
    """In the track, from 1."""
    time: int
    end: int
    """Where the remembered events of the track end."""
    first: int
    """The first event of the track in the batch, and how many came before it."""
    before: int


@njit(cache=True)
def fresh_accepted(roots: int, registers: int) -> Accepted:
    """Room for so many."""
    return Accepted(
        np.zeros(7, dtype=np.int64),
        np.full((3, registers), EMPTY, dtype=np.int64),
        np.empty(roots, dtype=np.int64),
        np.empty((roots, registers), dtype=np.int64),
    )


@njit(cache=True)
def accepted_for(some: Accepted, roots: int) -> Accepted:
    """Nothing has ended yet; with room for so many roots."""
    if roots > len(some.node):
        some = fresh_accepted(2 * roots, some.registers.shape[1])
    some.numbers[COMPLETE], some.numbers[ROOTS], some.numbers[TAKEN] = 0, 0, 0
    return some


@compiled
def take(some: Accepted, registers: NDArray[np.int64], row: int) -> None:
    """Look at a configuration that ends; of several, what was kept latest is told."""
    if some.numbers[TAKEN] and register_order(some.registers, _LAST_TAKEN, registers, row) >= 0:
        return
    some.numbers[TAKEN] = 1
    copy_row(registers, row, some.registers, _LAST_TAKEN)


@compiled
def accept(some: Accepted, start: int, began: int, sets: int, node: int) -> None:
    """Note that matches which began there end here, with the registers that were looked at."""
    numbers, registers = some.numbers, some.registers
    fresh = numbers[COMPLETE] == 0
    later = fresh or start > numbers[LATEST_START]
    if later or (start == numbers[LATEST_START] and register_order(registers, _LAST_TAKEN, registers, _LATEST) > 0):
        numbers[LATEST_START], numbers[LATEST_BEGAN] = start, began
        copy_row(registers, _LAST_TAKEN, registers, _LATEST)
    earlier = fresh or start < numbers[FIRST_START]
    if earlier or (start == numbers[FIRST_START] and register_order(registers, _LAST_TAKEN, registers, _FIRST) > 0):
        numbers[FIRST_START], numbers[FIRST_BEGAN] = start, began
        copy_row(registers, _LAST_TAKEN, registers, _FIRST)
    some.node[numbers[ROOTS]] = node
    copy_row(registers, _LAST_TAKEN, some.node_registers, numbers[ROOTS])
    numbers[ROOTS] += 1
    numbers[COMPLETE] = min(numbers[COMPLETE] + sets, MOST_SETS)
    numbers[TAKEN] = 0


@compiled
def index_of(now: Now, held: Held, code: int) -> int:
    """The place in its track of an event that a register holds, from 1; 0 of none."""
    if code == EMPTY:
        return 0
    return now.before + code - now.first + 1 if code >= 0 else held.place[now.end + code]


@compiled
def time_of(now: Now, held: Held, times: NDArray[np.int64], code: int) -> int:
    """When it was."""
    if code == EMPTY:
        return 0
    return times[code] if code >= 0 else held.time[now.end + code]


@compiled
def tell_registers(
    onto_index: NDArray[np.int64],
    onto_time: NDArray[np.int64],
    at: int,
    registers: NDArray[np.int64],
    row: int,
    now: Now,
    held: Held,
    times: NDArray[np.int64],
) -> None:
    """Write which events a row of registers holds."""
    for r in range(registers.shape[1]):
        onto_index[at, r] = index_of(now, held, registers[row, r])
        onto_time[at, r] = time_of(now, held, times, registers[row, r])


@compiled
def tie_of(times: NDArray[np.int64], now: Now, last_time: int, tie: int) -> int:
    """How many events of the track before this one bear its time; `last_time` and `tie` are of what came before."""
    same, event = 0, now.event - 1
    while event >= now.first and times[event] == now.time:
        same += 1
        event -= 1
    if event < now.first and now.before > 0 and last_time == now.time:
        same += tie + 1
    return same


@njit(cache=True)
def listed_rows(
    rows: RegisterRows,
    graph: Graph,
    some: Accepted,
    together: bool,
    limit: int,
    now: Now,
    tie: int,
    omitted: int,
    held: Held,
    times: NDArray[np.int64],
    paths: Paths,
) -> tuple[RegisterRows, Paths]:
    """A row for each set that ends here, at most `limit` of them."""
    left, begin = limit, rows.size[0]
    for root in range(some.numbers[ROOTS]):
        if left <= 0:
            break
        paths = walked(graph, some.node[root], left, paths)
        left -= paths.size[0]
        first = 0
        for walk in range(paths.size[0]):
            end = paths.ends[walk]
            rows = rows_with_room(rows, 1, end - first)
            started = now.time
            for at in range(end - 1, first - 1, -1):
                node = paths.nodes[at]
                if graph.position[node] > 0:
                    if at == end - 1:
                        started = graph.time[node]
                    rows.members[rows.size[MEMBERS]] = graph.position[node]
                    rows.size[MEMBERS] += 1
            row = write_row(
                rows, now.event, DETECTED, now.place, now.time, started, started, now.time, tie,
                some.numbers[COMPLETE], 0,
            )  # fmt: skip
            tell_registers(rows.register_index, rows.register_time, row, some.node_registers, root, now, held, times)
            if not together:
                written_on(graph, paths, first, end, rows, row)
            first = end
    unlisted = some.numbers[COMPLETE] - (rows.size[0] - begin) + omitted
    for row in range(begin, rows.size[0]):
        rows.omitted[row] = unlisted
    return rows, paths


@compiled
def written_on(graph: Graph, paths: Paths, first: int, end: int, rows: RegisterRows, row: int) -> None:
    """Of a walk (its last event first) the events that registers hold at its end."""
    found = 0
    for at in range(first, end):
        node = paths.nodes[at]
        fresh = graph.writes[node] & ~found
        found |= graph.writes[node]
        for r in range(rows.register_index.shape[1]):
            if fresh >> r & 1:
                rows.register_index[row, r] = abs(graph.position[node])
                rows.register_time[row, r] = graph.time[node]


@njit(cache=True)
def detected_row(
    rows: RegisterRows,
    some: Accepted,
    counting: bool,
    now: Now,
    tie: int,
    omitted: int,
    held: Held,
    times: NDArray[np.int64],
) -> RegisterRows:
    """One row for all that ends here."""
    rows = rows_with_room(rows, 1, 0)
    first = some.numbers[FIRST_BEGAN]
    began = first if counting else some.numbers[LATEST_BEGAN]
    count = some.numbers[COMPLETE] if counting else NOT_COUNTED
    row = write_row(rows, now.event, DETECTED, now.place, now.time, began, first, now.time, tie, count, omitted)
    which = _FIRST if counting else _LATEST
    tell_registers(rows.register_index, rows.register_time, row, some.registers, which, now, held, times)
    return rows


@njit(cache=True)
def extended_episode(
    rows: RegisterRows,
    some: Accepted,
    episode: OpenEpisode,
    key: int,
    min_dwell_us: int,
    updates: bool,
    now: Now,
    tie: int,
    omitted: int,
    held: Held,
    times: NDArray[np.int64],
) -> tuple[RegisterRows, bool]:
    """Take one more detection into the episode of a track; whether a row told of it."""
    numbers = episode.numbers
    if numbers[key, STATUS] == NO_EPISODE:
        numbers[key, STATUS] = PENDING
        numbers[key, START_INDEX], numbers[key, START_TIME] = some.numbers[LATEST_START], some.numbers[LATEST_BEGAN]
        numbers[key, FIRST_START_TIME] = some.numbers[FIRST_BEGAN]
        numbers[key, FIRST_TIME], numbers[key, FIRST_TIE] = now.time, tie
    numbers[key, LAST_INDEX], numbers[key, LAST_TIME] = now.place, now.time
    tell_registers(episode.register_index, episode.register_time, key, some.registers, _LATEST, now, held, times)
    if now.time - numbers[key, START_TIME] < min_dwell_us:
        return rows, False
    status = UPDATED if numbers[key, STATUS] == REPORTED else OPENED
    numbers[key, STATUS] = REPORTED
    if status == UPDATED and not updates:
        return rows, False
    return episode_row(rows, episode, key, status, now.event, omitted), True


@njit(cache=True)
def episode_row(
    rows: RegisterRows, episode: OpenEpisode, key: int, status: int, event: int, omitted: int
) -> RegisterRows:
    """A row that tells of the episode of a track as it stands."""
    rows = rows_with_room(rows, 1, 0)
    numbers = episode.numbers
    row = write_row(
        rows, event, status, numbers[key, LAST_INDEX], numbers[key, LAST_TIME], numbers[key, START_TIME],
        numbers[key, FIRST_START_TIME], numbers[key, FIRST_TIME], numbers[key, FIRST_TIE], NOT_COUNTED, omitted,
    )  # fmt: skip
    copy_row(episode.register_index, key, rows.register_index, row)
    copy_row(episode.register_time, key, rows.register_time, row)
    return rows


@njit(cache=True)
def ended_episode(rows: RegisterRows, episode: OpenEpisode, key: int, status: int, event: int) -> RegisterRows:
    """Tell that the episode of a track is over; one that was never told of ends in silence."""
    if episode.numbers[key, STATUS] == REPORTED:
        rows = episode_row(rows, episode, key, status, event, 0)
    episode.numbers[key, STATUS] = NO_EPISODE
    return rows
