"""The definition of a match with registers, evaluated literally: stretches, marked events, valuations; no automata.

Written from section 3 of the definition: a pattern relates a stretch and a valuation to the events it marks and the
valuation after it. Every event is tested with the valuation before it, and only then kept.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import permutations
from typing import Any

from foresail.patterns.language.conditions import terminals_of
from foresail.patterns.language.syntax import (
    Absent,
    Anything,
    Both,
    Choice,
    Each,
    Hidden,
    Inline,
    Named,
    Not,
    Pattern,
    Repeat,
    SkipTillAny,
    SkipTillNext,
)
from foresail.patterns.language.syntax import Sequence as Concatenation

Event = Mapping[str, Any]
Valuation = frozenset[tuple[str, int]]
"""Registers and the place of the event that each holds; one that is not named holds nothing."""
Way = tuple[int, frozenset[int], Valuation]
"""Where a stretch ends (exclusive), the events it marks, and the valuation after it."""
Test = Callable[[Event, Mapping[str, Event]], bool]
"""Whether a condition holds of an event and what registers hold."""
EMPTY: Valuation = frozenset()


@dataclass
class Denotation:
    """What patterns relate on one track."""

    events: Sequence[Event]
    tests: Mapping[str, Test]

    def __post_init__(self) -> None:
        self._known: dict[tuple[Pattern, int, Valuation], frozenset[Way]] = {}

    def ways(self, pattern: Pattern, start: int, before: Valuation = EMPTY) -> frozenset[Way]:
        """All ways in which the pattern takes up a stretch from `start` on."""
        key = pattern, start, before
        if key not in self._known:
            self._known[key] = frozenset(self._ways(pattern, start, before))
        return self._known[key]

    def _ways(self, pattern: Pattern, start: int, before: Valuation) -> Iterable[Way]:
        match pattern:
            case Named() | Inline() | Anything():
                return self._event(pattern, start, before)
            case Concatenation(parts):
                return self._one_after_another([self._of(part) for part in parts], start, before)
            case Choice(parts):
                return frozenset().union(*(self.ways(part, start, before) for part in parts))
            case Both(parts):
                return self._both(parts, start, before)
            case Each(parts):
                orders = [Concatenation(order) for order in permutations(parts)]
                return frozenset().union(*(self.ways(order, start, before) for order in orders))
            case Repeat(part, least, most):
                return self._repeated(self._of(part), None, least, most, start, before)
            case Hidden(part):
                return {(end, frozenset(), after) for end, _, after in self.ways(part, start, before)}
            case Not(part):
                taken = {end for end, _, _ in self.ways(part, start, before)}
                return {(end, frozenset(), before) for end in self._ends(start) if end not in taken}
            case Absent(part):
                return self._without(part, start, before)
            case SkipTillAny(parts):
                return self._skipping(parts, lambda _: self._anything, start, before)
            case SkipTillNext(parts):
                return self._skipping(parts, lambda part: lambda at, v: self._without(part, at, v), start, before)
        raise AssertionError(pattern)

    def _of(self, part: Pattern) -> "Step":
        return lambda at, before: self.ways(part, at, before)

    def _ends(self, start: int) -> range:
        return range(start, len(self.events) + 1)

    def _event(self, terminal: Named | Inline | Anything, start: int, before: Valuation) -> Iterable[Way]:
        if start >= len(self.events):
            return ()
        if isinstance(terminal, Named):
            held = {register: self.events[place] for register, place in before}
            if not self.tests[terminal.name](self.events[start], held):
                return ()
        after = before
        if terminal.register is not None:
            after = frozenset({*((r, p) for r, p in before if r != terminal.register), (terminal.register, start)})
        return {(start + 1, frozenset({start}), after)}

    def _anything(self, start: int, before: Valuation) -> Iterable[Way]:
        return {(end, frozenset(), before) for end in self._ends(start)}

    def _without(self, part: Pattern, start: int, before: Valuation) -> Iterable[Way]:
        stops = [end for at in self._ends(start) for end, _, _ in self.ways(part, at, before)]
        first = min(stops, default=len(self.events) + 1)
        return {(end, frozenset(), before) for end in self._ends(start) if end < first}

    def _both(self, parts: Sequence[Pattern], start: int, before: Valuation) -> Iterable[Way]:
        """The same stretch and marks on every side; each side brings the registers that it writes."""
        found = self.ways(parts[0], start, before)
        for n, part in enumerate(parts[1:], 1):
            earlier = {t.register for some in parts[:n] for t in terminals_of(some)}
            found = frozenset(
                (
                    end,
                    marks,
                    frozenset({*(h for h in one if h[0] in earlier), *(h for h in other if h[0] not in earlier)}),
                )
                for end, marks, one in found
                for stop, others, other in self.ways(part, start, before)
                if (end, marks) == (stop, others)
            )
        return found

    def _one_after_another(self, steps: Sequence["Step"], start: int, before: Valuation) -> Iterable[Way]:
        reached: set[Way] = {(start, frozenset(), before)}
        for step in steps:
            reached = {(end, marks | more, after) for at, marks, v in reached for end, more, after in step(at, v)}
        return reached

    def _repeated(
        self, part: "Step", between: "Step | None", least: int, most: int | None, start: int, before: Valuation
    ) -> Iterable[Way]:
        """Counts up to what a finite stretch can tell apart: further iterations are empty ones."""
        reached: set[Way] = {(start, frozenset(), before)}
        found = set(reached) if least == 0 else set()
        for n in range(1, (least + len(self.events) + 2 if most is None else most) + 1):
            steps = [part] if n == 1 or between is None else [between, part]
            reached = {
                (end, marks | more, after)
                for at, marks, v in reached
                for end, more, after in self._one_after_another(steps, at, v)
            }
            if n >= least:
                found |= reached
        return found

    def _skipping(
        self, parts: Sequence[Pattern], gap: Callable[[Pattern], "Step"], start: int, before: Valuation
    ) -> Iterable[Way]:
        if len(parts) == 1 and isinstance(parts[0], Repeat):
            part, least, most = parts[0].part, parts[0].least, parts[0].most
            return self._repeated(self._of(part), gap(part), least, most, start, before)
        steps = [self._of(parts[0])]
        for part in parts[1:]:
            steps += [gap(part), self._of(part)]
        return self._one_after_another(steps, start, before)


Step = Callable[[int, Valuation], Iterable[Way]]


@dataclass(frozen=True)
class Rules:
    """What is asked of a match beside the pattern."""

    window_us: int | None = None
    window_events: int | None = None
    max_gap_us: int | None = None
    restart: bool = False


Matches = dict[int, dict[frozenset[int], list[tuple[int, ...]]]]
"""By the event that completes them (from 1) the sets of marked events, and what registers may hold (0: nothing)."""


def matches_of(
    pattern: Pattern,
    events: Sequence[Event],
    times: Sequence[int],
    tests: Mapping[str, Test],
    registers: Sequence[str],
    rules: Rules,
) -> Matches:
    """All matches on a track, event by event."""
    denotation, found, since = Denotation(events, tests), Matches(), 0
    for k in range(len(events)):
        if k and rules.max_gap_us is not None and times[k] - times[k - 1] > rules.max_gap_us:
            since = k
        here: dict[frozenset[int], list[tuple[int, ...]]] = {}
        for start in range(since, k + 1):
            for end, marks, after in denotation.ways(pattern, start):
                if end != k + 1 or k not in marks or not _fits(marks, times, rules):
                    continue
                held = dict(after)
                valuation = tuple(held.get(register, -1) + 1 for register in registers)
                here.setdefault(frozenset(m + 1 for m in marks), []).append(valuation)
        if here:
            found[k + 1] = here
            since = k + 1 if rules.restart else since
    return found


def _fits(marks: frozenset[int], times: Sequence[int], rules: Rules) -> bool:
    first, last = min(marks), max(marks)
    if rules.window_us is not None and times[last] - times[first] > rules.window_us:
        return False
    return rules.window_events is None or last - first + 1 <= rules.window_events
