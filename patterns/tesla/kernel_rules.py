"""One rule on one terminator: a walk over its clauses in the order of the text, with look-ups for candidates."""

import numpy as np

from foresail.patterns.recognition.arrays import compiled
from foresail.patterns.tesla.kernel_terms import (
    HALF,
    MIXING,
    compares,
    drop_consumed,
    first_from,
    is_dead,
    is_number,
    lower_limit,
    passes,
    probe_slot,
    term_value,
    upper_end,
)
from foresail.patterns.tesla.state import (
    DEAD,
    G_SOURCE,
    G_TIME,
    L_START,
    LOG_BASE,
    O_PLACE,
    OUT,
    STAMP,
    SUM_COUNT,
    SUM_HIGH,
    SUM_LOW,
    Rows,
    Scratch,
    State,
)
from foresail.patterns.tesla.tables import (
    ABOVE,
    ABSENT,
    AVERAGE,
    BELOW,
    C_CONSUMING,
    COMPUTE,
    COUNT,
    EACH,
    FIRST,
    LAST,
    MAXIMUM,
    MINIMUM,
    P_COLUMN,
    P_TESTS,
    P_TESTS_END,
    R_ADMISSIBLE,
    R_CONSUMED,
    R_CONSUMED_END,
    R_CONSUMING,
    R_SLOTS,
    R_STEPS,
    R_STEPS_END,
    R_VALUES,
    R_VALUES_END,
    S_ATTRIBUTE,
    S_COMPARISON,
    S_FUNCTION,
    S_KIND,
    S_LEFT,
    S_MEMO,
    S_NUMBER,
    S_PER,
    S_PROBE,
    S_RIGHT,
    S_SLOT,
    SUM,
    Tables,
)

DONE, MORE_ROWS, MORE_CHOSEN, MORE_DEAD, MORE_LOG, MORE_SLOTS, MORE_POOL, TAKE_ROWS = range(8)
"""What the driver has to make room for before the kernel goes on."""
NEXT_ONE, END, LISTED, TOP = range(4)
"""Of the walk: the next candidate, the end, whether they are listed, and where the list began."""


@compiled
def takes(tables: Tables, state: State, scratch: Scratch, rule: int, probe: int, place: int) -> bool:
    """Whether an event of the right slot and time is a candidate."""
    consuming = tables.rules[rule, R_CONSUMING]
    if consuming >= 0 and is_dead(state, 1 + place * tables.consuming + consuming):
        return False
    begin, end = tables.probes[probe, P_TESTS], tables.probes[probe, P_TESTS_END]
    return begin == end or passes(tables, state, scratch, begin, end, place - state.counters[LOG_BASE])


