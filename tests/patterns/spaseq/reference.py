"""Definitions 7 to 16 of SPAseq word for word, over sets of mappings, with rdflib: slow, and independent of it all.

The tree is given as values, not as text; every window is evaluated by itself, and operators compare whole result sets.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from rdflib import Graph
from rdflib.plugins.sparql import prepareQuery

Mapping = frozenset[tuple[str, str]]
Omega = frozenset[Mapping]
EMPTY: Omega = frozenset({frozenset()})


@dataclass(frozen=True)
class Gpm:
    name: str
    stream: str
    body: str
    stateful: tuple[tuple[str, Callable[[dict[str, str]], bool]], ...] = ()
    knowledge: str = ""
    """A group over the knowledge graph."""

    def text(self, graph: str) -> str:
        filters = "".join(f" FILTER{text}" for text, _ in self.stateful)
        enriched = f" GRAPH <{graph}> {{ {self.knowledge} }}" if self.knowledge else ""
        return f"{{ {self.body}{enriched}{filters} }}"


@dataclass(frozen=True)
class Atom:
    ways: tuple[tuple[int, ...], ...]
    """Alternatives, each the numbers of uses that match at one instant."""
    postfix: str = ""
    after: str | None = None


@dataclass(frozen=True)
class Event:
    stream: str
    time: int
    text: str


@dataclass(frozen=True)
class Result:
    trace: tuple[tuple[int, int], ...]
    time: int
    omega: Omega
    base: Omega = frozenset()


@dataclass(frozen=True)
class Case:
    gpms: tuple[Gpm, ...]
    uses: tuple[int, ...]
    atoms: tuple[Atom, ...]
    events: tuple[Event, ...]
    within: int
    prologue: str = "PREFIX : <http://ex/>"
    start: int | None = None
    windows: str = "tumbling"
    kleene: str = "last"
    stn: str = "set"
    half_open: bool = False
    knowledge: str = ""
    partition_by: str | None = None
    declared: frozenset[str] = field(default=frozenset({"u1", "u2", "u3"}))


def expected(case: Case) -> set[tuple[tuple[tuple[str, str, int], ...], Mapping]]:
    """Every result: its events in the order of the text, and its bindings."""
    found: set[Any] = set()
    events = [event for event in case.events if event.stream in case.declared]
    for part, key in _partitions(case, events):
        times = sorted({event.time for event in part})
        # the start of the first window is the first event of all partitions
        start = case.start if case.start is not None else min((e.time for e in events), default=0)
        for begin, end in _windows(case, start, times):
            for result in _Window(case, part, begin, end, key).results():
                if case.windows == "per_run" and min(time for _, time in result.trace) != begin:
                    continue
                named = tuple(
                    (case.gpms[case.uses[use]].name, case.gpms[case.uses[use]].stream, time)
                    for use, time in sorted(result.trace)
                )
                found |= {(named, mu) for mu in result.omega}
    return found


def _partitions(case: Case, events: list[Event]) -> Iterable[tuple[list[Event], str | None]]:
    if case.partition_by is None:
        return [(events, None)]
    subjects = {event: {s.n3() for s in _graph(event.text).subjects()} for event in events}
    keys = sorted({key for found in subjects.values() for key in found})
    return [([event for event in events if key in subjects[event]], key) for key in keys]


def _windows(case: Case, start: int, times: list[int]) -> Iterable[tuple[int, int]]:
    less = 1 if case.half_open else 0
    if case.windows == "per_run":
        return [(time, time + case.within - less) for time in times]
    last = max(times, default=start)
    count = max(0, (last - start) // case.within + 1)
    return [(start + k * case.within, start + (k + 1) * case.within - less) for k in range(count)]


class _Window:
    def __init__(self, case: Case, events: list[Event], begin: int, end: int, key: str | None) -> None:
        self.case = case
        self.events = [event for event in events if begin <= event.time <= end]
        self.times = sorted({event.time for event in events})
        self.end = end
        self.key = key

    def results(self) -> set[Result]:
        atoms = self.case.atoms
        found = self._first(atoms[0])
        place = 1
        while place < len(atoms):
            atom = atoms[place]
            if atom.postfix in ("?", "!"):
                found = self._option(found, atom, atoms[place + 1] if place + 1 < len(atoms) else None)
                place += 2
            else:
                found = self._then(found, atom)
                place += 1
        return found

    # definitions 7, 8, 9, 15: what an atom matches by itself
    def _alone(self, atom: Atom) -> list[tuple[tuple[int, ...], int, Omega]]:
        found = []
        for way in atom.ways:
            for time in sorted({event.time for event in self.events}):
                omega = EMPTY
                for use in way:
                    omega = join(omega, self._gpm(use, time))
                if omega:
                    found.append((way, time, omega))
        return found

    def _gpm(self, use: int, time: int) -> Omega:
        gpm = self.case.gpms[self.case.uses[use]]
        for event in self.events:
            if event.stream == gpm.stream and event.time == time:
                omega = answer(self.case.prologue, gpm.body, event.text)
                if gpm.knowledge:
                    omega = join(omega, answer(self.case.prologue, gpm.knowledge, self.case.knowledge))
                if self.case.partition_by is not None:
                    omega = frozenset(mu for mu in omega if dict(mu).get(self.case.partition_by) == self.key)
                return omega
        return frozenset()

    def _tests(self, way: tuple[int, ...]) -> list[Callable[[dict[str, str]], bool]]:
        return [test for use in way for _, test in self.case.gpms[self.case.uses[use]].stateful]

    def _joined(self, left: Omega, way: tuple[int, ...], right: Omega) -> Omega:
        tests = self._tests(way)
        return frozenset(mu for mu in join(left, right) if all(test(dict(mu)) for test in tests))

    def _extended(
        self, before: Result, way: tuple[int, ...], time: int, right: Omega, iterating: bool
    ) -> Result | None:
        left = before.base if iterating and self.case.kleene == "last" else before.omega
        omega = self._joined(left, way, right)
        base = frozenset(mu for mu in left if self._joined(frozenset({mu}), way, right))
        trace = (*before.trace, *((use, time) for use in way))
        return Result(trace, time, omega, base) if omega else None

    def _nothing_between(self, first: int, then: int) -> bool:
        return not any(first < time < then for time in self.times)

    # definitions 10, 11, 12
    def _step(self, before: set[Result], atom: Atom, sign: str, iterating: bool = False) -> set[Result]:
        alone = self._alone(atom)
        found: set[Result] = set()
        for result in before:
            if sign == ";" and self.case.stn == "per_mapping":
                found |= self._step_per_mapping(result, alone, iterating)
                continue
            for way, time, omega in alone:
                if time <= result.time:
                    continue
                if sign == "," and not self._nothing_between(result.time, time):
                    continue
                if sign == ";" and any(
                    self._extended(result, other, when, between, iterating)
                    for other, when, between in alone
                    if result.time < when < time
                ):
                    continue
                extended = self._extended(result, way, time, omega, iterating)
                if extended:
                    found.add(extended)
        return found

    def _step_per_mapping(self, result: Result, alone: list[Any], iterating: bool) -> set[Result]:
        left = result.base if iterating and self.case.kleene == "last" else result.omega
        first: dict[int, set[Mapping]] = {}
        for mu in left:
            one = Result(result.trace, result.time, frozenset({mu}), frozenset({mu}))
            times = [t for way, t, omega in alone if t > result.time and self._extended(one, way, t, omega, iterating)]
            if times:
                first.setdefault(min(times), set()).add(mu)
        found = set()
        for when, mus in first.items():
            part = Result(result.trace, result.time, frozenset(mus), frozenset(mus))
            for way, time, omega in alone:
                extended = self._extended(part, way, time, omega, iterating) if time == when else None
                if extended:
                    found.add(extended)
        return found

    # definitions 13 and 14
    def _first(self, atom: Atom) -> set[Result]:
        once = set()
        for way, time, omega in self._alone(atom):
            extended = self._extended(Result((), -1, EMPTY, EMPTY), way, time, omega, False)
            if extended:
                once.add(extended)
        return self._iterated(once, atom, ";") if atom.postfix == "+" else once

    def _then(self, before: set[Result], atom: Atom) -> set[Result]:
        once = self._step(before, atom, atom.after or ",")
        return self._iterated(once, atom, ",") if atom.postfix == "+" else once

    def _iterated(self, once: set[Result], atom: Atom, sign: str) -> set[Result]:
        every = set(once)
        last = once
        while last:
            last = self._step(last, atom, sign, iterating=True)
            every |= last
        return every

    # algorithms 7 to 9: optional and negated atoms between strict ones
    def _option(self, before: set[Result], atom: Atom, following: Atom | None) -> set[Result]:
        found: set[Result] = set()
        for result in before:
            here = self._at_next(result, atom)
            if atom.postfix == "?":
                found |= here if following is None else self._then(here, following)
            if following is None:
                if atom.postfix == "?" or not here:
                    found.add(result)
            elif not here:
                found |= self._then({result}, following) or self._after_one(result, following)
        return found

    def _at_next(self, result: Result, atom: Atom) -> set[Result]:
        return self._step({result}, atom, ",")

    def _after_one(self, result: Result, following: Atom) -> set[Result]:
        later = [time for time in self.times if time > result.time]
        if not later:
            return set()
        moved = Result(result.trace, later[0], result.omega, result.base)
        return self._then({moved}, following)


def join(left: Omega, right: Omega) -> Omega:
    found = set()
    for one in left:
        for other in right:
            merged = dict(one)
            if all(merged.setdefault(name, term) == term for name, term in other):
                found.add(frozenset(merged.items()))
    return frozenset(found)


@cache
def answer(prologue: str, body: str, text: str) -> Omega:
    """The mappings of a group over one graph."""
    found = set()
    for row in _graph(text).query(_prepared(f"{prologue} SELECT * WHERE {{ {body} }}")):
        found.add(frozenset((str(name), term.n3()) for name, term in row.asdict().items()))
    return frozenset(found)


@cache
def _prepared(text: str) -> Any:
    return prepareQuery(text)


@cache
def _graph(text: str) -> Graph:
    return Graph().parse(data=text, format="turtle")
