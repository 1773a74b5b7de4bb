"""The joint automaton of all patterns, discovered while it runs.

Most of the time no pattern is under way, and neighbouring events look alike. So the states of all patterns together
are one joint state, and (joint state, symbol of the event) leads to the next by one look-up, whatever the number of
patterns. Only combinations that occur are ever made; when the memo is full it is emptied and discovery starts over.
"""

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from patterns.recognition.tables import NEVER, Plan, Tables

UNKNOWN = -1
IMPOSSIBLE = -2
FULL = -3

MOST_SYMBOLS = 1024
MOST_STATES = 2048
_HASH_SLOTS = 8192
SYMBOLS, STATES = 0, 1


class Joint(NamedTuple):
    """The memo: symbols seen, joint states seen, and the steps between them."""

    sizes: NDArray[np.int64]
    """How many symbols and how many states are known."""
    symbol_key: NDArray[np.int64]
    """Per symbol the words of conditions and the gap level."""
    symbol_slot: NDArray[np.int32]
    symbol_class: NDArray[np.int32]
    """Per symbol the class that each pattern sees."""
    state: NDArray[np.int32]
    """Per joint state the state of each pattern."""
    state_slot: NDArray[np.int32]
    active: NDArray[np.int32]
    """Per joint state the patterns that are not idle, first in the row."""
    active_count: NDArray[np.int32]
    step: NDArray[np.int32]


def fresh_joint(plan: Plan) -> Joint:
    """An empty memo for `plan`, which knows the state in which no pattern is under way."""
    patterns = len(plan.patterns)
    joint = Joint(
        sizes=np.zeros(2, dtype=np.int64),
        symbol_key=np.zeros((MOST_SYMBOLS, plan.words + 1), dtype=np.int64),
        symbol_slot=np.full(_HASH_SLOTS, UNKNOWN, dtype=np.int32),
        symbol_class=np.zeros((MOST_SYMBOLS, patterns), dtype=np.int32),
        state=np.zeros((MOST_STATES, patterns), dtype=np.int32),
        state_slot=np.full(_HASH_SLOTS, UNKNOWN, dtype=np.int32),
        active=np.zeros((MOST_STATES, patterns), dtype=np.int32),
        active_count=np.zeros(MOST_STATES, dtype=np.int32),
        step=np.full((MOST_STATES, MOST_SYMBOLS), UNKNOWN, dtype=np.int32),
    )
    empty(joint)
    return joint


@njit(cache=True)
def mixed(value: int, key: int) -> int:
    """A hash of `value` and `key` (the finaliser of splitmix64)."""
    z = np.uint64(value) * np.uint64(0x9E3779B97F4A7C15) + np.uint64(key)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


@njit(cache=True)
def empty(joint: Joint) -> None:
    """Forget all but the idle state, which is number 0."""
    joint.step[: joint.sizes[STATES] + 1] = UNKNOWN
    joint.sizes[:] = 0
    joint.symbol_slot[:] = UNKNOWN
    joint.state_slot[:] = UNKNOWN
    state_number(joint, np.zeros(joint.state.shape[1], dtype=np.int32))


@njit(cache=True)
def state_number(joint: Joint, states: NDArray[np.int32]) -> int:
    """The joint state in which each pattern stands where `states` says; made when new, FULL when it cannot be."""
    key = np.uint64(0)
    for state in states:
        key = mixed(key, state)
    slot = np.int64(key % np.uint64(len(joint.state_slot)))
    while joint.state_slot[slot] != UNKNOWN:
        number = joint.state_slot[slot]
        if np.array_equal(joint.state[number], states):
            return number
        slot = (slot + 1) % len(joint.state_slot)
    number = joint.sizes[STATES]
    if number == len(joint.state):
        return FULL
    joint.sizes[STATES] = number + 1
    joint.state_slot[slot] = number
    joint.state[number] = states
    count = 0
    for p in range(len(states)):
        if states[p] != 0:
            joint.active[number, count] = p
            count += 1
    joint.active_count[number] = count
    return number


@njit(cache=True)
def symbol_number(joint: Joint, tables: Tables, words: NDArray[np.int64], gap_level: int) -> int:
    """The symbol of an event with these condition bits after such a gap; made when new, FULL or IMPOSSIBLE."""
    key = np.uint64(gap_level)
    for word in words:
        key = mixed(key, word)
    slot = np.int64(key % np.uint64(len(joint.symbol_slot)))
    while joint.symbol_slot[slot] != UNKNOWN:
        number = joint.symbol_slot[slot]
        same = joint.symbol_key[number, len(words)] == gap_level
        for w in range(len(words)):
            same = same and joint.symbol_key[number, w] == words[w]
        if same:
            return number
        slot = (slot + 1) % len(joint.symbol_slot)
    number = joint.sizes[SYMBOLS]
    if number == len(joint.symbol_key):
        return FULL
    for p in range(len(tables.classes)):
        found = class_of_event(tables, p, words)
        if found < 0:
            return IMPOSSIBLE
        joint.symbol_class[number, p] = found
    joint.sizes[SYMBOLS] = number + 1
    joint.symbol_slot[slot] = number
    joint.symbol_key[number, : len(words)] = words
    joint.symbol_key[number, len(words)] = gap_level
    return number


@njit(cache=True)
def class_of_event(tables: Tables, pattern: int, words: NDArray[np.int64]) -> int:
    """The class in which `pattern` puts an event with these bits, or IMPOSSIBLE where no minterm allows them."""
    code = np.uint64(0)
    first = tables.bits_at[pattern]
    for i in range(tables.bits_at[pattern + 1] - first):
        bit = tables.bits[first + i]
        code |= ((np.uint64(words[bit >> 6]) >> np.uint64(bit & 63)) & np.uint64(1)) << np.uint64(i)
    low, high = tables.codes_at[pattern], tables.codes_at[pattern + 1]
    place = low + np.searchsorted(tables.codes[low:high], code)
    if place == high or tables.codes[place] != code:
        return IMPOSSIBLE
    return tables.class_of[place]


@njit(cache=True)
def next_number(joint: Joint, tables: Tables, state: int, symbol: int) -> int:
    """The joint state after `state` reads `symbol`, remembered for the next time; FULL when there is no room."""
    states = np.empty(joint.state.shape[1], dtype=np.int32)
    level = joint.symbol_key[symbol, joint.symbol_key.shape[1] - 1]
    for p in range(len(states)):
        before = joint.state[state, p]
        if level > 0 and tables.max_gap_us[p] != NEVER and tables.max_gap_us[p] <= tables.gap_levels[level - 1]:
            before = 0
        columns = tables.classes[p]
        states[p] = tables.delta[tables.delta_at[p] + before * columns + joint.symbol_class[symbol, p]]
    number = state_number(joint, states)
    if number >= 0:
        joint.step[state, symbol] = number
    return number
