"""The detection kernel once more, in plain Python over the same automata: it tells where a run stands at each event.

One pattern, one track, one event at a time. It is a thousand times slower than the kernel and says the same: `why`
walks it, and tests compare the two.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from foresail.patterns.automata.deterministic import steps_by_class
from foresail.patterns.compiler import CompiledPattern
from foresail.patterns.spec import AfterMatch, Report


@dataclass(frozen=True, slots=True)
class Event:
    """One event as a pattern sees it: the symbol of its conditions, and when it was."""

    symbol: int
    time: int


@dataclass(frozen=True, slots=True)
class Finding:
    """A detection, or a change of an episode."""

    status: str
    index: int
    time: int
    start_time: int
    first_start_time: int


@dataclass(frozen=True, slots=True)
class Span:
    """When the latest and when the earliest of the matches began that end at an event."""

    start_time: int
    first_start_time: int


@dataclass(slots=True)
class Episode:
    """Consecutive detections; reported once they have lasted long enough."""

    began: Span
    last_index: int
    last_time: int
    reported: bool = False


@dataclass(slots=True)
class TrackRecord:
    """What is remembered of one track: the automaton's state and the latest start of the runs in each run state."""

    state: int = 0
    starts: dict[int, tuple[int, int] | None] = field(default_factory=dict)
    """Run state to (index, time) of the first marked event; None while nothing is marked."""
    begun: dict[int, set[tuple[int, int]]] = field(default_factory=dict)
    """Run state to all such starts that may count; without a window the earliest is enough."""
    index: int = 0
    time: int | None = None
    episode: Episode | None = None


def recognise(pattern: CompiledPattern, events: Iterable[Event]) -> Iterator[Finding]:
    """All findings of `pattern` on one track, in the order in which they are made."""
    track = TrackRecord()
    for event in events:
        yield from step(pattern, track, event)


def step(pattern: CompiledPattern, track: TrackRecord, event: Event) -> Iterator[Finding]:
    """Read one event."""
    gap = 0 if track.time is None else event.time - track.time
    track.index += 1
    track.time = event.time
    if pattern.spec.max_gap_us is not None and gap > pattern.spec.max_gap_us:
        track.state, track.starts, track.begun = 0, {}, {}
        yield from _end_episode(track, "timed_out")
    column = int(pattern.classes[event.symbol])
    track.state = int(pattern.automaton.delta[track.state, column])
    span = _advance_runs(pattern, track, column)
    assert (
        pattern.spec.window_us
        or pattern.spec.window_events
        or ((span is not None) == bool(pattern.automaton.accepting[track.state]))
    ), "without a window, the runs and the automaton detect the same"
    if span is None:
        yield from _end_episode(track, "closed")
        return
    if pattern.spec.report is Report.EPISODES:
        yield from _extend_episode(pattern, track, span)
    else:
        yield Finding("detected", track.index, event.time, span.start_time, span.first_start_time)
    if pattern.spec.after_match is AfterMatch.RESTART:
        track.state, track.starts, track.begun = 0, {}, {}


def _advance_runs(pattern: CompiledPattern, track: TrackRecord, column: int) -> Span | None:
    """Step every run; when the latest and the earliest match began that end here."""
    assert track.time is not None
    steps = steps_by_class(pattern.nfa, pattern.classes)
    after: dict[int, tuple[int, int] | None] = {}
    best: tuple[int, int] | None = None
    begun_after: dict[int, set[tuple[int, int]]] = {}
    complete: set[tuple[int, int]] = set()
    for source, start in [(0, None), *track.starts.items()]:
        if start is not None and _expired(pattern, track, start):
            continue
        earlier = {one for one in track.begun.get(source, ()) if not _expired(pattern, track, one)}
        for taken in steps[source][column]:
            begun = (track.index, track.time) if start is None and taken.marked else start
            if taken.target not in after or _later(begun, after[taken.target]):
                after[taken.target] = begun
            here = earlier | ({begun} if begun is not None else set())
            begun_after.setdefault(taken.target, set()).update(here)
            if taken.marked and taken.target in pattern.nfa.finals:
                complete |= here
            if taken.marked and taken.target in pattern.nfa.finals and (best is None or _later(begun, best)):
                best = begun
    windowed = pattern.spec.window_us or pattern.spec.window_events
    track.starts = after
    track.begun = {run: some if windowed else {min(some)} for run, some in begun_after.items() if some}
    return None if best is None else Span(best[1], min(complete)[1])


def _expired(pattern: CompiledPattern, track: TrackRecord, start: tuple[int, int]) -> bool:
    assert track.time is not None
    spec = pattern.spec
    if spec.window_us is not None and track.time - start[1] > spec.window_us:
        return True
    return spec.window_events is not None and track.index - start[0] >= spec.window_events


def _later(one: tuple[int, int] | None, other: tuple[int, int] | None) -> bool:
    """A run that has marked nothing yet begins later than any that has."""
    if one is None or other is None:
        return one is None and other is not None
    return one > other


def _extend_episode(pattern: CompiledPattern, track: TrackRecord, span: Span) -> Iterator[Finding]:
    assert track.time is not None
    if track.episode is None:
        track.episode = Episode(span, track.index, track.time)
    episode = track.episode
    episode.last_index, episode.last_time = track.index, track.time
    began = episode.began
    if track.time - began.start_time >= pattern.spec.min_dwell_us:
        status = "updated" if episode.reported else "opened"
        episode.reported = True
        yield Finding(status, track.index, track.time, began.start_time, began.first_start_time)


def _end_episode(track: TrackRecord, status: str) -> Iterator[Finding]:
    episode, track.episode = track.episode, None
    if episode is not None and episode.reported:
        began = episode.began
        yield Finding(status, episode.last_index, episode.last_time, began.start_time, began.first_start_time)
