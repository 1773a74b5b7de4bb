"""What a rule set remembers of the events so far, and room for what an event brings: arrays that grow and are pruned.

Events that a predicate may ask for lie in the log. By column (a predicate) and key (its equalities) a slot has the
places of its events in a stretch of the pool, in order, with running sums. All of it is bounded by the windows.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from foresail.patterns.tesla.tables import MOST_KEYS

# the counters of a state
NOW, LOG, LOG_BASE, POOL, SLOTS, DEAD, OUT, COMPOSITES, NEXT, PHASE, CURSOR, HITS, STORED, QUEUE, STAMP = range(15)
COUNTERS = 15
# a slot
L_COLUMN, L_START, L_COUNT, L_ROOM = range(4)
# the log
G_TIME, G_SOURCE = range(2)
# the pool
O_PLACE, O_TIME = range(2)
SUM_HIGH, SUM_LOW, SUM_COUNT = range(3)
BEGINNING = -(2**62)
"""Before the first event."""


class State(NamedTuple):
    """The memory of a rule set."""

    counters: NDArray[np.int64]
    log: NDArray[np.int64]
    """Time and source of each event: its place in the input, or ~ the number of the composite."""
    log_values: NDArray[np.float64]
    table: NDArray[np.int64]
    """A hash table of slots: 1 + the slot, 0 where there is none."""
    slots: NDArray[np.int64]
    slot_keys: NDArray[np.float64]
    slot_sums: NDArray[np.float64]
    """The running sums before the first event of the slot."""
    pool: NDArray[np.int64]
    pool_sums: NDArray[np.float64]
    dead: NDArray[np.int64]
    """A hash set of consumed events: 1 + place * rules that consume + rule."""
    limited: NDArray[np.int64]
    """Per rule how often rows were left out."""


class Scratch(NamedTuple):
    """Room for one event: nothing of it outlives the event."""

    bound: NDArray[np.int64]
    temporary: NDArray[np.float64]
    stack: NDArray[np.float64]
    walk: NDArray[np.int64]
    """Per step of a rule: next candidate, end, list or stretch, top of the list."""
    chosen: NDArray[np.int64]
    rules: NDArray[np.int64]
    columns: NDArray[np.int64]
    key: NDArray[np.float64]
    memo: NDArray[np.int64]
    """Per memo of a slot: stamp and slot."""
    computed: NDArray[np.float64]
    """Per memo of an aggregate: stamp and value."""


class Rows(NamedTuple):
    """Composite events that have been found."""

    rule: NDArray[np.int64]
    values: NDArray[np.float64]
    places: NDArray[np.int64]
    """Per slot the place of the event in the log."""
    sources: NDArray[np.int64]
    times: NDArray[np.int64]


def fresh_state(attributes: int, rules: int) -> State:
    """The memory before the first event."""
    counters = np.zeros(COUNTERS, dtype=np.int64)
    counters[NOW] = BEGINNING
    return State(
        counters,
        np.zeros((64, 2), dtype=np.int64),
        np.zeros((64, max(attributes, 1))),
        np.zeros(64, dtype=np.int64),
        np.zeros((32, 4), dtype=np.int64),
        np.zeros((32, MOST_KEYS)),
        np.zeros((32, 3)),
        np.zeros((256, 2), dtype=np.int64),
        np.zeros((256, 3)),
        np.zeros(64, dtype=np.int64),
        np.zeros(rules, dtype=np.int64),
    )


def fresh_rows(room: int, values: int, slots: int) -> Rows:
    """Room for so many composites."""
    return Rows(
        np.zeros(room, dtype=np.int64),
        np.zeros((room, max(values, 1))),
        np.zeros((room, slots), dtype=np.int64),
        np.zeros((room, slots), dtype=np.int64),
        np.zeros((room, slots), dtype=np.int64),
    )
