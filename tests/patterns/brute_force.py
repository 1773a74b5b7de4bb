"""The definition of a match, evaluated literally: sets of end positions and marks, no automata.

Written from the meaning of the language alone, so that it can be the referee of everything that is compiled.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

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

Marks = frozenset[int]
Ends = frozenset[tuple[int, Marks]]
"""Where a stretch may end (exclusive), and which events it marks then."""


@dataclass
class Definition:
    """The matches of patterns on one stretch of a track, given which conditions hold on each event."""

    holds: Sequence[Callable[[str], bool]]

    def __post_init__(self) -> None:
        self._known: dict[tuple[Pattern, int], Ends] = {}

    def ends(self, pattern: Pattern, start: int) -> Ends:
        """All (end, marks) with the events start..end-1 matching `pattern`."""
        key = (pattern, start)
        if key not in self._known:
            self._known[key] = frozenset(self._ends(pattern, start))
        return self._known[key]

    def _ends(self, pattern: Pattern, start: int) -> Iterable[tuple[int, Marks]]:
        match pattern:
            case Named() | Inline() | Anything():
                return self._event(pattern, start)
            case Concatenation(parts):
                return self._sequence([lambda at, p=p: self.ends(p, at) for p in parts], start)
            case Choice(parts):
                return frozenset().union(*(self.ends(p, start) for p in parts))
            case Both(parts):
                return frozenset.intersection(*(self.ends(p, start) for p in parts))
            case Each(parts):
                return self._orders(parts, start)
            case Repeat(part, least, most):
                return self._repeat(lambda at: self.ends(part, at), lambda at: self.ends(part, at), least, most, start)
            case Hidden(part):
                return {(end, frozenset()) for end, _ in self.ends(part, start)}
            case Not(part):
                matched = {end for end, _ in self.ends(part, start)}
                return {(end, frozenset()) for end in range(start, len(self.holds) + 1) if end not in matched}
            case Absent(part):
                return self._without(part, start)
            case SkipTillAny(parts):
                return self._skipping(parts, start, lambda _part, at: self._anything(at))
            case SkipTillNext(parts):
                return self._skipping(parts, start, self._without)
        raise AssertionError(pattern)

    def _event(self, terminal: Named | Inline | Anything, start: int) -> Iterable[tuple[int, Marks]]:
        if start >= len(self.holds):
            return ()
        name = terminal.name if isinstance(terminal, Named) else terminal.text if isinstance(terminal, Inline) else None
        return {(start + 1, frozenset({start}))} if name is None or self.holds[start](name) else ()

    def _anything(self, start: int) -> Iterable[tuple[int, Marks]]:
        return {(end, frozenset()) for end in range(start, len(self.holds) + 1)}

    def _without(self, part: Pattern, start: int) -> Iterable[tuple[int, Marks]]:
        def occurs(end: int) -> bool:
            return any(stop <= end for at in range(start, end + 1) for stop, _ in self.ends(part, at))

        return {(end, frozenset()) for end in range(start, len(self.holds) + 1) if not occurs(end)}

    def _sequence(self, steps: Sequence[Callable[[int], Iterable[tuple[int, Marks]]]], start: int) -> Ends:
        reached = {(start, frozenset[int]())}
        for step in steps:
            reached = {(end, marks | more) for at, marks in reached for end, more in step(at)}
        return frozenset(reached)

    def _orders(self, parts: tuple[Pattern, ...], start: int) -> Ends:
        if not parts:
            return frozenset({(start, frozenset())})
        found = set()
        for n, part in enumerate(parts):
            rest = parts[:n] + parts[n + 1 :]
            for at, marks in self.ends(part, start):
                found |= {(end, marks | more) for end, more in self._orders(rest, at)}
        return frozenset(found)

    def _repeat(
        self,
        first: Callable[[int], Iterable[tuple[int, Marks]]],
        again: Callable[[int], Iterable[tuple[int, Marks]]],
        least: int,
        most: int | None,
        start: int,
    ) -> Ends:
        """Counts iterations up to what a finite stretch can tell apart: longer ones only add empty iterations."""
        bound = least + len(self.holds) + 1 if most is None else most
        found = {(start, frozenset[int]())} if least == 0 else set()
        reached = {(start, frozenset[int]())}
        for n in range(1, bound + 1):
            step = first if n == 1 else again
            reached = {(end, marks | more) for at, marks in reached for end, more in step(at)}
            if n >= least:
                found |= reached
            if not reached:
                break
        return frozenset(found)

    def _skipping(
        self, parts: tuple[Pattern, ...], start: int, gap: Callable[[Pattern, int], Iterable[tuple[int, Marks]]]
    ) -> Ends:
        if len(parts) == 1 and isinstance(parts[0], Repeat):
            part, least, most = parts[0].part, parts[0].least, parts[0].most

            def again(at: int) -> Iterable[tuple[int, Marks]]:
                return self._sequence([lambda i: gap(part, i), lambda i: self.ends(part, i)], at)

            return self._repeat(lambda at: self.ends(part, at), again, least, most, start)
        steps = [lambda at, p=parts[0]: self.ends(p, at)]
        for part in parts[1:]:
            steps += [lambda at, p=part: gap(p, at), lambda at, p=part: self.ends(p, at)]
        return self._sequence(steps, start)


def matches_by_event(
    pattern: Pattern,
    holds: Sequence[Callable[[str], bool]],
    times: Sequence[int],
    *,
    window_us: int | None = None,
    window_events: int | None = None,
    max_gap_us: int | None = None,
    restart: bool = False,
) -> dict[int, set[Marks]]:
    """For each detecting event (from 1) the sets of marked events (from 1) of the matches that it completes."""
    found: dict[int, set[Marks]] = {}
    earliest = 0
    definition = Definition(holds)
    for k in range(len(holds)):
        if k and max_gap_us is not None and times[k] - times[k - 1] > max_gap_us:
            earliest = k
        sets = {
            marks
            for start in range(earliest, k + 1)
            for end, marks in definition.ends(pattern, start)
            if end == k + 1 and k in marks and _within(marks, times, window_us, window_events)
        }
        if sets:
            found[k + 1] = {frozenset(m + 1 for m in marks) for marks in sets}
            if restart:
                earliest = k + 1
    return found


def _within(marks: Marks, times: Sequence[int], window_us: int | None, window_events: int | None) -> bool:
    first, last = min(marks), max(marks)
    if window_us is not None and times[last] - times[first] > window_us:
        return False
    return window_events is None or last - first + 1 <= window_events
