"""A query over streams of graphs: the machine, and the state that whoever drives it keeps, cuts and resumes anywhere.

Events wait in the state until their instant is complete, that is, until the driver says that time has come past it. So
results depend on what came, and neither on the order within an instant nor on how the input was cut.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from foresail.patterns.spaseq.events import MOST_CHARACTERS, GraphEvent, Rejected
from foresail.patterns.spaseq.knowledge import Knowledge, Row
from foresail.patterns.spaseq.matching import GraphMatcher, Matched
from foresail.patterns.spaseq.plan import Plan
from foresail.patterns.spaseq.results import Binding, Projection
from foresail.patterns.spaseq.runs import MOST_RUNS, Counts, Found, Letter, Partition, Run, Stepper

NEVER_US = -(2**62)
ALWAYS_US = 2**62
"""A time after every event: the input has ended."""
MOST_EVENTS_AT_ONCE = 5_000
"""In one store: larger ones are slower to fill."""
Key: TypeAlias = str


@dataclass(slots=True)
class State:
    """What a query remembers between two batches."""

    pending: list[GraphEvent] = field(default_factory=list)
    start_us: int | None = None
    until_us: int = NEVER_US
    """Instants up to this one are complete and have been read."""
    partitions: dict[Key, Partition] = field(default_factory=dict)
    runs: int = 0
    """Those that count against the limit."""
    sweep_us: int = NEVER_US
    """When runs that have ended are looked for next."""


@dataclass(slots=True)
class Read:
    """What a batch has brought."""

    results: list[Binding] = field(default_factory=list)
    rejected: list[Rejected] = field(default_factory=list)
    events: int = 0
    counts: Counts = field(default_factory=Counts)
    events_with_too_many_mappings: int = 0

    @property
    def cut_off(self) -> dict[str, int]:
        """What limits have cut off, by name; empty where nothing was."""
        said = {
            "runs beyond the limit": self.counts.runs,
            "runs with too many mappings": self.counts.mappings,
            "events with too many mappings": self.events_with_too_many_mappings,
        }
        return {name: count for name, count in said.items() if count}


class Machine:
    """A plan with its knowledge; immutable but for memos."""

    def __init__(self, plan: Plan, knowledge: Knowledge | None = None) -> None:
        self.plan = plan
        knowledge = knowledge or Knowledge()
        self._matcher = GraphMatcher(plan, knowledge)
        self._stepper = Stepper(plan)
        self._projection = Projection(plan)
        self._streams = plan.streams
        self._within_us = plan.query.within_us
        self._open_us = 1 if plan.options.half_open else 0
        by = plan.query.partition_by
        self._partition_places = [gpm.kept.index(by.name) for gpm in plan.gpms] if by else None
        self._short_negation = len(plan.atoms) == 2 and self._stepper.ends_with_negation
        self.warnings = (
            *plan.warnings,
            *(
                f"GRAPH <{iri}> has no file: name one in knowledge:"
                for iri in plan.graphs
                if iri not in knowledge.known
            ),
        )

    def fresh(self) -> State:
        """The state before the first event."""
        return State(start_us=self.plan.options.start_us)

    def advance(self, state: State, events: Iterable[GraphEvent], until_us: int = ALWAYS_US) -> Read:
        """Take events, in any order, and read all instants up to `until_us`; the state is changed in place."""
        read = Read()
        for event in events:
            if event.stream not in self._streams:
                continue
            read.events += 1
            if len(event.text) > MOST_CHARACTERS:
                detail = f"more than {MOST_CHARACTERS:,} characters"
                read.rejected.append(Rejected(event.origin, "graph too large", detail))
            elif event.time_us <= state.until_us:
                read.rejected.append(
                    Rejected(event.origin, "late", f"its instant was read before it came: {event.stream}")
                )
            else:
                state.pending.append(event)
        state.pending.sort(key=lambda event: event.time_us)
        ready = _count_until(state.pending, until_us)
        due, state.pending = state.pending[:ready], state.pending[ready:]
        due = self._one_per_instant(due, read)
        letters = _Letters(self, state, read)
        for begin in range(0, len(due), MOST_EVENTS_AT_ONCE):
            letters.take(due[begin : begin + MOST_EVENTS_AT_ONCE])
        letters.end()
        state.until_us = max(state.until_us, min(until_us, ALWAYS_US - 1))
        if self._stepper.ends_with_negation:
            self._release(state, state.until_us, read)
        return read

    def _one_per_instant(self, due: list[GraphEvent], read: Read) -> list[GraphEvent]:
        """A stream has one graph at an instant: a second one is rejected, or merged where the option says so."""
        first: dict[tuple[int, str], int] = {}
        kept: list[GraphEvent] = []
        more: dict[int, list[str]] = {}
        for event in due:
            place = first.setdefault((event.time_us, event.stream), len(kept))
            if place == len(kept):
                kept.append(event)
            elif self.plan.options.merge_same_tau:
                more.setdefault(place, [kept[place].text]).append(event.text)
            else:
                detail = f"{event.stream} has a graph at this instant already"
                read.rejected.append(Rejected(event.origin, "second graph at one instant", detail))
        for place, texts in more.items():
            event = kept[place]
            kept[place] = GraphEvent(event.stream, event.time_us, "\n".join(sorted(texts)), event.origin)
        return kept

    def matched(self, events: Sequence[GraphEvent]) -> Matched:
        """The rows of all graph patterns in these events."""
        return self._matcher.matched(
            [event.stream for event in events],
            [event.text for event in events],
            [f"t{event.time_us}s{_number_of(event.stream)}" for event in events],
        )

    def letter(self, state: State, time_us: int, parts: Mapping[Key, Letter], read: Read) -> None:
        """Read one instant."""
        if state.start_us is None:
            state.start_us = time_us
        found: list[Found] = []
        if time_us > state.sweep_us:
            found += self._swept(state, time_us)
        windows = self._windows(state.start_us, time_us)
        for key, letter in parts.items():
            part = state.partitions.get(key)
            if part is None:
                if not letter:
                    continue
                part = state.partitions[key] = Partition()
            before = part.count()
            found += self._stepper.step(part, letter, time_us, windows, read.counts, MOST_RUNS - state.runs)
            after = part.count()
            state.runs += after - before
            if not after:
                del state.partitions[key]
        if found:
            read.results += self._projection.results(found)

    def _windows(self, start_us: int, time_us: int) -> list[tuple[int, int]]:
        """The windows that hold an instant: their numbers and last instants."""
        if self.plan.options.windows == "per_run":
            return [(0, time_us + self._within_us - self._open_us)]
        number, into = divmod(time_us - start_us, self._within_us)
        if number < 0:
            return []
        numbers = [number]
        if not into and number and not self._open_us:
            # a closed window shares its last instant with the next; what that instant alone completes is one result
            numbers = [number - 1] if self._short_negation else [number - 1, number]
        return [(n, start_us + (n + 1) * self._within_us - self._open_us) for n in numbers]

    def _swept(self, state: State, time_us: int) -> list[Found]:
        """Drop what has ended, and look again in half a window."""
        found = self._held(state, time_us)
        for key in list(state.partitions):
            part = state.partitions[key]
            for places in (part.waiting, part.repeating):
                for atom in list(places):
                    places[atom] = [run for run in places[atom] if run.deadline_us >= time_us]
                    if not places[atom]:
                        del places[atom]
            if not part.count():
                del state.partitions[key]
        state.runs = sum(part.count() for part in state.partitions.values())
        state.sweep_us = time_us + self._within_us // 2
        return found

    def _held(self, state: State, time_us: int) -> list[Found]:
        """Take out what a last `!` has held back until its window ended before `time_us`."""
        if not self._stepper.ends_with_negation:
            return []
        found: list[Found] = []
        last = self._stepper.last
        for part in state.partitions.values():
            ended = [run for run in (*part.passed, *part.waiting.get(last, ())) if run.deadline_us < time_us]
            found += [Found(run.last_us, run.trace, run.mappings) for run in ended]
            part.passed = [run for run in part.passed if run.deadline_us >= time_us]
            if last in part.waiting:
                part.waiting[last] = [run for run in part.waiting[last] if run.deadline_us >= time_us]
        return found

    def _release(self, state: State, until_us: int, read: Read) -> None:
        found = self._held(state, until_us + 1)
        if found:
            read.results += self._projection.results(found)

    def keyed(self, rows: Sequence[Row], gpm: int, key: Key) -> Sequence[Row]:
        """The rows of a graph pattern that belong to a partition."""
        if self._partition_places is None:
            return rows
        place = self._partition_places[gpm]
        return [row for row in rows if row[place] == key]

    @property
    def partitioned(self) -> bool:
        """Whether events belong to partitions."""
        return self._partition_places is not None


class _Letters:
    """Events in order of time, gathered into letters; a letter may span two chunks."""

    def __init__(self, machine: Machine, state: State, read: Read) -> None:
        self._machine = machine
        self._state = state
        self._read = read
        self._time_us = NEVER_US
        self._parts: dict[Key, dict[int, Sequence[Row]]] = {}

    def take(self, events: Sequence[GraphEvent]) -> None:
        matched = self._machine.matched(events)
        self._read.events_with_too_many_mappings += matched.too_many
        rows_of: list[list[tuple[int, list[Row]]]] = [[] for _ in events]
        for gpm, rows in enumerate(matched.rows):
            for place, mappings in rows.items():
                rows_of[place].append((gpm, mappings))
        partitioned = self._machine.partitioned
        for number, event in enumerate(events):
            if number in matched.faults:
                self._read.rejected.append(Rejected(event.origin, "malformed graph", matched.faults[number]))
                continue
            if event.time_us != self._time_us:
                self.end()
                self._time_us = event.time_us
            for key in matched.keys.get(number, ()) if partitioned else ("",):
                letter = self._parts.setdefault(key, {})
                for gpm, mappings in rows_of[number]:
                    kept = self._machine.keyed(mappings, gpm, key)
                    if kept:
                        letter[gpm] = kept

    def end(self) -> None:
        """Read the letter that is complete."""
        if self._time_us > NEVER_US:
            self._machine.letter(self._state, self._time_us, self._parts, self._read)
        self._time_us, self._parts = NEVER_US, {}


def _count_until(events: Sequence[GraphEvent], until_us: int) -> int:
    count = len(events)
    while count and events[count - 1].time_us > until_us:
        count -= 1
    return count


def _number_of(stream: str) -> str:
    """A short name of a stream that may stand in the name of a blank node."""
    return "".join(sign if sign.isalnum() and sign.isascii() else f"x{ord(sign):x}x" for sign in stream)


def runs_of(state: State) -> Iterable[Run]:
    """All runs under way."""
    for part in state.partitions.values():
        for runs in (*part.waiting.values(), *part.repeating.values(), part.passed):
            yield from runs
