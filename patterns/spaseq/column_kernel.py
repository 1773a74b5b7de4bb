"""Runs of a query over columns, compiled: what `runs.py` does with mappings, where a run is one mapping of numbers.

A register is NaN until a variable is bound. Events of a partition come in order of time, one for each instant.
"""

from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numba import int64, njit, typeof, types
from numpy.typing import NDArray

from foresail.patterns.recognition.compilation import Kernel, ready

FIRST, STRICT, NEXT, ANY = 0, 1, 2, 3
"""How an atom is reached."""
SLOT, CONSTANT, ADD, SUBTRACT, MULTIPLY, LESS, LESS_EQUAL, EQUAL, NOT_EQUAL, ALL, SOME, NOT = range(12)
"""What a condition's code does; the other comparisons are these with their sides changed."""
MOST_RUNS = 100_000
"""In one partition."""
RUNS, NODES, RESULTS, CUT_OFF = 0, 1, 2, 3
_STACK = 64

_compiled = njit(cache=True, error_model="numpy")


class Tables(NamedTuple):
    """The atoms of a query, the ways to match each, and what a way binds and asks."""

    first_way: Any
    """Of each atom, and the end."""
    after: Any
    plus: Any
    uses: Any
    """Of each way: the bits that an event must have."""
    first_bind: Any
    bind_slot: Any
    bind_column: Any
    first_code: Any
    operation: Any
    operand: Any
    constants: Any
    formal: int
    per_run: int
    within_us: int
    open_us: int
    start_us: int


class Pool(NamedTuple):
    """The runs of a partition."""

    atom: Any
    """Below zero where a run has ended."""
    repeats: Any
    node: Any
    deadline: Any
    registers: Any
    base: Any


class Nodes(NamedTuple):
    """Traces: each node is a way that an event was matched by."""

    before: Any
    way: Any
    event: Any


class Matches(NamedTuple):
    """What was found."""

    node: Any
    registers: Any


def fresh_pool(runs: int, slots: int) -> Pool:
    """Room for runs."""
    return Pool(
        np.zeros(runs, np.int64),
        np.zeros(runs, np.int64),
        np.zeros(runs, np.int64),
        np.zeros(runs, np.int64),
        np.zeros((runs, slots)),
        np.zeros((runs, slots)),
    )


def fresh_nodes(room: int) -> Nodes:
    """Room for traces."""
    return Nodes(np.zeros(room, np.int64), np.zeros(room, np.int64), np.zeros(room, np.int64))


def fresh_matches(room: int, slots: int) -> Matches:
    """Room for matches."""
    return Matches(np.zeros(room, np.int64), np.zeros((room, slots)))


@_compiled
def _more_longs(held: Any, room: int) -> Any:
    more = np.zeros(room, np.int64)
    more[: len(held)] = held
    return more


@_compiled
def _more_rows(held: Any, room: int) -> Any:
    more = np.zeros((room, held.shape[1]))
    more[: len(held)] = held
    return more


@_compiled
def _with_room(pool: Pool, nodes: Nodes, matches: Matches, counts: Any, widest: int) -> tuple[Pool, Nodes, Matches]:
    """The same with room for whatever one event can bring."""
    runs = counts[RUNS]
    most = (runs + 2) * widest
    if runs + 2 * most + 2 > len(pool.atom):
        room = 2 * (runs + 2 * most + 2)
        pool = Pool(
            _more_longs(pool.atom, room),
            _more_longs(pool.repeats, room),
            _more_longs(pool.node, room),
            _more_longs(pool.deadline, room),
            _more_rows(pool.registers, room),
            _more_rows(pool.base, room),
        )
    if counts[NODES] + most > len(nodes.way):
        room = 2 * (counts[NODES] + most)
        nodes = Nodes(_more_longs(nodes.before, room), _more_longs(nodes.way, room), _more_longs(nodes.event, room))
    if counts[RESULTS] + most > len(matches.node):
        room = 2 * (counts[RESULTS] + most)
        matches = Matches(_more_longs(matches.node, room), _more_rows(matches.registers, room))
    return pool, nodes, matches


