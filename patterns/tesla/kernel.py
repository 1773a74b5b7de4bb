"""The kernel of TESLA: events one after the other, each first as a terminator, then stored; composites in between.

It allocates nothing: where room is short it says so, and goes on at the same place when it is called again.
"""

import numpy as np
from numpy.typing import NDArray

from foresail.patterns.recognition.arrays import compiled
from foresail.patterns.tesla.kernel_rules import (
    DONE,
    MORE_LOG,
    MORE_POOL,
    MORE_SLOTS,
    TAKE_ROWS,
    added,
    run_rule,
)
from foresail.patterns.tesla.kernel_terms import HALF, MIXING, find_slot, hashed, is_number, passes
from foresail.patterns.tesla.state import (
    COMPOSITES,
    CURSOR,
    DEAD,
    G_SOURCE,
    G_TIME,
    HITS,
    L_COLUMN,
    L_COUNT,
    L_ROOM,
    L_START,
    LOG,
    LOG_BASE,
    NEXT,
    NOW,
    O_PLACE,
    O_TIME,
    OUT,
    PHASE,
    POOL,
    QUEUE,
    SLOTS,
    STAMP,
    STORED,
    SUM_COUNT,
    SUM_HIGH,
    SUM_LOW,
    Rows,
    Scratch,
    State,
)
from foresail.patterns.tesla.tables import (
    ABOVE,
    AT_LEAST,
    BELOW,
    C_COUNTS_ALL,
    C_HORIZON,
    C_KEY,
    C_KEYS,
    C_SUM,
    E_KIND,
    E_TESTS,
    E_TESTS_END,
    E_WHAT,
    FIRES,
    H_ATTRIBUTE,
    H_BEGIN,
    H_COMPARISON,
    H_END,
    R_TYPE,
    R_VALUES,
    R_VALUES_END,
    Y_EQUAL,
    Y_EQUAL_END,
    Y_PLAIN,
    Y_PLAIN_END,
    Y_THRESHOLDS,
    Y_THRESHOLDS_END,
    Tables,
)

IDLE, FIRING, STORING = range(3)
ROOM_OF_SLOT = 4


@compiled
def meet_entry(tables: Tables, state: State, scratch: Scratch, entry: int, event: int) -> None:
    """Note a rule that the event may fire, or a column that it belongs to."""
    entries, counters = tables.entries, state.counters
    if not passes(tables, state, scratch, entries[entry, E_TESTS], entries[entry, E_TESTS_END], event):
        return
    what = entries[entry, E_WHAT]
    if entries[entry, E_KIND] != FIRES:
        scratch.columns[counters[STORED]] = what
        counters[STORED] += 1
        return
    at = counters[HITS]
    while at > 0 and scratch.rules[at - 1] > what:
        scratch.rules[at] = scratch.rules[at - 1]
        at -= 1
    scratch.rules[at] = what
    counters[HITS] += 1


@compiled
def meet_equal(tables: Tables, state: State, scratch: Scratch, group: int, event: int) -> None:
    """The entries that ask for just the value that the event has."""
    value = state.log_values[event, tables.equal_attributes[group]]
    if np.isnan(value):
        return
    scratch.key[0] = value
    mask = np.uint64(len(tables.equal_table) - 1)
    at = hashed(group, scratch.key, 1) & mask
    while tables.equal_table[at] >= 0:
        place = tables.equal_table[at]
        if tables.equal_groups[place, 0] == group and tables.equal_values[place] == value:
            for i in range(tables.equal_groups[place, 1], tables.equal_groups[place, 2]):
                meet_entry(tables, state, scratch, tables.equal_entries[i], event)
            return
        at = (at + np.uint64(1)) & mask


@compiled
def meet_thresholds(tables: Tables, state: State, scratch: Scratch, group: int, event: int) -> None:
    """The entries whose threshold the event passes: those up to one place in their order, or from it on."""
    value = state.log_values[event, tables.thresholds[group, H_ATTRIBUTE]]
    if not is_number(value):
        return
    comparison = tables.thresholds[group, H_COMPARISON]
    first, last = tables.thresholds[group, H_BEGIN], tables.thresholds[group, H_END]
    # thresholds below the value, and those equal to it as well for `>=` and `<`
    low, high = first, last
    while low < high:
        middle = (low + high) >> 1
        held = tables.threshold_values[middle]
        if held < value or (held == value and comparison in (AT_LEAST, BELOW)):
            low = middle + 1
        else:
            high = middle
    if comparison in (ABOVE, AT_LEAST):
        last = low
    else:
        first = low
    for i in range(first, last):
        meet_entry(tables, state, scratch, tables.threshold_entries[i], event)


