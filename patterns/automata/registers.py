"""Automata with registers as tables: which steps an event of a class allows, and which relations then decide.

The automaton is the same as that of any pattern, over symbols of all conditions, relations included. Here its guards
are split: the conditions on the current event alone choose a class (a column of the table), and what is left of a
guard is a truth table over the few relations that matter in that state and class.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from foresail.patterns.automata.limits import SizeExceededError
from foresail.patterns.automata.nondeterministic import Nondeterministic, Transition
from foresail.patterns.conditions.relations import Column, Programs
from foresail.patterns.conditions.syntax import Condition
from foresail.patterns.minterms import Alphabet

MOST_REGISTERS = 32
MOST_RELATIONS = 12
"""That may decide one step: its truth table has two to the power of that many entries."""
MOST_COMPARED = 250
"""States of an automaton that is looked at for ambiguity; a larger one is taken to be ambiguous."""


class Steps(NamedTuple):
    """What the kernel reads; the steps of class c in state q are `at[c * states + q]` up to the next."""

    states: int
    codes: NDArray[np.uint64]
    """Combinations of the conditions on one event, sorted; -1 in `class_of` where none is."""
    class_of: NDArray[np.int32]
    at: NDArray[np.int64]
    target: NDArray[np.int32]
    marked: NDArray[np.uint8]
    final: NDArray[np.uint8]
    writes: NDArray[np.int64]
    """The registers that keep the event, a bit each."""
    support_at: NDArray[np.int64]
    support: NDArray[np.int32]
    """The relations that decide a step."""
    truth_at: NDArray[np.int64]
    truth: NDArray[np.uint8]
    """Whether a step is taken, by the relations that hold: those of its support as the bits of a number."""
    moves: NDArray[np.uint64]
    """Per class the states (modulo 64) that such an event changes."""
    begins: NDArray[np.uint8]
    """Per class whether a run can begin on such an event."""
    leads: NDArray[np.uint8]
    """Per state whether anything can follow."""
    live: NDArray[np.int64]
    """Per state the registers that may still be read."""


@dataclass(frozen=True, slots=True, eq=False)
class RegisterAutomaton:
    """A pattern with memory, compiled: registers, relations as programs, and steps."""

    registers: tuple[str, ...]
    relations: tuple[Condition, ...]
    programs: Programs
    columns: tuple[Column, ...]
    """The values of events that relations read."""
    own: int
    """How many conditions choose the class; those behind them are only read by programs."""
    steps: Steps
    names: tuple[str, ...]
    """Of the conditions that the symbols of the alphabet tell of, relations among them."""
    asked: tuple[Condition, ...]
    """Those conditions."""
    read: int
    """How many of them the pattern itself reads; the rest are features, and parts of relations."""
    ambiguous: bool
    """Whether one set of marked events may come about in several ways."""
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Letters:
    """The symbols of a pattern with memory: per symbol what holds of the event alone, and which relations hold."""

    own: NDArray[np.uint64]
    related: NDArray[np.int64]
    relations: int

    @classmethod
    def of(cls, alphabet: Alphabet, own: Sequence[int], relations: Sequence[int]) -> "Letters":
        """`own` and `relations` are the numbers of the conditions in the alphabet."""
        return cls(_bits(alphabet, own), _bits(alphabet, relations).astype(np.int64), len(relations))


def _bits(alphabet: Alphabet, numbers: Sequence[int]) -> NDArray[np.uint64]:
    found = np.zeros(len(alphabet.codes), dtype=np.uint64)
    for place, number in enumerate(numbers):
        found |= ((alphabet.codes >> np.uint64(number)) & np.uint64(1)) << np.uint64(place)
    return found


class _Step(NamedTuple):
    transition: Transition
    support: tuple[int, ...]
    truth: tuple[bool, ...]


def register_steps(
    nfa: Nondeterministic, letters: Letters, registers: Sequence[str], reads: Sequence[Collection[str]]
) -> tuple[Steps, bool]:
    """The tables of `nfa`, and whether it is ambiguous; `reads` tells of each relation the registers it reads."""
    codes, members = np.unique(letters.own, return_inverse=True)
    decide = _Decisions(letters, members.reshape(-1))
    tables: dict[tuple[tuple[_Step, ...], ...], int] = {}
    class_of = []
    for code in range(len(codes)):
        rows = tuple(
            tuple(step for t in nfa.transitions if t.source == state and (step := decide.step(t, code)) is not None)
            for state in range(nfa.states)
        )
        class_of.append(tables.setdefault(rows, len(tables)))
    return _tables(nfa, codes, class_of, list(tables), registers, reads), _is_ambiguous(nfa, list(tables))


class _Decisions:
    """What is left of a guard for events of one combination of conditions."""

    def __init__(self, letters: Letters, members: NDArray[np.int64]) -> None:
        self._letters = letters
        self._symbols = [np.flatnonzero(members == code).tolist() for code in range(int(members.max(initial=-1)) + 1)]
        self._known: dict[tuple[int, int], tuple[tuple[int, ...], tuple[bool, ...]] | None] = {}

    def step(self, transition: Transition, code: int) -> _Step | None:
        key = transition.guard, code
        if key not in self._known:
            self._known[key] = self._decided(*key)
        found = self._known[key]
        return None if found is None else _Step(transition, *found)

    def _decided(self, guard: int, code: int) -> tuple[tuple[int, ...], tuple[bool, ...]] | None:
        allowed = {int(self._letters.related[s]) for s in self._symbols[code] if guard >> s & 1}
        refused = {int(self._letters.related[s]) for s in self._symbols[code]} - allowed
        if not allowed:
            return None
        mask = (1 << self._letters.relations) - 1
        for relation in range(self._letters.relations):
            without = mask & ~(1 << relation)
            if not {code & without for code in allowed} & {code & without for code in refused}:
                mask = without
        support = tuple(r for r in range(self._letters.relations) if mask >> r & 1)
        if len(support) > MOST_RELATIONS:
            raise SizeExceededError(1 << len(support))
        yes = {_packed(held, support) for held in allowed}
        return support, tuple(n in yes for n in range(1 << len(support)))


def _packed(held: int, support: Sequence[int]) -> int:
    return sum((held >> relation & 1) << place for place, relation in enumerate(support))


def _tables(
    nfa: Nondeterministic,
    codes: NDArray[np.uint64],
    class_of: list[int],
    classes: Sequence[tuple[tuple[_Step, ...], ...]],
    registers: Sequence[str],
    reads: Sequence[Collection[str]],
) -> Steps:
    flat = [step for rows in classes for row in rows for step in row]
    supports = [step.support for step in flat]
    truths = [step.truth for step in flat]
    bit = {register: 1 << n for n, register in enumerate(registers)}
    leads = np.zeros(nfa.states, dtype=np.uint8)
    leads[[step.transition.source for step in flat]] = 1
    return Steps(
        nfa.states,
        codes,
        np.array(class_of, dtype=np.int32),
        np.cumsum([0, *(len(row) for rows in classes for row in rows)]).astype(np.int64),
        np.array([s.transition.target for s in flat], dtype=np.int32),
        np.array([s.transition.marked for s in flat], dtype=np.uint8),
        np.array([s.transition.marked and s.transition.target in nfa.finals for s in flat], dtype=np.uint8),
        np.array([sum(bit[r] for r in s.transition.writes) for s in flat], dtype=np.int64),
        np.cumsum([0, *map(len, supports)]).astype(np.int64),
        np.array([relation for support in supports for relation in support], dtype=np.int32),
        np.cumsum([0, *map(len, truths)]).astype(np.int64),
        np.array([yes for truth in truths for yes in truth], dtype=np.uint8),
        np.array([_moved(rows) for rows in classes], dtype=np.uint64),
        np.array([bool(rows[0]) for rows in classes], dtype=np.uint8),
        leads,
        _live(nfa.states, flat, bit, reads),
    )


def _moved(rows: tuple[tuple[_Step, ...], ...]) -> int:
    """The states (modulo 64) in which something else happens than to stay."""
    return sum({1 << (state & 63) for state, steps in enumerate(rows) if state and not _stays(state, steps)})


def _stays(state: int, steps: tuple[_Step, ...]) -> bool:
    if len(steps) != 1:
        return False
    only = steps[0].transition
    return only.target == state and not only.marked and not only.writes and not steps[0].support


def _live(
    states: int, steps: Sequence[_Step], bit: dict[str, int], reads: Sequence[Collection[str]]
) -> NDArray[np.int64]:
    """Per state the registers that some way from there reads before it writes them."""
    live = [0] * states
    while True:
        after = list(live)
        for step in steps:
            read = sum({bit[r] for relation in step.support for r in reads[relation] if r in bit})
            written = sum(bit[r] for r in step.transition.writes)
            after[step.transition.source] |= read | (live[step.transition.target] & ~written)
        if after == live:
            return np.array(live, dtype=np.int64)
        live = after


def _is_ambiguous(nfa: Nondeterministic, classes: Sequence[tuple[tuple[_Step, ...], ...]]) -> bool:
    """Whether two different walks may mark the same events and end at once: looked for in pairs of states."""
    if nfa.states > MOST_COMPARED or any(not t.marked for t in nfa.transitions if t.source == 0):
        return True
    waiting, seen = [(0, 0, False)], {(0, 0, False)}
    while waiting:
        left, right, apart = waiting.pop()
        for rows in classes:
            for one in rows[left]:
                for other in rows[right]:
                    if one.transition.marked != other.transition.marked or _exclude(one, other, left == right):
                        continue
                    split = apart or one is not other
                    if split and _accepts(nfa, one) and _accepts(nfa, other):
                        return True
                    pair = one.transition.target, other.transition.target, split
                    if pair not in seen:
                        seen.add(pair)
                        waiting.append(pair)
    return False


def _accepts(nfa: Nondeterministic, step: _Step) -> bool:
    return step.transition.marked and step.transition.target in nfa.finals


def _exclude(one: _Step, other: _Step, same: bool) -> bool:
    """Whether the two are never taken together by one run: the same relations decide, each for one of them."""
    if not same or one is other or one.support != other.support:
        return False
    return not any(left and right for left, right in zip(one.truth, other.truth, strict=True))
