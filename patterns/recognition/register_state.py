"""What is remembered of each key by a pattern with registers, as plain arrays: its runs, and the events they hold.

Groups of rows per key lie one key after the other; `at` tells where each key's begin (and the end).
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from foresail.patterns.recognition.events import ranges


class Held(NamedTuple):
    """The events that registers hold: their places in the track, times, and the values that relations read."""

    at: NDArray[np.int64]
    place: NDArray[np.int64]
    time: NDArray[np.int64]
    numbers: NDArray[np.float64]
    longs: NDArray[np.int64]


class Groups(NamedTuple):
    """Runs that have marked the same first event and share a future: one or, where needed, several configurations."""

    at: NDArray[np.int64]
    start_index: NDArray[np.int64]
    """Where the match began, or UNSTARTED."""
    start_time: NDArray[np.int64]
    size: NDArray[np.int32]
    """How many configurations."""
    sets: NDArray[np.int64]
    """How many sets of marked events lead here."""
    node: NDArray[np.int64]


class Configurations(NamedTuple):
    """A state of the automaton and what each register holds: a row of `Held` of the key, or EMPTY."""

    at: NDArray[np.int64]
    state: NDArray[np.int32]
    registers: NDArray[np.int64]


class Links(NamedTuple):
    """The graph of marked events (`register_graph`)."""

    at: NDArray[np.int64]
    position: NDArray[np.int64]
    time: NDArray[np.int64]
    writes: NDArray[np.int64]
    left: NDArray[np.int64]
    right: NDArray[np.int64]


class OpenEpisode(NamedTuple):
    """Per key the episode under way: numbers by the places of `EPISODE`, and what registers held when last detected."""

    numbers: NDArray[np.int64]
    register_index: NDArray[np.int64]
    register_time: NDArray[np.int64]


STATUS, START_INDEX, START_TIME, FIRST_START_TIME, FIRST_TIME, FIRST_TIE, LAST_INDEX, LAST_TIME = range(8)
EPISODE = 8
UNSTARTED = -1


class PatternMemory(NamedTuple):
    """All that one pattern remembers."""

    held: Held
    groups: Groups
    configurations: Configurations
    links: Links
    episode: OpenEpisode
    omitted: NDArray[np.int64]
    """Per key the configurations given up since the last row that told of them."""


class RegisterState(NamedTuple):
    """What the recogniser of patterns with registers remembers of a number of keys."""

    seen: NDArray[np.int64]
    last_time: NDArray[np.int64]
    tie: NDArray[np.int64]
    patterns: tuple[PatternMemory, ...]


class Widths(NamedTuple):
    """How wide the rows of a pattern are."""

    registers: int
    numbers: int
    longs: int


def fresh_memory(widths: Widths, keys: int) -> PatternMemory:
    """The memory of keys of which nothing has been read."""

    def at() -> NDArray[np.int64]:
        return np.zeros(keys + 1, dtype=np.int64)

    def none(*shape: int) -> NDArray[np.int64]:
        return np.empty((0, *shape), dtype=np.int64)

    held = Held(at(), none(), none(), np.empty((0, widths.numbers), dtype=np.float64), none(widths.longs))
    groups = Groups(at(), none(), none(), np.empty(0, dtype=np.int32), none(), none())
    configurations = Configurations(at(), np.empty(0, dtype=np.int32), none(widths.registers))
    episode = OpenEpisode(
        *(np.zeros((keys, width), dtype=np.int64) for width in (EPISODE, widths.registers, widths.registers))
    )
    return PatternMemory(
        held, groups, configurations, Links(at(), *(none() for _ in range(5))), episode, np.zeros(keys, np.int64)
    )


def fresh_register_state(widths: Sequence[Widths], keys: int) -> RegisterState:
    """The state of keys of which nothing has been read."""
    seen, last, tie = (np.zeros(keys, dtype=np.int64) for _ in range(3))
    return RegisterState(seen, last, tie, tuple(fresh_memory(some, keys) for some in widths))


def rearranged_rows(state: Any, rows: NDArray[np.int64]) -> Any:
    """The same tuples of arrays with row i from row `rows[i]`, or zeros and nothing where that is negative."""
    if isinstance(state, np.ndarray):
        taken = np.zeros((len(rows), *state.shape[1:]), dtype=state.dtype)
        taken[rows >= 0] = state[rows[rows >= 0]]
        return taken
    if "at" not in getattr(state, "_fields", ()):
        values = [rearranged_rows(some, rows) for some in state]
        return type(state)(*values) if hasattr(state, "_fields") else tuple(values)
    first = np.where(rows >= 0, state.at[rows], 0)
    sizes = np.where(rows >= 0, state.at[rows + 1] - state.at[rows], 0)
    places, at = ranges(first, sizes)
    return type(state)(at, *(values[places] for values in state[1:]))
