"""Runs of a query and how one instant moves them: definitions 8 to 16 of the publication, contradictions settled.

All events of one instant are one letter. A run holds the mapping set of its events and waits for an atom of the
sequence; nothing that a letter makes is read by the same letter, since every step needs a later instant.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from foresail.patterns.spaseq.expressions import Mu
from foresail.patterns.spaseq.knowledge import Row
from foresail.patterns.spaseq.plan import Alternative, AtomPlan, Plan

MOST_RUNS = 100_000
"""Of one query at a time."""
MOST_MAPPINGS = 10_000
"""Of one run."""
Trace: TypeAlias = tuple["Trace | None", int, int]
"""The trace before, the number of a use in the sequence, and the time of its event."""
Letter: TypeAlias = Mapping[int, Sequence[Row]]
"""By graph pattern its rows at one instant."""


@dataclass(frozen=True, slots=True)
class Run:
    """A partial match."""

    atom: int
    """The atom it waits for, or repeats."""
    mappings: tuple[Mu, ...]
    base: tuple[Mu, ...]
    """While it repeats an atom: the mappings before it that all iterations have joined."""
    trace: Trace | None
    last_us: int
    deadline_us: int
    window: int
    """The number of its window; 0 where every run has its own."""


@dataclass(slots=True)
class Partition:
    """The runs of one partition by what they do."""

    waiting: dict[int, list[Run]] = field(default_factory=dict)
    repeating: dict[int, list[Run]] = field(default_factory=dict)
    passed: list[Run] = field(default_factory=list)
    """Behind a last `!`: complete when their window ends."""

    def count(self) -> int:
        """How many runs there are."""
        lists = (*self.waiting.values(), *self.repeating.values(), self.passed)
        return sum(map(len, lists))


@dataclass(frozen=True, slots=True)
class Found:
    """A match: its trace and its mappings."""

    time_us: int
    trace: Trace | None
    mappings: tuple[Mu, ...]


@dataclass(slots=True)
class Counts:
    """What limits have cut off."""

    runs: int = 0
    mappings: int = 0


class Stepper:
    """The machine: immutable, shared by all partitions."""

    def __init__(self, plan: Plan) -> None:
        self.use_gpm = plan.use_gpm
        self.atoms = plan.atoms
        self.last = len(plan.atoms) - 1
        self._slots = [tuple(plan.slots[name] for name in plan.gpms[gpm].kept) for gpm in plan.use_gpm]
        self._nothing: Mu = (None,) * len(plan.slots)
        self.formal = plan.options.kleene == "formal"
        self.per_mapping = plan.options.stn == "per_mapping"
        self.ends_with_negation = plan.atoms[-1].postfix == "!"
        self.ends_with_option = plan.atoms[-1].postfix == "?"

    def step(
        self,
        part: Partition,
        letter: Letter,
        time_us: int,
        windows: Sequence[tuple[int, int]],
        counts: Counts,
        room: int,
    ) -> list[Found]:
        """Move all runs of a partition by one letter, and begin new ones in `windows` (number and deadline)."""
        reading = _Reading(self, part, letter, time_us, counts, room)
        for atom in list(part.waiting):
            reading.wait(atom)
        for atom in list(part.repeating):
            reading.repeat(atom)
        for window, deadline in windows:
            begun = Run(0, (self._nothing,), (self._nothing,), None, time_us, deadline, window)
            reading.advance(begun, 0)
        reading.settle()
        return reading.found

    def joined(self, mappings: Sequence[Mu], way: Alternative, letter: Letter, counts: Counts) -> list[Mu]:
        """The mappings that agree with one alternative at this letter, each with what it adds."""
        for use in way.uses:
            rows = letter.get(self.use_gpm[use])
            if not rows:
                return []
            slots = self._slots[use]
            merged = [whole for mu in mappings for row in rows if (whole := _merged(mu, slots, row)) is not None]
            if len(mappings) > 1 or len(rows) > 1:
                merged = list(dict.fromkeys(merged))
            if len(merged) > MOST_MAPPINGS:
                counts.mappings += 1
                return []
            mappings = merged
        for holds in way.conditions:
            mappings = [mu for mu in mappings if holds(mu)]
        return list(mappings)

    def traced(self, trace: Trace | None, way: Alternative, time_us: int) -> Trace | None:
        """The trace with the events of one alternative behind it."""
        for use in way.uses:
            trace = (trace, use, time_us)
        return trace


@dataclass(slots=True)
class _Reading:
    """One partition while it reads one letter."""

    machine: Stepper
    part: Partition
    letter: Letter
    time_us: int
    counts: Counts
    room: int
    found: list[Found] = field(default_factory=list)
    waiting: list[Run] = field(default_factory=list)
    repeating: list[Run] = field(default_factory=list)
    passed: list[Run] = field(default_factory=list)

    def wait(self, atom: int) -> None:
        """Move the runs that wait for an atom."""
        plan = self._atoms[atom]
        runs = self.part.waiting[atom]
        if plan.postfix in ("?", "!"):
            del self.part.waiting[atom]
            for run in runs:
                if not self._ended(run):
                    self._choose(run, atom, plan)
                elif plan.postfix == "!" and atom == self.machine.last:
                    # its window has ended without what it must not meet
                    self.found.append(Found(run.last_us, run.trace, run.mappings))
            return
        touched = self._touched(plan)
        if plan.after == ",":
            del self.part.waiting[atom]
            if touched:
                for run in runs:
                    if not self._ended(run):
                        self.advance(run, atom)
            return
        if touched:
            stay = (self._skip(run, atom, plan) for run in runs if not self._ended(run))
            self.part.waiting[atom] = [run for run in stay if run is not None]

    def _skip(self, run: Run, atom: int, plan: AtomPlan) -> Run | None:
        """The run that goes on waiting; none where skip-till-next has taken its event."""
        if plan.after == ":":
            self.advance(run, atom)
            return run
        if not self.machine.per_mapping:
            return None if self.advance(run, atom) else run
        return self._skip_each(run, lambda one: self.advance(one, atom))

    def _skip_each(self, run: Run, advance: Callable[[Run], bool]) -> Run | None:
        taken = {mu for mu in run.mappings if self._joins(replace(run, mappings=(mu,)), run.atom)}
        if not taken:
            return run
        advance(replace(run, mappings=tuple(mu for mu in run.mappings if mu in taken)))
        rest = tuple(mu for mu in run.mappings if mu not in taken)
        return replace(run, mappings=rest) if rest else None

    def repeat(self, atom: int) -> None:
        """Move the runs that repeat an atom: strictly, but skip till next where it is the first (definition 13)."""
        runs = self.part.repeating.pop(atom)
        touched = self._touched(self._atoms[atom])
        stay: list[Run] = []
        for run in runs:
            if self._ended(run):
                continue
            if atom:
                if touched:
                    self._again(run, atom)
            elif not touched:
                stay.append(run)
            elif self.machine.per_mapping and self.machine.formal:
                left = self._skip_each(run, lambda one: self._again(one, 0))
                stay += [left] if left is not None else []
            elif not self._again(run, atom):
                stay.append(run)
        if stay:
            self.part.repeating[atom] = stay

    def _again(self, run: Run, atom: int) -> bool:
        before = run.mappings if self.machine.formal else run.base
        return self.advance(replace(run, mappings=before), atom)

    def advance(self, run: Run, atom: int) -> bool:
        """Take the letter as `atom`; whether it matched."""
        matched = False
        plan = self._atoms[atom]
        for way in plan.alternatives:
            mappings = tuple(self.machine.joined(run.mappings, way, self.letter, self.counts))
            if not mappings:
                continue
            matched = True
            trace = self.machine.traced(run.trace, way, self.time_us)
            base: tuple[Mu, ...] = ()
            if plan.postfix == "+":
                base = () if self.machine.formal else self._survivors(run.mappings, way)
                again = Run(atom, mappings, base, trace, self.time_us, run.deadline_us, run.window)
                self.repeating.append(again)
            self._arrive(Run(atom + 1, mappings, (), trace, self.time_us, run.deadline_us, run.window))
        return matched

    def _survivors(self, before: tuple[Mu, ...], way: Alternative) -> tuple[Mu, ...]:
        if len(before) == 1:
            return before
        return tuple(mu for mu in before if self.machine.joined((mu,), way, self.letter, self.counts))

    def _arrive(self, run: Run) -> None:
        """A run behind its atom: complete, or waiting for the next."""
        last = self.machine.last
        if run.atom > last or (run.atom == last and self.machine.ends_with_option):
            self.found.append(Found(run.last_us, run.trace, run.mappings))
        if run.atom <= last:
            self.waiting.append(run)

    def _choose(self, run: Run, atom: int, plan: AtomPlan) -> None:
        """An optional or a negated atom: it is matched, or the next one is, or the letter is passed over once."""
        if plan.postfix == "?":
            if self.advance(run, atom):
                return
        elif self._joins(run, atom):
            return
        if atom == self.machine.last:
            if plan.postfix == "!":
                self.passed.append(run)
        elif not self.advance(run, atom + 1):
            self.waiting.append(replace(run, atom=atom + 1))

    def _joins(self, run: Run, atom: int) -> bool:
        ways = self._atoms[atom].alternatives
        return any(self.machine.joined(run.mappings, way, self.letter, self.counts) for way in ways)

    def _touched(self, plan: AtomPlan) -> bool:
        """Whether the letter has what some alternative needs."""
        gpm = self.machine.use_gpm
        return any(all(gpm[use] in self.letter for use in way.uses) for way in plan.alternatives)

    def _ended(self, run: Run) -> bool:
        return run.deadline_us < self.time_us

    @property
    def _atoms(self) -> tuple[AtomPlan, ...]:
        return self.machine.atoms

    def settle(self) -> None:
        """Keep what the letter has made, as far as there is room."""
        for runs, places in ((self.waiting, self.part.waiting), (self.repeating, self.part.repeating)):
            for run in runs:
                if self.room <= 0:
                    self.counts.runs += 1
                    continue
                self.room -= 1
                places.setdefault(run.atom, []).append(run)
        self.part.passed += self.passed


def _merged(mu: Mu, slots: tuple[int, ...], row: Row) -> Mu | None:
    """Both mappings in one, or None where they disagree."""
    whole = list(mu)
    for slot, term in zip(slots, row, strict=True):
        if term is not None:
            old = whole[slot]
            if old is None:
                whole[slot] = term
            elif old != term:
                return None
    return tuple(whole)


def steps_of(trace: Trace | None) -> Iterator[tuple[int, int]]:
    """The uses and times of a trace, in the order of the text and then of time."""
    steps = []
    while trace is not None:
        trace, use, time_us = trace
        steps.append((use, time_us))
    return iter(sorted(steps))