@compiled
def meet(tables: Tables, state: State, scratch: Scratch, kind: int, event: int) -> None:
    """The rules and columns that an event of a type concerns: the static index."""
    state.counters[HITS] = state.counters[STORED] = 0
    for i in range(tables.types[kind, Y_PLAIN], tables.types[kind, Y_PLAIN_END]):
        meet_entry(tables, state, scratch, tables.plain[i], event)
    for group in range(tables.types[kind, Y_EQUAL], tables.types[kind, Y_EQUAL_END]):
        meet_equal(tables, state, scratch, group, event)
    for group in range(tables.types[kind, Y_THRESHOLDS], tables.types[kind, Y_THRESHOLDS_END]):
        meet_thresholds(tables, state, scratch, group, event)


@compiled
def new_slot(state: State, column: int, key: NDArray[np.float64], keys: int) -> int:
    """A slot for a key that is seen for the first time; there is room for it."""
    slot = state.counters[SLOTS]
    state.counters[SLOTS] += 1
    state.slots[slot, L_COLUMN] = column
    state.slots[slot, L_COUNT] = 0
    state.slots[slot, L_ROOM] = ROOM_OF_SLOT
    state.slots[slot, L_START] = state.counters[POOL]
    state.counters[POOL] += ROOM_OF_SLOT
    for i in range(state.slot_keys.shape[1]):
        state.slot_keys[slot, i] = key[i] if i < keys else 0.0
    for i in range(3):
        state.slot_sums[slot, i] = 0.0
    enter(state, slot, hashed(column, key, keys))
    return int(slot)


@compiled
def enter(state: State, slot: int, found: np.uint64) -> None:
    """Enter a slot into the hash table."""
    mask = np.uint64(len(state.table) - 1)
    at = found & mask
    while state.table[at]:
        at = (at + np.uint64(1)) & mask
    state.table[at] = slot + 1


@compiled
def forget_old(tables: Tables, state: State, slot: int) -> None:
    """Drop the events of a slot that no window reaches any more."""
    slots = state.slots
    oldest = state.counters[NOW] - tables.columns[slots[slot, L_COLUMN], C_HORIZON]
    while slots[slot, L_COUNT] and state.pool[slots[slot, L_START], O_TIME] < oldest:
        for i in range(3):
            state.slot_sums[slot, i] = state.pool_sums[slots[slot, L_START], i]
        slots[slot, L_START] += 1
        slots[slot, L_COUNT] -= 1
        slots[slot, L_ROOM] -= 1


@compiled
def make_room(tables: Tables, state: State, slot: int) -> bool:
    """Room for one more event of a slot: at its end, or elsewhere in the pool; False where the pool is full."""
    slots = state.slots
    if slots[slot, L_COUNT] < slots[slot, L_ROOM]:
        return True
    forget_old(tables, state, slot)
    count = slots[slot, L_COUNT]
    room = max(2 * count, ROOM_OF_SLOT)
    target = state.counters[POOL]
    if target + room > len(state.pool):
        return False
    start = slots[slot, L_START]
    for i in range(count):
        for k in range(2):
            state.pool[target + i, k] = state.pool[start + i, k]
        for k in range(3):
            state.pool_sums[target + i, k] = state.pool_sums[start + i, k]
    slots[slot, L_START] = target
    slots[slot, L_ROOM] = room
    state.counters[POOL] += room
    return True