@_compiled
def _holds(tables: Tables, way: int, registers: Any, row: int, stack: Any) -> bool:
    """Whether a run satisfies the condition of a way."""
    top = -1
    for place in range(tables.first_code[way], tables.first_code[way + 1]):
        operation, operand = tables.operation[place], tables.operand[place]
        if operation == SLOT:
            top += 1
            stack[top] = registers[row, operand]
        elif operation == CONSTANT:
            top += 1
            stack[top] = tables.constants[operand]
        elif operation == NOT:
            stack[top] = 1.0 - stack[top]
        else:
            one, other = stack[top - 1], stack[top]
            top -= 1
            if operation == ADD:
                stack[top] = one + other
            elif operation == SUBTRACT:
                stack[top] = one - other
            elif operation == MULTIPLY:
                stack[top] = one * other
            elif operation == LESS:
                stack[top] = 1.0 if one < other else 0.0
            elif operation == LESS_EQUAL:
                stack[top] = 1.0 if one <= other else 0.0
            elif operation == EQUAL:
                stack[top] = 1.0 if one == other else 0.0
            elif operation == NOT_EQUAL:
                stack[top] = 1.0 if one != other else 0.0
            elif operation == ALL:
                stack[top] = one * other
            else:
                stack[top] = max(one, other)
    return top < 0 or stack[0] == 1.0


@_compiled
def _joined(tables: Tables, way: int, values: Any, event: int, source: Any, row: int, target: Any, onto: int) -> bool:
    """Write the run of `source` with what the event binds to `target`; False where they disagree."""
    for slot in range(source.shape[1]):
        target[onto, slot] = source[row, slot]
    for bind in range(tables.first_bind[way], tables.first_bind[way + 1]):
        slot, value = tables.bind_slot[bind], values[tables.bind_column[bind], event]
        held = target[onto, slot]
        if np.isnan(held):
            target[onto, slot] = value
        elif held != value:
            return False
    return True


@_compiled
def _advance(
    tables: Tables,
    atom: int,
    values: Any,
    event: int,
    guard: int,
    source: Any,
    row: int,
    node: int,
    deadline: int,
    pool: Pool,
    nodes: Nodes,
    matches: Matches,
    counts: Any,
    stack: Any,
) -> bool:
    """Take an event as `atom` for the run whose registers are a row of `source`; whether it matched."""
    matched = False
    last = len(tables.after) - 1
    for way in range(tables.first_way[atom], tables.first_way[atom + 1]):
        if guard & tables.uses[way] != tables.uses[way]:
            continue
        onto = counts[RUNS]
        if not _joined(tables, way, values, event, source, row, pool.registers, onto):
            continue
        if not _holds(tables, way, pool.registers, onto, stack):
            continue
        matched = True
        made = counts[NODES]
        counts[NODES] += 1
        nodes.before[made], nodes.way[made], nodes.event[made] = node, way, event
        if atom == last:
            found = counts[RESULTS]
            counts[RESULTS] += 1
            matches.node[found] = made
            for slot in range(source.shape[1]):
                matches.registers[found, slot] = pool.registers[onto, slot]
        if tables.plus[atom] == 1:
            for slot in range(source.shape[1]):
                taken = pool.registers[onto, slot] if tables.formal == 1 else source[row, slot]
                pool.base[onto, slot] = taken
                pool.registers[onto + 1, slot] = pool.registers[onto, slot]
            pool.atom[onto], pool.repeats[onto], pool.node[onto], pool.deadline[onto] = atom, 1, made, deadline
            onto += 1
        if atom < last:
            pool.atom[onto], pool.repeats[onto], pool.node[onto], pool.deadline[onto] = atom + 1, 0, made, deadline
            onto += 1
        if onto > MOST_RUNS:
            counts[CUT_OFF] += onto - counts[RUNS]
        else:
            counts[RUNS] = onto
    return matched


@_compiled
def _move(
    tables: Tables,
    values: Any,
    event: int,
    time: int,
    guard: int,
    pool: Pool,
    nodes: Nodes,
    matches: Matches,
    counts: Any,
    stack: Any,
) -> None:
    """Move every run by one event."""
    for run in range(counts[RUNS]):
        atom = pool.atom[run]
        if pool.deadline[run] < time:
            pool.atom[run] = -1
            continue
        repeats = pool.repeats[run] == 1
        source = pool.base if repeats else pool.registers
        taken = _advance(
            tables, atom, values, event, guard, source, run, pool.node[run], pool.deadline[run],
            pool, nodes, matches, counts, stack,
        )  # fmt: skip
        after = tables.after[atom]
        # an iteration ends at every event but in the first atom, where it skips till the next match
        strict = atom > 0 if repeats else after == STRICT
        if strict or (taken and (repeats or after == NEXT)):
            pool.atom[run] = -1


