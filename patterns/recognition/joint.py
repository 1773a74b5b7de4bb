"""The joint automaton of all patterns, discovered while it runs.

Most of the time no pattern is under way, and neighbouring events look alike. So the states of all patterns together
are one joint state, and (joint state, symbol of the event) leads to the next by one look-up, whatever the number of
patterns. Only combinations that occur are ever made; when the memo is full it is emptied and discovery starts over.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from foresail.patterns.recognition.arrays import compiled, copy_row, fill, fill_row, inlined, same_row
from foresail.patterns.recognition.tables import NEVER, Plan, Tables

UNKNOWN = -1
IMPOSSIBLE = -2
FULL = -3

MOST_SYMBOLS = 1024
MOST_STATES = 2048
_HASH_SLOTS = 8192
"""A power of two, so that a hash becomes a slot by its last bits."""
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
    candidate: NDArray[np.int32]
    """One row, for a joint state that is being looked up."""


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
        candidate=np.zeros((1, patterns), dtype=np.int32),
    )
    empty(joint)
    return joint


@compiled
def mixed(value: int, key: int) -> int:
    """A hash of `value` and `key` (the finaliser of splitmix64)."""
    z = np.uint64(value) * np.uint64(0x9E3779B97F4A7C15) + np.uint64(key)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


@compiled
def empty(joint: Joint) -> None:
    """Forget all but the idle state, which is number 0."""
    for state in range(joint.sizes[STATES]):
        fill_row(joint.step, state, 0, joint.step.shape[1], UNKNOWN)
    joint.sizes[SYMBOLS], joint.sizes[STATES] = 0, 0
    fill(joint.symbol_slot, 0, len(joint.symbol_slot), UNKNOWN)
    fill(joint.state_slot, 0, len(joint.state_slot), UNKNOWN)
    fill_row(joint.candidate, 0, 0, joint.candidate.shape[1], 0)
    state_number(joint, joint.candidate, 0)


@compiled
def state_number(joint: Joint, states: NDArray[np.int32], row: int) -> int:
    """The joint state in which each pattern stands where that row says; made when new, FULL when it cannot be."""
    key = np.uint64(0)
    for p in range(states.shape[1]):
        key = mixed(key, states[row, p])
    last_slot = len(joint.state_slot) - 1
    slot = np.int64(key) & last_slot
    while joint.state_slot[slot] != UNKNOWN:
        number = joint.state_slot[slot]
        if same_row(joint.state, number, states, row):
            return number
        slot = (slot + 1) & last_slot
    number = joint.sizes[STATES]
    if number == len(joint.state):
        return FULL
    joint.sizes[STATES] = number + 1
    joint.state_slot[slot] = number
    copy_row(states, row, joint.state, number)
    count = 0
    for p in range(states.shape[1]):
        if states[row, p] != 0:
            joint.active[number, count] = p
            count += 1
    joint.active_count[number] = count
    return number


@compiled
def symbol_number(joint: Joint, tables: Tables, words: NDArray[np.int64], event: int, gap_level: int) -> int:
    """The symbol of an event with these condition bits after such a gap; made when new, FULL or IMPOSSIBLE."""
    count = words.shape[1]
    key = np.uint64(gap_level)
    for w in range(count):
        key = mixed(key, words[event, w])
    last_slot = len(joint.symbol_slot) - 1
    slot = np.int64(key) & last_slot
    while joint.symbol_slot[slot] != UNKNOWN:
        number = joint.symbol_slot[slot]
        same = joint.symbol_key[number, count] == gap_level
        for w in range(count):
            same = same and joint.symbol_key[number, w] == words[event, w]
        if same:
            return number
        slot = (slot + 1) & last_slot
    number = joint.sizes[SYMBOLS]
    if number == len(joint.symbol_key):
        return FULL
    for p in range(len(tables.classes)):
        found = class_of_event(tables, p, words, event)
        if found < 0:
            return IMPOSSIBLE
        joint.symbol_class[number, p] = found
    joint.sizes[SYMBOLS] = number + 1
    joint.symbol_slot[slot] = number
    copy_row(words, event, joint.symbol_key, number)
    joint.symbol_key[number, count] = gap_level
    return number


@inlined
def class_of_event(tables: Tables, pattern: int, words: NDArray[np.int64], event: int) -> int:
    """The class in which `pattern` puts an event with these bits, or IMPOSSIBLE where no minterm allows them."""
    code = np.uint64(0)
    first = tables.bits_at[pattern]
    for i in range(tables.bits_at[pattern + 1] - first):
        bit = tables.bits[first + i]
        code |= ((np.uint64(words[event, bit >> 6]) >> np.uint64(bit & 63)) & np.uint64(1)) << np.uint64(i)
    low, high = tables.codes_at[pattern], tables.codes_at[pattern + 1]
    end = high
    while low < high:
        middle = (low + high) // 2
        if tables.codes[middle] < code:
            low = middle + 1
        else:
            high = middle
    if low == end or tables.codes[low] != code:
        return IMPOSSIBLE
    return tables.class_of[low]


@compiled
def next_number(joint: Joint, tables: Tables, state: int, symbol: int) -> int:
    """The joint state after `state` reads `symbol`, remembered for the next time; FULL when there is no room."""
    states = joint.candidate
    level = joint.symbol_key[symbol, joint.symbol_key.shape[1] - 1]
    for p in range(states.shape[1]):
        before = joint.state[state, p]
        if level > 0 and tables.max_gap_us[p] != NEVER and tables.max_gap_us[p] <= tables.gap_levels[level - 1]:
            before = 0
        columns = tables.classes[p]
        states[0, p] = tables.delta[tables.delta_at[p] + before * columns + joint.symbol_class[symbol, p]]
    number = state_number(joint, states, 0)
    if number >= 0:
        joint.step[state, symbol] = number
    return number
