"""Terms, comparisons and look-ups as the kernel does them."""

import numpy as np
from numpy.typing import NDArray

from foresail.patterns.conditions.functions import EARTH_RADIUS_M
from foresail.patterns.recognition.arrays import compiled
from foresail.patterns.tesla.state import (
    G_TIME,
    L_COLUMN,
    L_COUNT,
    L_ROOM,
    L_START,
    LOG_BASE,
    O_PLACE,
    O_TIME,
    STAMP,
    Scratch,
    State,
)
from foresail.patterns.tesla.tables import (
    ABOVE,
    ABSOLUTE,
    ADD,
    AT_MOST,
    ATTRIBUTE,
    BELOW,
    C_CONSUMING,
    C_KEYS,
    CONSTANT,
    DISTANCE,
    DIVIDE,
    EQUAL,
    LARGER,
    MULTIPLY,
    P_ANCHOR,
    P_COLUMN,
    P_KEY,
    P_MEMO,
    P_OTHER,
    P_SPAN,
    ROUNDED,
    ROUNDED_TO,
    SMALLER,
    SUBTRACT,
    T_ATTRIBUTE,
    T_COMPARISON,
    T_TERM,
    TEMPORARY,
    TIME,
    UNEQUAL,
    Tables,
)
from foresail.patterns.tesla.values import BEYOND, FIRST_TEXT, TEXT_UNIT

MICRO = 1e6
MIXING = np.uint64(0x9E3779B97F4A7C15)
HALF = np.uint64(32)


@compiled
def compares(left: float, comparison: int, right: float, ranks: NDArray[np.int64]) -> bool:
    """Whether a comparison holds; none does with null, and no order between values of two types."""
    if np.isnan(left) or np.isnan(right):
        return False
    if comparison == EQUAL:
        return left == right
    if comparison == UNEQUAL:
        return left != right
    if left >= BEYOND:
        if right < BEYOND:
            return False
        left = float(ranks[int(left / TEXT_UNIT) - FIRST_TEXT])
        right = float(ranks[int(right / TEXT_UNIT) - FIRST_TEXT])
    elif right >= BEYOND or left <= -BEYOND or right <= -BEYOND:
        return False
    if comparison == BELOW:
        return left < right
    if comparison == AT_MOST:
        return left <= right
    if comparison == ABOVE:
        return left > right
    return left >= right


@compiled
def is_number(value: float) -> bool:
    """Whether a value is a number: neither null nor a text nor a truth value."""
    return abs(value) < BEYOND


@compiled
def metres(lat: float, lon: float, other_lat: float, other_lon: float) -> float:
    """The distance between two places on the sphere."""
    turn = np.pi / 180.0
    north = np.sin((other_lat - lat) * turn / 2.0) ** 2
    east = np.sin((other_lon - lon) * turn / 2.0) ** 2
    share = north + np.cos(lat * turn) * np.cos(other_lat * turn) * east
    return 2.0 * EARTH_RADIUS_M * np.arcsin(np.sqrt(min(share, 1.0)))


@compiled
def operate(operation: int, left: float, right: float) -> float:
    """Arithmetic of two values; null where one is no number, and where a division is by zero."""
    if not is_number(left) or not is_number(right):
        return np.nan
    result = np.nan
    if operation == ADD:
        result = left + right
    elif operation == SUBTRACT:
        result = left - right
    elif operation == MULTIPLY:
        result = left * right
    elif operation == DIVIDE:
        if right != 0.0:
            result = left / right
    elif operation == SMALLER:
        result = min(left, right)
    elif operation == LARGER:
        result = max(left, right)
    elif operation == ROUNDED_TO:
        scale = 10.0 ** np.rint(right)
        result = np.rint(left * scale) / scale
    return result if is_number(result) else np.nan


@compiled
def term_value(tables: Tables, state: State, scratch: Scratch, term: int, candidate: int) -> float:
    """The value of a term; `candidate` is the event that a predicate looks at."""
    stack = scratch.stack
    top = -1
    for at in range(tables.code_at[term], tables.code_at[term + 1]):
        operation, one = tables.code[at, 0], tables.code[at, 1]
        if operation == ATTRIBUTE:
            top += 1
            event = candidate if one < 0 else scratch.bound[one]
            stack[top] = state.log_values[event, tables.code[at, 2]]
        elif operation == CONSTANT:
            top += 1
            stack[top] = tables.constants[one]
        elif operation == TEMPORARY:
            top += 1
            stack[top] = scratch.temporary[one]
        elif operation == TIME:
            top += 1
            event = candidate if one < 0 else scratch.bound[one]
            stack[top] = state.log[event, G_TIME] / MICRO
        elif operation == ABSOLUTE:
            stack[top] = abs(stack[top]) if is_number(stack[top]) else np.nan
        elif operation == ROUNDED:
            stack[top] = np.rint(stack[top]) if is_number(stack[top]) else np.nan
        elif operation == DISTANCE:
            top -= 3
            known = is_number(stack[top]) and is_number(stack[top + 1])
            known = known and is_number(stack[top + 2]) and is_number(stack[top + 3])
            far = metres(stack[top], stack[top + 1], stack[top + 2], stack[top + 3]) if known else np.nan
            stack[top] = far
        else:
            top -= 1
            stack[top] = operate(operation, stack[top], stack[top + 1])
    return stack[0]


@compiled
def attribute_value(state: State, event: int, attribute: int) -> float:
    """An attribute of an event; below zero it is the time."""
    return state.log_values[event, attribute] if attribute >= 0 else state.log[event, G_TIME] / MICRO