@compiled
def store(tables: Tables, state: State, scratch: Scratch, column: int, event: int) -> int:
    """Put an event into a column, under its key; an event with a null in its key equals no other."""
    columns, counters = tables.columns, state.counters
    keys = columns[column, C_KEYS]
    for i in range(keys):
        scratch.key[i] = state.log_values[event, columns[column, C_KEY + i]]
        if scratch.key[i] != scratch.key[i]:
            return DONE
    slot = find_slot(state, column, scratch.key, keys)
    if slot < 0:
        if counters[SLOTS] == len(state.slots) or 2 * counters[SLOTS] >= len(state.table):
            return MORE_SLOTS
        if counters[POOL] + ROOM_OF_SLOT > len(state.pool):
            return MORE_POOL
        slot = new_slot(state, column, scratch.key, keys)
    if not make_room(tables, state, slot):
        return MORE_POOL
    at = state.slots[slot, L_START] + state.slots[slot, L_COUNT]
    state.pool[at, O_PLACE] = counters[LOG_BASE] + event
    state.pool[at, O_TIME] = counters[NOW]
    if columns[column, C_SUM] > -2:
        add_up(tables, state, column, slot, at, event)
    state.slots[slot, L_COUNT] += 1
    return DONE


@compiled
def add_up(tables: Tables, state: State, column: int, slot: int, at: int, event: int) -> None:
    """The running sums of a column with this event."""
    sums, attribute = state.pool_sums, tables.columns[column, C_SUM]
    if state.slots[slot, L_COUNT]:
        high, low, count = sums[at - 1, SUM_HIGH], sums[at - 1, SUM_LOW], sums[at - 1, SUM_COUNT]
    else:
        high, low, count = state.slot_sums[slot, 0], state.slot_sums[slot, 1], state.slot_sums[slot, 2]
    value = state.log[event, G_TIME] / 1e6 if attribute < 0 else state.log_values[event, attribute]
    if tables.columns[column, C_COUNTS_ALL]:
        count += not np.isnan(value)
    elif is_number(value):
        high, low = added(high, low, value)
        count += 1.0
    sums[at, SUM_HIGH], sums[at, SUM_LOW], sums[at, SUM_COUNT] = high, low, count


@compiled
def load(
    tables: Tables,
    state: State,
    rows: Rows,
    types: NDArray[np.int64],
    times: NDArray[np.int64],
    sources: NDArray[np.int64],
    at: NDArray[np.int64],
    values: NDArray[np.float64],
) -> int:
    """Take the next event into the log: a composite that waits, else one of the input; its type, below zero at the end.

    A composite whose type no rule reads is passed over.
    """
    counters, event = state.counters, state.counters[LOG]
    while counters[QUEUE] < counters[OUT]:
        row = counters[QUEUE]
        counters[QUEUE] += 1
        rule = rows.rule[row]
        kind = tables.rules[rule, R_TYPE]
        number = counters[COMPOSITES]
        counters[COMPOSITES] += 1
        if kind < 0:
            continue
        state.log[event, G_TIME] = rows.times[row, 0]
        state.log[event, G_SOURCE] = ~number
        for i in range(state.log_values.shape[1]):
            state.log_values[event, i] = np.nan
        begin = tables.rules[rule, R_VALUES]
        for i in range(begin, tables.rules[rule, R_VALUES_END]):
            if tables.value_attributes[i] >= 0:
                state.log_values[event, tables.value_attributes[i]] = rows.values[row, i - begin]
        counters[LOG] += 1
        return int(kind)
    given = counters[NEXT]
    if given == len(types):
        return -1
    counters[NEXT] += 1
    counters[NOW] = times[given]
    state.log[event, G_TIME] = times[given]
    state.log[event, G_SOURCE] = sources[given]
    for i in range(values.shape[1]):
        state.log_values[event, i] = values[at[given], i]
    counters[LOG] += 1
    return int(types[given])


@compiled
def advance(
    tables: Tables,
    state: State,
    scratch: Scratch,
    rows: Rows,
    types: NDArray[np.int64],
    times: NDArray[np.int64],
    sources: NDArray[np.int64],
    at: NDArray[np.int64],
    values: NDArray[np.float64],
    most_rows: int,
) -> int:
    """Read events until all are read, or until the driver must make room or take rows away."""
    counters = state.counters
    while True:
        event = counters[LOG] - 1
        if counters[PHASE] == IDLE:
            if counters[QUEUE] == counters[OUT] and counters[OUT] >= most_rows:
                return TAKE_ROWS
            if counters[LOG] == len(state.log):
                return MORE_LOG
            kind = load(tables, state, rows, types, times, sources, at, values)
            if kind < 0:
                return DONE
            event += 1
            counters[STAMP] += 1
            meet(tables, state, scratch, kind, event)
            counters[CURSOR] = 0
            counters[PHASE] = FIRING
        if counters[PHASE] == FIRING:
            while counters[CURSOR] < counters[HITS]:
                scratch.bound[0] = event
                lacks = run_rule(tables, state, scratch, rows, scratch.rules[counters[CURSOR]])
                if lacks != DONE:
                    return lacks
                counters[CURSOR] += 1
            counters[CURSOR] = 0
            counters[PHASE] = STORING
        while counters[CURSOR] < counters[STORED]:
            lacks = store(tables, state, scratch, scratch.columns[counters[CURSOR]], event)
            if lacks != DONE:
                return lacks
            counters[CURSOR] += 1
        if not counters[STORED] and not tables.keeps:
            counters[LOG] -= 1
        counters[PHASE] = IDLE


