"""Why a pattern with registers matched or did not: the runs of a track stepped in plain Python, with what they hold."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from foresail.patterns.automata.nondeterministic import Transition
from foresail.patterns.automata.registers import RegisterAutomaton
from foresail.patterns.compiler import CompiledPattern
from foresail.patterns.conditions.evaluate import ArrayColumn, evaluate
from foresail.patterns.conditions.relations import registers_read
from foresail.patterns.conditions.shortfall import Shortfall, offs, shortfalls
from foresail.patterns.conditions.syntax import TIME, Condition
from foresail.patterns.conditions.text import attributes_of
from foresail.patterns.recognition.register_rules import memory_of
from foresail.patterns.spec import AfterMatch

MOST_RUNS = 5_000
"""Of one track at a time; the oldest are given up beyond that, as in recognition."""


@dataclass(frozen=True, slots=True)
class Run:
    """A configuration: where it stands, its first marked event, and the event that each register holds (from 0)."""

    state: int
    start: int | None
    registers: tuple[int | None, ...]


@dataclass(frozen=True, slots=True)
class Refusal:
    """A step that an event did not take although it could have: the run, the state it would reach, what was lacking."""

    run: Run
    distance: int
    """How many events would still have been needed after it."""
    off: float
    lacking: tuple[tuple[str, Shortfall], ...]
    held: Mapping[str, int]
    """The registers that the lacking conditions read, and the events they hold (from 1)."""


@dataclass(frozen=True, slots=True)
class RunsStep:
    """What one event did to the runs."""

    matched: Run | None
    late: Run | None
    """A run that would have ended here, but its window was over."""
    silent: bool
    best_before: Run | None
    best: Run | None
    refusal: Refusal | None


@dataclass(slots=True)
class RunsOfTrack:
    """The runs of one track, event by event."""

    pattern: CompiledPattern
    columns: Mapping[str, ArrayColumn]
    times: NDArray[np.int64]
    runs: tuple[Run, ...] = ()
    own: NDArray[np.bool_] = field(init=False)
    """Per condition of the alphabet, where it reads the current event alone: the events on which it holds."""
    distance: tuple[int, ...] = field(init=False)
    """Per state the least number of events to a match."""
    symbols: dict[int, int] = field(init=False)

    def __post_init__(self) -> None:
        memory = memory_of(self.pattern)
        count = len(self.times)
        nowhere = np.zeros(count, dtype=np.bool_)
        self.own = np.array(
            [nowhere if _is_related(c, memory) else evaluate(c, self.columns, count) for c in memory.asked]
        ).reshape(len(memory.asked), count)
        self.distance = state_distances(self.pattern)
        self.symbols = {int(code): symbol for symbol, code in enumerate(self.pattern.alphabet.codes)}

    def step(self, event: int) -> RunsStep:
        """Read the event at that place (from 0)."""
        silent = self._is_silent(event)
        held_before = () if silent else self.runs
        idle = Run(0, None, (None,) * len(memory_of(self.pattern).registers))
        runs = [*held_before, idle]
        symbols, related = self._symbols(event, runs)
        after: dict[tuple[int, tuple[int | None, ...]], Run] = {}
        matched = late = None
        for run, symbol in zip(runs, symbols, strict=True):
            expired = self._is_expired(run, event)
            for t in self.pattern.nfa.transitions:
                if t.source != run.state or not t.guard >> symbol & 1:
                    continue
                reached = self._reached(run, t, event)
                if t.marked and t.target in self.pattern.nfa.finals:
                    if expired:
                        late = _later(late, run)
                    else:
                        matched = _later(matched, reached)
                if not expired:
                    _keep(after, reached, memory_of(self.pattern))
        kept = sorted(after.values(), key=lambda run: -1 if run.start is None else run.start)[-MOST_RUNS:]
        alive = [r for r in kept if any(t.source == r.state for t in self.pattern.nfa.transitions)]
        refusal = self._refused(event, runs, symbols, related)
        restart = matched is not None and self.pattern.spec.after_match is AfterMatch.RESTART
        best_before, lost = self._best(self.runs), silent and bool(self.runs)
        self.runs = () if restart else tuple(alive)
        return RunsStep(matched, late, lost, best_before, self._best(self.runs), refusal)

    def _is_silent(self, event: int) -> bool:
        gap = self.pattern.spec.max_gap_us
        return event > 0 and gap is not None and int(self.times[event] - self.times[event - 1]) > gap

    def _is_expired(self, run: Run, event: int) -> bool:
        spec = self.pattern.spec
        if run.start is None:
            return False
        too_many = spec.window_events is not None and event - run.start + 1 > spec.window_events
        return too_many or (
            spec.window_us is not None and int(self.times[event] - self.times[run.start]) > spec.window_us
        )

    def _symbols(self, event: int, runs: Sequence[Run]) -> tuple[list[int], Mapping[str, ArrayColumn]]:
        """The symbol of the event for each run: relations are asked of all of them at once."""
        memory = memory_of(self.pattern)
        related = self._remembered(event, runs)
        codes = np.zeros(len(runs), dtype=np.uint64)
        for number, condition in enumerate(memory.asked):
            if _is_related(condition, memory):
                holds = evaluate(condition, related, len(runs))
            else:
                holds = np.full(len(runs), self.own[number, event])
            codes |= holds.astype(np.uint64) << np.uint64(number)
        return [self.symbols[int(code)] for code in codes], related

    def _remembered(self, event: int, runs: Sequence[Run]) -> Mapping[str, ArrayColumn]:
        """The event beside what each run remembers, a row for each run."""
        memory = memory_of(self.pattern)
        here = np.full(len(runs), event)
        columns = {name: _taken(column, here, None) for name, column in self.columns.items()}
        for place, register in enumerate(memory.registers):
            kept = np.array([-1 if run.registers[place] is None else run.registers[place] for run in runs])
            for name, column in self.columns.items():
                columns[f"{register}.{name}"] = _taken(column, np.maximum(kept, 0), kept >= 0)
        return columns

    def _reached(self, run: Run, t: Transition, event: int) -> Run:
        names = memory_of(self.pattern).registers
        registers = tuple(event if name in t.writes else old for name, old in zip(names, run.registers, strict=True))
        return Run(t.target, event if run.start is None and t.marked else run.start, registers)

    def _best(self, runs: Iterable[Run]) -> Run | None:
        """The run that needs least, of several the one that began last."""
        return min(runs, key=lambda run: (self.distance[run.state], -(run.start or 0)), default=None)

    def _refused(
        self, event: int, runs: Sequence[Run], symbols: Sequence[int], related: Mapping[str, ArrayColumn]
    ) -> Refusal | None:
        """Of the steps towards a match that one condition more would have allowed the one that lacked least."""
        memory, best = memory_of(self.pattern), None
        wanted: dict[tuple[int, int], tuple[int, int] | None] = {}
        for row, (run, symbol) in enumerate(zip(runs, symbols, strict=True)):
            if run.start is None or self._is_expired(run, event):
                continue
            key = run.state, symbol
            if key not in wanted:
                wanted[key] = self._one_more(run.state, symbol)
            found = wanted[key]
            if found is None:
                continue
            number, distance = found
            off = float(offs(memory.asked[number], _row(related, row), 1)[0])
            if best is None or (distance, off) < best[0]:
                best = (distance, off), run, number, row
        if best is None:
            return None
        (distance, off), run, number, row = best
        condition = memory.asked[number]
        lacking = tuple((memory.names[number], one) for one in shortfalls(condition, _row(related, row)))
        return Refusal(run, distance, off, lacking, _held(condition, memory, run)) if lacking else None

    def _one_more(self, state: int, symbol: int) -> tuple[int, int] | None:
        """The condition that, had it held too, would have brought the run nearest to a match, and how near."""
        memory = memory_of(self.pattern)
        code = int(self.pattern.alphabet.codes[symbol])
        best: tuple[int, int] | None = None
        for number in range(memory.read):
            # what a relation needs of the event alone holds as well where the relation does
            wider = [other for other in self.symbols if other & ~code and _adds_only(other, code, number, memory)]
            for other in wider:
                for t in self.pattern.nfa.transitions:
                    if t.source != state or not t.guard >> self.symbols[other] & 1 or t.guard >> symbol & 1:
                        continue
                    after = 0 if t.marked and t.target in self.pattern.nfa.finals else self.distance[t.target]
                    if after < self.distance[state] and (best is None or after < best[1]):
                        best = number, after
        return best


def state_distances(pattern: CompiledPattern) -> tuple[int, ...]:
    """Per state of the automaton the least number of events to a match, whatever relations say."""
    far = pattern.nfa.states + 1
    distance = [far] * pattern.nfa.states
    for _ in range(pattern.nfa.states):
        for t in pattern.nfa.transitions:
            ends = t.marked and t.target in pattern.nfa.finals
            distance[t.source] = min(distance[t.source], 1 if ends else 1 + distance[t.target])
    return tuple(distance)


def read_by(conditions: Iterable[Condition], registers: Sequence[str]) -> list[str]:
    """The attributes of events that conditions read, of the current one or of a remembered one."""
    read = [a for condition in conditions for a in attributes_of(condition)]
    return list(dict.fromkeys([*(a.name if a.owner in registers else a.key for a in read), TIME]))


def _is_related(condition: Condition, memory: RegisterAutomaton) -> bool:
    return bool(registers_read(condition, memory.registers))


def _adds_only(wider: int, code: int, number: int, memory: RegisterAutomaton) -> bool:
    """Whether a symbol differs from another in that this condition holds too, and maybe what it is made of."""
    if code & ~wider or not wider >> number & 1:
        return False
    return all(n == number or n >= memory.read for n in range(len(memory.asked)) if (wider & ~code) >> n & 1)


def _later(one: Run | None, other: Run) -> Run:
    return other if one is None or (other.start or 0) > (one.start or 0) else one


def _keep(after: dict[tuple[int, tuple[int | None, ...]], Run], run: Run, memory: RegisterAutomaton) -> None:
    """Of runs with the same future the one that began last; one that has marked nothing yet is apart."""
    live = int(memory.steps.live[run.state])
    held = tuple(event if live >> place & 1 else None for place, event in enumerate(run.registers))
    key = (run.state if run.start is not None else -1 - run.state, held)
    known = after.get(key)
    if known is None or (run.start or 0) >= (known.start or 0):
        after[key] = run


def _held(condition: Condition, memory: RegisterAutomaton, run: Run) -> dict[str, int]:
    owners = dict.fromkeys(a.owner for a in attributes_of(condition) if a.owner in memory.registers)
    held = dict(zip(memory.registers, run.registers, strict=True))
    return {name: event + 1 for name in owners if name is not None and (event := held[name]) is not None}


def _taken(column: ArrayColumn, rows: NDArray[np.int64], there: NDArray[np.bool_] | None) -> ArrayColumn:
    valid = None if column.valid is None else column.valid[rows]
    if there is not None:
        valid = there if valid is None else valid & there
    return ArrayColumn(column.values[rows], valid, column.type, column.dictionary)


def _row(columns: Mapping[str, ArrayColumn], row: int) -> dict[str, ArrayColumn]:
    one = np.array([row])
    return {name: _taken(column, one, None) for name, column in columns.items()}