@compiled
def open_step(tables: Tables, state: State, scratch: Scratch, rule: int, step: int, depth: int, top: int) -> int:
    """Find the candidates of a positive clause; the top of the list after it, below zero where it is too short."""
    steps, walk, chosen, pool = tables.steps, scratch.walk, scratch.chosen, state.pool
    probe = steps[step, S_PROBE]
    walk[depth, NEXT_ONE] = walk[depth, END] = 0
    walk[depth, LISTED] = 0
    walk[depth, TOP] = top
    slot = probe_slot(tables, state, scratch, probe)
    if slot < 0:
        return top
    column = tables.probes[probe, P_COLUMN]
    if tables.columns[column, C_CONSUMING] >= 0:
        drop_consumed(tables, state, column, slot)
    end = upper_end(tables, state, scratch, probe, slot)
    by, least = lower_limit(tables, state, scratch, probe)
    start = state.slots[slot, L_START]
    kind = EACH if tables.rules[rule, R_ADMISSIBLE] else steps[step, S_KIND]
    if kind != LAST:
        start = first_from(state, start, end, by, least)
    if kind == EACH:
        walk[depth, NEXT_ONE] = start
        walk[depth, END] = end
        return top
    wanted, per, base = steps[step, S_NUMBER], steps[step, S_PER], state.counters[LOG_BASE]
    found = top
    at = end - 1 if kind == LAST else start
    while start <= at < end and pool[at, by] >= least:
        place = pool[at, O_PLACE]
        at += -1 if kind == LAST else 1
        if not takes(tables, state, scratch, rule, probe, place):
            continue
        if per >= 0 and not has_room(state, scratch, top, found, place - base, per, wanted):
            continue
        if found == len(chosen):
            return -1
        chosen[found] = place
        found += 1
        if per < 0 and found - top == wanted:
            break
    if kind == LAST:
        for i in range((found - top) // 2):
            chosen[top + i], chosen[found - 1 - i] = chosen[found - 1 - i], chosen[top + i]
    walk[depth, NEXT_ONE], walk[depth, END], walk[depth, LISTED] = top, found, 1
    return found


@compiled
def has_room(state: State, scratch: Scratch, top: int, found: int, event: int, per: int, wanted: int) -> bool:
    """Whether fewer than `wanted` of the chosen have the event's value of the attribute `per`; null has no group."""
    value = state.log_values[event, per]
    if np.isnan(value):
        return False
    same = 0
    for i in range(top, found):
        same += state.log_values[scratch.chosen[i] - state.counters[LOG_BASE], per] == value
    return same < wanted


@compiled
def exists(tables: Tables, state: State, scratch: Scratch, probe: int) -> bool:
    """Whether any event, consumed or not, matches a probe."""
    slot = probe_slot(tables, state, scratch, probe)
    if slot < 0:
        return False
    by, least = lower_limit(tables, state, scratch, probe)
    begin, end = tables.probes[probe, P_TESTS], tables.probes[probe, P_TESTS_END]
    at = upper_end(tables, state, scratch, probe, slot) - 1
    while at >= state.slots[slot, L_START] and state.pool[at, by] >= least:
        event = state.pool[at, O_PLACE] - state.counters[LOG_BASE]
        if begin == end or passes(tables, state, scratch, begin, end, event):
            return True
        at -= 1
    return False


@compiled
def added(high: float, low: float, value: float) -> tuple[float, float]:
    """A sum in two parts, so that it does not depend on what was added and taken away before."""
    total = high + value
    back = total - high
    low += (high - (total - back)) + (value - back)
    exact = total + low
    return exact, low - (exact - total)


@compiled
def aggregate(tables: Tables, state: State, scratch: Scratch, step: int) -> float:
    """The figure over all events that match, consumed or not."""
    probe, function = tables.steps[step, S_PROBE], tables.steps[step, S_FUNCTION]
    slot = probe_slot(tables, state, scratch, probe)
    start = end = 0
    begin_tests, end_tests = tables.probes[probe, P_TESTS], tables.probes[probe, P_TESTS_END]
    if slot >= 0:
        end = upper_end(tables, state, scratch, probe, slot)
        by, least = lower_limit(tables, state, scratch, probe)
        start = first_from(state, state.slots[slot, L_START], end, by, least)
    attribute = tables.steps[step, S_ATTRIBUTE]
    high = low = count = 0.0
    if function <= AVERAGE and begin_tests == end_tests:
        if function == COUNT and attribute == -2:
            return float(end - start)
        if start < end:
            sums, first = state.pool_sums, state.slots[slot, L_START]
            high, low, count = sums[end - 1, SUM_HIGH], sums[end - 1, SUM_LOW], sums[end - 1, SUM_COUNT]
            if start > first:
                less, lesser, fewer = sums[start - 1, SUM_HIGH], sums[start - 1, SUM_LOW], sums[start - 1, SUM_COUNT]
            else:
                less, lesser, fewer = state.slot_sums[slot, 0], state.slot_sums[slot, 1], state.slot_sums[slot, 2]
            high, low = added(high, low, -less)
            high, low = added(high, low, -lesser)
            count -= fewer
        return figure(function, high, low, count)
    best = np.nan
    for at in range(start, end):
        event = state.pool[at, O_PLACE] - state.counters[LOG_BASE]
        if begin_tests != end_tests and not passes(tables, state, scratch, begin_tests, end_tests, event):
            continue
        if attribute == -2:
            count += 1.0
            continue
        value = state.log[event, G_TIME] / 1e6 if attribute == -1 else state.log_values[event, attribute]
        if function in (MINIMUM, MAXIMUM):
            wanted = BELOW if function == MINIMUM else ABOVE
            if np.isnan(best) or compares(value, wanted, best, tables.ranks):
                best = value
        elif function == COUNT:
            count += not np.isnan(value)
        elif is_number(value):
            high, low = added(high, low, value)
            count += 1.0
    return best if function > AVERAGE else figure(function, high, low, count)


@compiled
def figure(function: int, high: float, low: float, count: float) -> float:
    """Count, sum or average of what was added up."""
    if function == COUNT:
        return count
    if function == SUM:
        return high + low
    return (high + low) / count if count else np.nan


@compiled
def holds(tables: Tables, state: State, scratch: Scratch, step: int) -> bool:
    """Whether a step that binds no event lets the row live."""
    steps = tables.steps
    kind = steps[step, S_KIND]
    if kind == ABSENT:
        return not exists(tables, state, scratch, steps[step, S_PROBE])
    if kind == COMPUTE:
        memo, stamp = steps[step, S_MEMO], state.counters[STAMP]
        if memo >= 0 and scratch.computed[memo, 0] == stamp:
            scratch.temporary[steps[step, S_SLOT]] = scratch.computed[memo, 1]
            return True
        value = aggregate(tables, state, scratch, step)
        scratch.temporary[steps[step, S_SLOT]] = value
        if memo >= 0:
            scratch.computed[memo, 0] = stamp
            scratch.computed[memo, 1] = value
        return True
    left = term_value(tables, state, scratch, steps[step, S_LEFT], 0)
    right = term_value(tables, state, scratch, steps[step, S_RIGHT], 0)
    return compares(left, steps[step, S_COMPARISON], right, tables.ranks)


@compiled
def write_row(tables: Tables, state: State, scratch: Scratch, rows: Rows, rule: int, row: int, whole: bool) -> None:
    """A composite of the events that are bound; its values too where it is `whole`."""
    rows.rule[row] = rule
    for slot in range(tables.rules[rule, R_SLOTS]):
        event = scratch.bound[slot]
        rows.places[row, slot] = event + state.counters[LOG_BASE]
        if whole:
            rows.sources[row, slot] = state.log[event, G_SOURCE]
            rows.times[row, slot] = state.log[event, G_TIME]
    if whole:
        begin = tables.rules[rule, R_VALUES]
        for value in range(begin, tables.rules[rule, R_VALUES_END]):
            rows.values[row, value - begin] = term_value(tables, state, scratch, tables.value_terms[value], 0)


@compiled
def walk_rule(tables: Tables, state: State, scratch: Scratch, rows: Rows, rule: int) -> int:
    """All rows of a rule for the terminator in slot 0; not those that conditions forbid, if selection is local."""
    first, end = tables.rules[rule, R_STEPS], tables.rules[rule, R_STEPS_END]
    admissible = tables.rules[rule, R_ADMISSIBLE] != 0
    counters, walk, steps = state.counters, scratch.walk, tables.steps
    most = counters[OUT] + tables.limit
    step, top, forward = first, 0, True
    while step >= first:
        if forward and step == end:
            if counters[OUT] == len(rows.rule):
                return MORE_ROWS
            if counters[OUT] == most:
                state.limited[rule] += 1
                return DONE
            write_row(tables, state, scratch, rows, rule, counters[OUT], not admissible)
            counters[OUT] += 1
            forward = False
            step -= 1
            continue
        kind, depth = steps[step, S_KIND], step - first
        if kind > FIRST:
            if forward and ((admissible and kind > COMPUTE) or holds(tables, state, scratch, step)):
                step += 1
            else:
                forward = False
                step -= 1
            continue
        if forward:
            top = open_step(tables, state, scratch, rule, step, depth, top)
            if top < 0:
                return MORE_CHOSEN
        forward = False
        while walk[depth, NEXT_ONE] < walk[depth, END] and not forward:
            at = walk[depth, NEXT_ONE]
            walk[depth, NEXT_ONE] += 1
            listed = walk[depth, LISTED]
            place = scratch.chosen[at] if listed else state.pool[at, O_PLACE]
            if listed or takes(tables, state, scratch, rule, steps[step, S_PROBE], place):
                scratch.bound[steps[step, S_SLOT]] = place - counters[LOG_BASE]
                forward = True
        if forward:
            step += 1
        else:
            top = walk[depth, TOP]
            step -= 1
    return DONE


@compiled
def keep_admissible(tables: Tables, state: State, scratch: Scratch, rows: Rows, rule: int, first: int) -> int:
    """Select among whole rows: clause by clause the last or first per group of earlier events; then the conditions.

    Rows lie in the order of their events, so that a group is a stretch.
    """
    counters, steps = state.counters, tables.steps
    for step in range(tables.rules[rule, R_STEPS], tables.rules[rule, R_STEPS_END]):
        if steps[step, S_KIND] != LAST and steps[step, S_KIND] != FIRST:
            continue
        begin, kept = first, first
        while begin < counters[OUT]:
            end = begin + 1
            while end < counters[OUT] and same_events(rows, begin, end, steps[step, S_SLOT]):
                end += 1
            kept = keep_of_group(tables, state, scratch, rows, step, begin, end, kept)
            if kept < 0:
                return MORE_CHOSEN
            begin = end
        counters[OUT] = kept
    kept = first
    for row in range(first, counters[OUT]):
        for slot in range(tables.rules[rule, R_SLOTS]):
            scratch.bound[slot] = rows.places[row, slot] - counters[LOG_BASE]
        alive = True
        for step in range(tables.rules[rule, R_STEPS], tables.rules[rule, R_STEPS_END]):
            alive = alive and (steps[step, S_KIND] < COMPUTE or holds(tables, state, scratch, step))
        if alive:
            write_row(tables, state, scratch, rows, rule, kept, True)
            kept += 1
    counters[OUT] = kept
    return DONE


@compiled
def same_events(rows: Rows, one: int, other: int, slots: int) -> bool:
    """Whether two rows have the same events in the first slots."""
    for slot in range(slots):  # noqa: SIM110 - a loop is what numba compiles best
        if rows.places[one, slot] != rows.places[other, slot]:
            return False
    return True


@compiled
def keep_of_group(
    tables: Tables, state: State, scratch: Scratch, rows: Rows, step: int, begin: int, end: int, kept: int
) -> int:
    """Move the rows of a group that a clause selects to `kept`; where the rows end then, below zero without room."""
    steps, chosen = tables.steps, scratch.chosen
    slot, wanted, per = steps[step, S_SLOT], steps[step, S_NUMBER], steps[step, S_PER]
    base = state.counters[LOG_BASE]
    found = 0
    for i in range(end - begin):
        place = rows.places[end - 1 - i if steps[step, S_KIND] == LAST else begin + i, slot]
        if found and chosen[found - 1] == place:
            continue
        fits = found < wanted if per < 0 else has_room(state, scratch, 0, found, place - base, per, wanted)
        if fits and (per < 0 or not is_chosen(scratch, found, place)):
            if found == len(chosen):
                return -1
            chosen[found] = place
            found += 1
    for row in range(begin, end):
        if is_chosen(scratch, found, rows.places[row, slot]):
            for other in range(rows.places.shape[1]):
                rows.places[kept, other] = rows.places[row, other]
            kept += 1
    return kept


@compiled
def is_chosen(scratch: Scratch, found: int, place: int) -> bool:
    """Whether an event is among the first `found` that were chosen."""
    for i in range(found):  # noqa: SIM110 - a loop is what numba compiles best
        if scratch.chosen[i] == place:
            return True
    return False


@compiled
def consume(tables: Tables, state: State, rows: Rows, rule: int, first: int) -> int:
    """Mark the events that the rule's new rows have used up."""
    counters, dead = state.counters, state.dead
    begin, end = tables.rules[rule, R_CONSUMED], tables.rules[rule, R_CONSUMED_END]
    if 2 * (counters[DEAD] + (counters[OUT] - first) * (end - begin)) > len(dead):
        return MORE_DEAD
    mask = np.uint64(len(dead) - 1)
    for row in range(first, counters[OUT]):
        for i in range(begin, end):
            place = rows.places[row, tables.consumed[i]]
            mark = 1 + place * tables.consuming + tables.rules[rule, R_CONSUMING]
            at = (np.uint64(mark) * MIXING >> HALF) & mask
            while dead[at] and dead[at] != mark:
                at = (at + np.uint64(1)) & mask
            if not dead[at]:
                dead[at] = mark
                counters[DEAD] += 1
    return DONE


@compiled
def run_rule(tables: Tables, state: State, scratch: Scratch, rows: Rows, rule: int) -> int:
    """The composites of a rule for the terminator in slot 0; nothing has happened where more room is asked for."""
    first = state.counters[OUT]
    limited = state.limited[rule]
    lacks = walk_rule(tables, state, scratch, rows, rule)
    if lacks == DONE and tables.rules[rule, R_ADMISSIBLE]:
        lacks = keep_admissible(tables, state, scratch, rows, rule, first)
    if lacks == DONE and tables.rules[rule, R_CONSUMING] >= 0:
        lacks = consume(tables, state, rows, rule, first)
    if lacks != DONE:
        state.counters[OUT] = first
        state.limited[rule] = limited
    return lacks