@compiled
def compact(tables: Tables, state: State, target: State, dropped: int) -> None:
    """Copy what windows still reach into `target`, which has room: the log without its first `dropped` events."""
    counters = state.counters
    oldest = counters[LOG_BASE] + dropped
    kept = counters[LOG] - dropped
    for i in range(kept):
        for k in range(2):
            target.log[i, k] = state.log[dropped + i, k]
        for k in range(state.log_values.shape[1]):
            target.log_values[i, k] = state.log_values[dropped + i, k]
    pool = 0
    slots = 0
    for slot in range(counters[SLOTS]):
        forget_old(tables, state, slot)
        count = state.slots[slot, L_COUNT]
        if count == 0:
            continue
        start = state.slots[slot, L_START]
        room = max(2 * count, ROOM_OF_SLOT)
        for k in range(state.slot_keys.shape[1]):
            target.slot_keys[slots, k] = state.slot_keys[slot, k]
        for k in range(3):
            target.slot_sums[slots, k] = state.slot_sums[slot, k]
        target.slots[slots, L_COLUMN] = state.slots[slot, L_COLUMN]
        target.slots[slots, L_COUNT] = count
        target.slots[slots, L_ROOM] = room
        target.slots[slots, L_START] = pool
        for i in range(count):
            for k in range(2):
                target.pool[pool + i, k] = state.pool[start + i, k]
            for k in range(3):
                target.pool_sums[pool + i, k] = state.pool_sums[start + i, k]
        column = state.slots[slot, L_COLUMN]
        enter(target, slots, hashed_row(target, column, slots, tables.columns[column, C_KEYS]))
        pool += room
        slots += 1
    mask = np.uint64(len(target.dead) - 1)
    marks = 0
    for i in range(len(state.dead)):
        mark = state.dead[i]
        if mark and (mark - 1) // max(tables.consuming, 1) >= oldest:
            at = (np.uint64(mark) * MIXING >> HALF) & mask
            while target.dead[at]:
                at = (at + np.uint64(1)) & mask
            target.dead[at] = mark
            marks += 1
    for i in range(len(counters)):
        target.counters[i] = counters[i]
    for i in range(len(state.limited)):
        target.limited[i] = state.limited[i]
    target.counters[LOG] = kept
    target.counters[LOG_BASE] += dropped
    target.counters[POOL] = pool
    target.counters[SLOTS] = slots
    target.counters[DEAD] = marks
    target.counters[STAMP] += 1


@compiled
def hashed_row(state: State, column: int, slot: int, keys: int) -> np.uint64:
    """The hash of a slot that lies in the state already."""
    found = np.uint64(column + 1) * MIXING
    for i in range(keys):
        found = (found ^ np.uint64(np.float64(state.slot_keys[slot, i] + 0.0).view(np.int64))) * MIXING
        found ^= found >> HALF
    return found


@compiled
def needed(tables: Tables, state: State) -> tuple[int, int, int]:
    """Slots with events that windows reach, the room that they need, and the first event of the log to be kept."""
    slots = pool = 0
    for slot in range(state.counters[SLOTS]):
        forget_old(tables, state, slot)
        count = state.slots[slot, L_COUNT]
        if count:
            slots += 1
            pool += max(2 * count, ROOM_OF_SLOT)
    longest = 0
    for column in range(len(tables.columns)):
        longest = max(longest, tables.columns[column, C_HORIZON])
    first = 0
    while first < state.counters[LOG] - 1 and state.log[first, G_TIME] < state.counters[NOW] - longest:
        first += 1
    return slots, pool, first