@_compiled
def _begin(
    tables: Tables,
    values: Any,
    event: int,
    time: int,
    guard: int,
    nothing: Any,
    pool: Pool,
    nodes: Nodes,
    matches: Matches,
    counts: Any,
    stack: Any,
) -> None:
    """Begin a run in every window that holds the event: its own, or one of those side by side."""
    first, last = 0, 0
    if tables.per_run == 0:
        if time < tables.start_us:
            return
        last = (time - tables.start_us) // tables.within_us
        shared = (time - tables.start_us) % tables.within_us == 0 and last > 0 and tables.open_us == 0
        first = last - 1 if shared else last
    for window in range(first, last + 1):
        start = time if tables.per_run == 1 else tables.start_us + window * tables.within_us
        _advance(
            tables, 0, values, event, guard, nothing, 0, -1, start + tables.within_us - tables.open_us,
            pool, nodes, matches, counts, stack,
        )  # fmt: skip


@_compiled
def _gather(tables: Tables, pool: Pool, counts: Any) -> tuple[int, int]:
    """Close the gaps of runs that have ended; how many runs every event moves, and what the others wait for."""
    kept, strict, awaited = 0, 0, 0
    for run in range(counts[RUNS]):
        atom = pool.atom[run]
        if atom < 0:
            continue
        repeats = pool.repeats[run]
        if kept < run:
            pool.atom[kept], pool.repeats[kept] = atom, repeats
            pool.node[kept], pool.deadline[kept] = pool.node[run], pool.deadline[run]
            for slot in range(pool.registers.shape[1]):
                pool.registers[kept, slot] = pool.registers[run, slot]
                pool.base[kept, slot] = pool.base[run, slot]
        kept += 1
        if (repeats == 1 and atom > 0) or (repeats == 0 and tables.after[atom] == STRICT):
            strict += 1
        for way in range(tables.first_way[atom], tables.first_way[atom + 1]):
            awaited |= tables.uses[way]
    counts[RUNS] = kept
    return strict, awaited


@_compiled
def read_columns(
    tables: Tables,
    first_of: Any,
    times: Any,
    guards: Any,
    values: Any,
    pool: Pool,
    nodes: Nodes,
    matches: Matches,
    counts: Any,
) -> tuple[Nodes, Matches]:
    """Read all events of all partitions; the traces and what was found, as many as `counts` says."""
    stack = np.zeros(_STACK)
    nothing = np.full((1, pool.registers.shape[1]), np.nan)
    widest, begins = 0, 0
    for atom in range(len(tables.after)):
        widest = max(widest, tables.first_way[atom + 1] - tables.first_way[atom])
    for way in range(tables.first_way[1]):
        begins |= tables.uses[way]
    for part in range(len(first_of) - 1):
        counts[RUNS] = 0
        strict, awaited = 0, 0
        for event in range(first_of[part], first_of[part + 1]):
            guard, time = guards[event], times[event]
            if strict == 0 and guard & (awaited | begins) == 0:
                continue
            pool, nodes, matches = _with_room(pool, nodes, matches, counts, widest)
            _move(tables, values, event, time, guard, pool, nodes, matches, counts, stack)
            if guard & begins != 0:
                _begin(tables, values, event, time, guard, nothing, pool, nodes, matches, counts, stack)
            strict, awaited = _gather(tables, pool, counts)
    return nodes, matches


@cache
def column_kernel() -> Kernel:
    """`read_columns`, ready to be called."""

    def read_only(kind: Any, dimensions: int = 1) -> Any:
        return types.Array(kind, dimensions, "C", readonly=True)

    longs: NDArray[np.int64] = np.zeros(1, np.int64)
    tables = Tables(
        longs, longs, longs, longs, longs, longs, longs, longs, longs, longs, np.zeros(1), 0, 0, 0, 0, 0
    )  # fmt: skip
    signature = (
        typeof(tables),
        read_only(int64),
        read_only(int64),
        read_only(int64),
        read_only(types.float64, 2),
        typeof(fresh_pool(1, 1)),
        typeof(fresh_nodes(1)),
        typeof(fresh_matches(1, 1)),
        types.Array(int64, 1, "C"),
    )
    return ready(read_columns, signature)


KERNELS = {"SPAseq over columns": column_kernel}