@compiled
def passes(tables: Tables, state: State, scratch: Scratch, begin: int, end: int, event: int) -> bool:
    """Whether an event passes some tests."""
    for at in range(begin, end):
        left = attribute_value(state, event, tables.tests[at, T_ATTRIBUTE])
        term = tables.tests[at, T_TERM]
        right = tables.test_constants[at] if term < 0 else term_value(tables, state, scratch, term, event)
        if not compares(left, tables.tests[at, T_COMPARISON], right, tables.ranks):
            return False
    return True


@compiled
def hashed(column: int, key: NDArray[np.float64], keys: int) -> np.uint64:
    """A number that spreads keys over a table."""
    found = np.uint64(column + 1) * MIXING
    for i in range(keys):
        found = (found ^ np.uint64(np.float64(key[i] + 0.0).view(np.int64))) * MIXING
        found ^= found >> HALF
    return found


@compiled
def find_slot(state: State, column: int, key: NDArray[np.float64], keys: int) -> int:
    """The slot of a column and key; below zero where there is none."""
    mask = np.uint64(len(state.table) - 1)
    at = hashed(column, key, keys) & mask
    while state.table[at]:
        slot = state.table[at] - 1
        same = state.slots[slot, L_COLUMN] == column
        for i in range(keys):
            same = same and state.slot_keys[slot, i] == key[i]
        if same:
            return int(slot)
        at = (at + np.uint64(1)) & mask
    return -1


@compiled
def probe_slot(tables: Tables, state: State, scratch: Scratch, probe: int) -> int:
    """The slot that a probe asks; below zero where no event could match."""
    memo = tables.probes[probe, P_MEMO]
    stamp = state.counters[STAMP]
    if memo >= 0 and scratch.memo[memo, 0] == stamp:
        return int(scratch.memo[memo, 1])
    column = tables.probes[probe, P_COLUMN]
    keys = tables.columns[column, C_KEYS]
    slot = 0
    for i in range(keys):
        value = term_value(tables, state, scratch, tables.probes[probe, P_KEY + i], 0)
        if np.isnan(value):
            slot = -1
            break
        scratch.key[i] = value
    if slot == 0:
        slot = find_slot(state, column, scratch.key, keys)
    if memo >= 0:
        scratch.memo[memo, 0] = stamp
        scratch.memo[memo, 1] = slot
    return slot


@compiled
def is_dead(state: State, mark: int) -> bool:
    """Whether an event has been consumed by a rule."""
    mask = np.uint64(len(state.dead) - 1)
    at = (np.uint64(mark) * MIXING >> HALF) & mask
    while state.dead[at]:
        if state.dead[at] == mark:
            return True
        at = (at + np.uint64(1)) & mask
    return False


@compiled
def drop_consumed(tables: Tables, state: State, column: int, slot: int) -> None:
    """Forget the consumed events at both ends of a slot that only the consuming rule reads."""
    rule = tables.columns[column, C_CONSUMING]
    slots, pool = state.slots, state.pool
    while slots[slot, L_COUNT]:
        last = slots[slot, L_START] + slots[slot, L_COUNT] - 1
        if not is_dead(state, 1 + pool[last, O_PLACE] * tables.consuming + rule):
            break
        slots[slot, L_COUNT] -= 1
    while slots[slot, L_COUNT]:
        if not is_dead(state, 1 + pool[slots[slot, L_START], O_PLACE] * tables.consuming + rule):
            break
        slots[slot, L_START] += 1
        slots[slot, L_COUNT] -= 1
        slots[slot, L_ROOM] -= 1


@compiled
def upper_end(tables: Tables, state: State, scratch: Scratch, probe: int, slot: int) -> int:
    """Where the events of a slot end that are before the (later) event of a scope."""
    later, other = scratch.bound[tables.probes[probe, P_ANCHOR]], tables.probes[probe, P_OTHER]
    if other >= 0:
        later = max(later, scratch.bound[other])
    if tables.arrival:
        by, limit = O_PLACE, state.counters[LOG_BASE] + later
    else:
        by, limit = O_TIME, state.log[later, G_TIME]
    start = state.slots[slot, L_START]
    end = start + state.slots[slot, L_COUNT]
    return int(first_from(state, start, end, by, limit))


@compiled
def first_from(state: State, start: int, end: int, by: int, limit: int) -> int:
    """The first place of a stretch of the pool that is not below `limit`; it is likely to be near the end."""
    pool = state.pool
    if start == end or pool[end - 1, by] < limit:
        return end
    width = 1
    low = end - 1
    while low > start and pool[low, by] >= limit:
        end = low
        low = max(low - width, start)
        width *= 2
    if pool[low, by] >= limit:
        return low
    while end - low > 1:
        middle = (low + end) >> 1
        if pool[middle, by] >= limit:
            end = middle
        else:
            low = middle
    return end


@compiled
def lower_limit(tables: Tables, state: State, scratch: Scratch, probe: int) -> tuple[int, int]:
    """By what events are too early for a scope, and the least that is not."""
    anchor, other = scratch.bound[tables.probes[probe, P_ANCHOR]], tables.probes[probe, P_OTHER]
    if other < 0:
        return O_TIME, state.log[anchor, G_TIME] - tables.probes[probe, P_SPAN]
    earlier = min(anchor, scratch.bound[other])
    if tables.arrival:
        return O_PLACE, state.counters[LOG_BASE] + earlier + 1
    return O_TIME, state.log[earlier, G_TIME] + 1
