"""Why a pattern matched on a track, or did not: event by event what held, and where the automaton stood."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any

import numpy as np
from numpy.typing import NDArray

from foresail.models.automaton import distances, symbol_automaton
from foresail.patterns.automata.registers import RegisterAutomaton
from foresail.patterns.catalog.entry import PatternEntry
from foresail.patterns.compiler import CompiledPattern
from foresail.patterns.conditions import AttributeType, attributes_of
from foresail.patterns.conditions.evaluate import ArrayColumn, evaluate
from foresail.patterns.conditions.shortfall import Shortfall, shortfalls
from foresail.patterns.recognition import reference
from foresail.pipeline.local.remembered_explanation import RunsOfTrack, RunsStep, read_by
from foresail.pipeline.local.sorted_events import SortedEvents

IDLE, BEGAN, WENT_ON, MATCHED, DIED, LATE, SILENT = "idle", "began", "went on", "matched", "died", "too late", "silence"
NOT_YET = "not yet"
"""What an event did: nothing, begin a run, carry it on, complete a match, end it; or all was there but not within the
window; or a silence before it had ended the run. NOT_YET: a run waits on, a condition on what it remembers failed."""

MOST_ASKED = 1000
"""Of events on which the same conditions held, so many are asked at most how far off they were."""


@dataclass(frozen=True, slots=True)
class EventWhy:
    """One event as the pattern saw it."""

    index: int
    time: datetime
    values: Mapping[str, Any]
    holds: Mapping[str, bool]
    state: int
    """Where the automaton stood after it."""
    what: str
    missing: int | None
    """The least number of events that were still needed after it; None where none could help."""
    since: int | None
    """The event at which the oldest run that is under way began."""
    lacking: tuple[tuple[str, Shortfall], ...] = ()
    """Of an event that ended a run: the conditions that should have held, and by how much they did not."""
    registers: Mapping[str, int] = field(default_factory=dict)
    """The events that the registers held which those conditions read."""


@dataclass(frozen=True, slots=True)
class NearMiss:
    """Where the track came nearest to a match that it did not make."""

    event: int | None
    """The event that ended it, or that came nearest to begin one; None where the track itself ended it."""
    begun: int
    had: int
    missing: int
    how: str
    lacking: tuple[tuple[str, Shortfall], ...] = ()
    registers: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Explanation:
    """What became of one pattern on one track."""

    entry: PatternEntry
    compiled: CompiledPattern
    track: str
    instance: str | None
    needed: int
    """The least number of events of a match."""
    events: tuple[EventWhy, ...]
    matches: tuple[int, ...]
    """The events that completed a match."""
    nearest: NearMiss | None
    held: Mapping[str, int]
    """On how many events each condition held."""


def explain(
    entry: PatternEntry,
    pattern: CompiledPattern,
    events: SortedEvents,
    place: int,
    instance: str | None = None,
    metres: NDArray[np.float64] | None = None,
) -> Explanation:
    """The explanation for the track at `place`; of a family, with the distance of its events to one feature."""
    some = slice(int(events.first_of[place]), int(events.first_of[place + 1]))
    if pattern.memory is not None:
        return _explain_remembered(entry, pattern, pattern.memory, events, place)
    count = some.stop - some.start
    read = list(dict.fromkeys(a.key for condition in pattern.conditions for a in attributes_of(condition)))
    own = f"{pattern.spec.family}.distance_m" if pattern.spec.family else None
    columns = {name: events.taken(name, some) for name in read if name != own}
    if own:
        endless = np.full(count, np.inf)
        columns[own] = ArrayColumn(endless if metres is None else metres, None, AttributeType.NUMBER)
    held = np.array([evaluate(condition, columns, count) for condition in pattern.conditions]).reshape(-1, count)
    names = pattern.condition_names
    times = events.times[some]
    steps = _steps(pattern, held, times)
    whys = []
    for n, step in enumerate(steps):
        lacking = _lacking(pattern, step.before, held[:, n], columns, n) if step.what == DIED else ()
        whys.append(
            EventWhy(
                index=n + 1,
                time=datetime.fromtimestamp(int(times[n]) / 1e6, UTC),
                values={name: _value(column, n) for name, column in columns.items()},
                holds={name: bool(held[c, n]) for c, name in enumerate(names)},
                state=step.state,
                what=step.what,
                missing=step.missing if step.missing >= 0 else None,
                since=step.since,
                lacking=lacking,
            )
        )
    needed = int(distances(symbol_automaton(pattern))[0])
    nearest = _nearest(whys, steps, needed)
    if nearest is None and all(step.what == IDLE for step in steps):
        nearest = _nearest_start(pattern, held, columns, needed)
    return Explanation(
        entry, pattern, events.tracks[place].as_py(), instance, needed, tuple(whys),
        tuple(why.index for why in whys if why.what == MATCHED), nearest,
        {name: int(held[c].sum()) for c, name in enumerate(names)},
    )  # fmt: skip


def _explain_remembered(
    entry: PatternEntry, pattern: CompiledPattern, memory: RegisterAutomaton, events: SortedEvents, place: int
) -> Explanation:
    """The same for a pattern with registers: its runs are followed, each with what it remembers."""
    some = slice(int(events.first_of[place]), int(events.first_of[place + 1]))
    columns = {name: events.taken(name, some) for name in read_by(memory.asked, memory.registers)}
    times = events.times[some]
    track = RunsOfTrack(pattern, columns, times)
    names, needed = memory.names[: memory.read], track.distance[0]
    shown = [name for name in columns if name in {a.key for c in memory.asked for a in attributes_of(c)}]
    whys, misses = [], []
    held = dict.fromkeys(names, 0)
    for n in range(len(times)):
        step = track.step(n)
        what = _what_of(step)
        refusal = step.refusal if what in (NOT_YET, DIED) else None
        holds = {name: bool(track.own[c, n]) for c, name in enumerate(names) if memory.asked[c] not in memory.relations}
        held |= {name: held[name] + holds[name] for name in holds}
        best = step.matched or step.best
        whys.append(
            EventWhy(
                index=n + 1,
                time=datetime.fromtimestamp(int(times[n]) / 1e6, UTC),
                values={name: _value(columns[name], n) for name in shown},
                holds=holds,
                state=best.state if best else 0,
                what=what,
                missing=0 if step.matched else track.distance[best.state] if best else needed,
                since=None if best is None or best.start is None else best.start + 1,
                lacking=refusal.lacking if refusal else (),
                registers=refusal.held if refusal else {},
            )
        )
        misses += list(_missed(step, n + 1, track, needed))
    if whys and whys[-1].since is not None and whys[-1].what in (BEGAN, WENT_ON, NOT_YET):
        missing = whys[-1].missing or needed
        misses.append(((missing, 1.0, len(whys)), NearMiss(None, whys[-1].since, needed - missing, missing, "ended")))
    nearest = min(misses, key=lambda miss: miss[0])[1] if misses else None
    matches = tuple(why.index for why in whys if why.what == MATCHED)
    related = {name for name, condition in zip(names, memory.asked, strict=False) if condition in memory.relations}
    counts = {name: number for name, number in held.items() if name not in related}
    return Explanation(
        entry, pattern, events.tracks[place].as_py(), None, needed, tuple(whys), matches, nearest, counts
    )


def _what_of(step: RunsStep) -> str:
    """What an event did to the runs, in one word."""
    if step.matched is not None:
        return MATCHED
    if step.late is not None:
        return LATE
    if step.silent:
        return SILENT
    if step.best is None:
        return IDLE if step.best_before is None else DIED
    if step.refusal is not None and step.best_before is not None:
        return NOT_YET
    return BEGAN if step.best_before is None else WENT_ON


def _missed(
    step: RunsStep, index: int, track: RunsOfTrack, needed: int
) -> Iterator[tuple[tuple[float, float, int], NearMiss]]:
    """What an event kept from becoming a match, with how near it came."""
    if step.late is not None and step.late.start is not None and step.matched is None:
        yield (0, 0.0, index), NearMiss(index, step.late.start + 1, needed, 0, LATE)
    refusal = step.refusal
    if refusal is not None and refusal.run.start is not None:
        missing = track.distance[refusal.run.state]
        # a distance is told in shares of what is asked, so that metres and litres can be ranked
        scale = max((abs(one.limit or 0.0) for _, one in refusal.lacking), default=0.0) or 1.0
        miss = NearMiss(
            index, refusal.run.start + 1, max(needed - missing, 0), missing, DIED, refusal.lacking, refusal.held
        )
        yield (missing, refusal.off / scale, index), miss


@dataclass(frozen=True, slots=True)
class _Step:
    before: int
    state: int
    what: str
    missing_before: int
    missing: int
    since: int | None
    since_before: int | None


def _steps(pattern: CompiledPattern, held: NDArray[np.bool_], times: NDArray[np.int64]) -> list[_Step]:
    """Each event stepped by the plain evaluator, with what it did."""
    automaton = symbol_automaton(pattern)
    distance = distances(automaton)
    codes = pattern.alphabet.codes
    bits = (np.uint64(1) << np.arange(len(held), dtype=np.uint64))[:, None]
    words = (
        np.bitwise_or.reduce(held.astype(np.uint64) * bits, axis=0) if len(held) else np.zeros(len(times), np.uint64)
    )
    symbols = np.searchsorted(codes, words)
    record = reference.TrackRecord()
    found: list[_Step] = []
    for symbol, time in zip(symbols.tolist(), times.tolist(), strict=True):
        before, since_before = record.state, _since(record)
        silent = _silent(pattern, record, time)
        findings = list(reference.step(pattern, record, reference.Event(symbol, time)))
        detected = any(finding.status not in ("closed", "timed_out") for finding in findings) or _in_episode(record)
        state, since = record.state, _since(record)
        reached = int(automaton.delta[0 if silent else before, symbol])
        missing_before, missing = int(distance[0 if silent else before]), int(distance[reached])
        if detected:
            what = MATCHED
        elif automaton.accepting[reached]:
            what = LATE
        elif silent and since_before is not None:
            what = SILENT
        elif since is None:
            what = DIED if since_before is not None else IDLE
        elif since_before is None or since > since_before:
            what = DIED if since_before is not None and 0 < missing_before <= missing else BEGAN
        else:
            what = WENT_ON if missing <= missing_before or missing_before == 0 else DIED
        lost = int(distance[before])
        found.append(_Step(before, state if not detected else reached, what, lost, missing, since, since_before))
    return found


def _in_episode(record: reference.TrackRecord) -> bool:
    """Whether the event was a detection of an episode that is not reported yet."""
    return record.episode is not None and record.episode.last_index == record.index


def _since(record: reference.TrackRecord) -> int | None:
    begun = [start[0] for start in record.starts.values() if start is not None]
    begun += [one[0] for some in record.begun.values() for one in some]
    return min(begun, default=None)


def _silent(pattern: CompiledPattern, record: reference.TrackRecord, time: int) -> bool:
    gap = pattern.spec.max_gap_us
    return gap is not None and record.time is not None and time - record.time > gap


def _lacking(
    pattern: CompiledPattern, before: int, held: NDArray[np.bool_], columns: Mapping[str, ArrayColumn], row: int
) -> tuple[tuple[str, Shortfall], ...]:
    """The fewest conditions that would have carried the run on had they been otherwise, and how far off they were."""
    automaton = symbol_automaton(pattern)
    distance = distances(automaton)
    nearer = [s for s, target in enumerate(automaton.delta[before]) if 0 <= distance[target] < max(distance[before], 1)]
    event = {name: _one(column, row) for name, column in columns.items()}
    best: tuple[tuple[int, float], tuple[tuple[str, Shortfall], ...]] | None = None
    for symbol in nearer:
        code = int(pattern.alphabet.codes[symbol])
        wrong = [c for c in range(len(held)) if bool(code >> c & 1) is not bool(held[c])]
        needed = [c for c in wrong if not held[c]] or wrong
        some = tuple(
            (pattern.condition_names[c], one)
            for c in needed
            for one in shortfalls(pattern.conditions[c], event, not held[c])
        )
        rank = (len(needed), sum(one.off for _, one in some))
        if some and (best is None or rank < best[0]):
            best = (rank, some)
    return best[1] if best else ()


def _one(column: ArrayColumn, row: int) -> ArrayColumn:
    valid = None if column.valid is None else column.valid[row : row + 1]
    return replace(column, values=column.values[row : row + 1], valid=valid)


def _nearest(whys: Sequence[EventWhy], steps: Sequence[_Step], needed: int) -> NearMiss | None:
    """Of all runs that came to nothing the one that lacked least."""
    found: list[tuple[tuple[float, float, int], NearMiss]] = []
    for why, step in zip(whys, steps, strict=True):
        if why.what not in (DIED, SILENT, LATE) or step.since_before is None:
            continue
        missing = 0 if why.what == LATE else step.missing_before
        if why.what == DIED and missing <= 0:
            continue  # the run had matched before
        had = max(needed - missing, 0)
        off = sum(one.off for _, one in why.lacking) if why.lacking else 0.0
        miss = NearMiss(why.index, step.since_before, had, missing, why.what, why.lacking)
        found.append(((missing, off, why.index), miss))
    if whys and steps[-1].what in (BEGAN, WENT_ON) and steps[-1].since is not None and steps[-1].missing > 0:
        last = steps[-1]
        miss = NearMiss(None, last.since or 1, max(needed - last.missing, 0), last.missing, "ended")
        found.append(((last.missing, 0.0, len(whys)), miss))
    return min(found, key=lambda some: some[0])[1] if found else None


def _nearest_start(
    pattern: CompiledPattern, held: NDArray[np.bool_], columns: Mapping[str, ArrayColumn], needed: int
) -> NearMiss | None:
    """Of a track on which nothing ever began the event that lacked least to begin it."""
    alike: dict[bytes, list[int]] = {}
    for n in range(held.shape[1]):
        alike.setdefault(held[:, n].tobytes(), []).append(n)
    found: list[tuple[tuple[int, float, int], NearMiss]] = []
    for events in alike.values():
        for n in events[:: -(-len(events) // MOST_ASKED)]:
            lacking = _lacking(pattern, 0, held[:, n], columns, n)
            rank = (len({name for name, _ in lacking}), sum(one.off for _, one in lacking), n)
            if lacking:
                found.append((rank, NearMiss(n + 1, n + 1, 0, needed, IDLE, lacking)))
    return min(found, key=lambda some: some[0])[1] if found else None


def _value(column: ArrayColumn, row: int) -> Any:
    if column.valid is not None and not column.valid[row]:
        return None
    value = column.values[row]
    if column.type is AttributeType.STRING and column.dictionary is not None:
        return column.dictionary[int(value)]
    if column.type is AttributeType.TIMESTAMP:
        return datetime.fromtimestamp(int(value) / 1e6, UTC)
    plain = value.item() if hasattr(value, "item") else value
    return None if isinstance(plain, float) and not np.isfinite(plain) else plain
