"""All patterns of a catalog as flat arrays: what the kernels read, and nothing they write.

Pattern p owns the ranges that the `*_at` arrays give it. Conditions are numbered over the whole catalog, so that each
is evaluated once per event however many patterns name it.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from foresail.patterns.automata.deterministic import steps_by_class
from foresail.patterns.automata.nondeterministic import Transition, unmarked_runs
from foresail.patterns.compiler import CompiledPattern
from foresail.patterns.conditions.packing import words_for
from foresail.patterns.conditions.syntax import Condition
from foresail.patterns.conditions.text import text_of
from foresail.patterns.recognition.fixpoint import NO_FIXPOINT, events_to_fixpoint
from foresail.patterns.spec import AfterMatch, Report

NEVER = -1
MOST_TRACKED_RUNS = 16


class Tables(NamedTuple):
    """The arrays of all patterns; a NamedTuple because kernels take it whole."""

    bits: NDArray[np.int32]
    """Per pattern the numbers of its conditions among all conditions."""
    bits_at: NDArray[np.int64]
    codes: NDArray[np.uint64]
    """Per pattern its minterms, sorted; the position of one is its symbol."""
    codes_at: NDArray[np.int64]
    class_of: NDArray[np.int32]
    """For each symbol its class, at the same places as `codes`."""
    delta: NDArray[np.int32]
    delta_at: NDArray[np.int64]
    classes: NDArray[np.int64]
    states_at: NDArray[np.int64]
    accepting: NDArray[np.uint8]
    """Whether a state tells of a match, at the places of `states_at`."""
    tracked: NDArray[np.uint8]
    """Whether every run is followed to know its start; otherwise the start is where the pattern got under way."""
    steps: NDArray[np.int64]
    """For each pattern and class the range of its steps: `steps[i]..steps[i + 1]`, i = steps_at[p] + class."""
    steps_at: NDArray[np.int64]
    settles: NDArray[np.int64]
    """At the places of `steps`: after how many events of that class in a row the pattern's runs have settled."""
    step_source: NDArray[np.int32]
    step_target: NDArray[np.int32]
    step_marked: NDArray[np.uint8]
    step_final: NDArray[np.uint8]
    runs_at: NDArray[np.int64]
    """Where the run states of each pattern lie in a track's arrays of starts."""
    windowed: NDArray[np.uint8]
    """Whether a pattern has a window, and so a queue of starts."""
    window_us: NDArray[np.int64]
    window_events: NDArray[np.int64]
    max_gap_us: NDArray[np.int64]
    gap_levels: NDArray[np.int64]
    """The distinct `max_gap_us` in ascending order."""
    restart: NDArray[np.uint8]
    episodes: NDArray[np.uint8]
    min_dwell_us: NDArray[np.int64]
    updates: NDArray[np.uint8]
    """Whether an open episode is emitted again at each further detection."""


@dataclass(frozen=True, slots=True)
class Plan:
    """The patterns that one pass runs, the conditions it needs, and their tables."""

    patterns: tuple[CompiledPattern, ...]
    conditions: tuple[Condition, ...]
    tables: Tables

    @property
    def words(self) -> int:
        """How many 64-bit words hold the conditions of one event."""
        return words_for(len(self.conditions))

    @property
    def runs(self) -> int:
        """How many run states a track has over all patterns."""
        return int(self.tables.runs_at[-1])


def plan(
    patterns: Sequence[CompiledPattern], conditions: Sequence[Condition] | None = None, updates: bool = True
) -> Plan:
    """The tables of `patterns`, over their own conditions or over a longer list that several passes share."""
    shared = tuple(conditions) if conditions is not None else shared_conditions(patterns)
    number = {text_of(condition): n for n, condition in enumerate(shared)}
    return Plan(tuple(patterns), shared, _tables(patterns, number, updates))


def shared_conditions(patterns: Sequence[CompiledPattern]) -> tuple[Condition, ...]:
    """Every condition that some pattern needs, once."""
    return tuple({text_of(condition): condition for pattern in patterns for condition in pattern.conditions}.values())


def _tables(patterns: Sequence[CompiledPattern], number: dict[str, int], updates: bool) -> Tables:
    steps = _steps(patterns)
    gaps = np.array([NEVER if p.spec.max_gap_us is None else p.spec.max_gap_us for p in patterns], dtype=np.int64)
    return Tables(
        bits=_joined([[number[text_of(c)] for c in p.conditions] for p in patterns], np.int32),
        bits_at=_offsets([len(p.conditions) for p in patterns]),
        codes=_joined([p.alphabet.codes for p in patterns], np.uint64),
        codes_at=_offsets([len(p.alphabet.codes) for p in patterns]),
        class_of=_joined([p.classes for p in patterns], np.int32),
        delta=_joined([_with_restart(p.watching.delta).ravel() for p in patterns], np.int32),
        delta_at=_offsets([(p.watching.states + 1) * p.watching.delta.shape[1] for p in patterns]),
        classes=np.array([p.watching.delta.shape[1] for p in patterns], dtype=np.int64),
        states_at=_offsets([p.watching.states + 1 for p in patterns]),
        accepting=_joined([np.append(p.watching.accepting, False) for p in patterns], np.uint8),
        tracked=np.array([_is_tracked(p) for p in patterns], dtype=np.uint8),
        steps=steps.ranges,
        steps_at=steps.at,
        settles=steps.settles,
        step_source=steps.source,
        step_target=steps.target,
        step_marked=steps.marked,
        step_final=steps.final,
        runs_at=_offsets([p.nfa.states if _is_tracked(p) else 1 for p in patterns]),
        windowed=np.array([_is_windowed(p) for p in patterns], dtype=np.uint8),
        window_us=_optional([p.spec.window_us for p in patterns]),
        window_events=_optional([p.spec.window_events for p in patterns]),
        max_gap_us=gaps,
        gap_levels=np.unique(gaps[gaps != NEVER]),
        restart=np.array([p.spec.after_match is AfterMatch.RESTART for p in patterns], dtype=np.uint8),
        episodes=np.array([p.spec.report is Report.EPISODES for p in patterns], dtype=np.uint8),
        min_dwell_us=np.array([p.spec.min_dwell_us for p in patterns], dtype=np.int64),
        updates=np.full(len(patterns), updates, dtype=np.uint8),
    )


def _settles(pattern: CompiledPattern, unmarked: frozenset[int], enabled: Sequence[Transition]) -> int:
    """A window makes every event count, and after a restart nothing is as it was before."""
    if _is_windowed(pattern) or pattern.spec.after_match is AfterMatch.RESTART:
        return NO_FIXPOINT
    return events_to_fixpoint(pattern.nfa.states, unmarked, enabled) if _is_tracked(pattern) else 1


def _is_tracked(pattern: CompiledPattern) -> bool:
    """Windows need every run's start; without one, following more runs than this would make long patterns slow."""
    return _is_windowed(pattern) or pattern.nfa.states <= MOST_TRACKED_RUNS


def _is_windowed(pattern: CompiledPattern) -> bool:
    return pattern.spec.window_us is not None or pattern.spec.window_events is not None


def _with_restart(delta: NDArray[np.int32]) -> NDArray[np.int32]:
    """One more state, `just matched, all runs dropped`: it steps like the start but is not idle."""
    return np.vstack([delta, delta[:1]])


class _Steps(NamedTuple):
    ranges: NDArray[np.int64]
    at: NDArray[np.int64]
    settles: NDArray[np.int64]
    source: NDArray[np.int32]
    target: NDArray[np.int32]
    marked: NDArray[np.uint8]
    final: NDArray[np.uint8]


def _steps(patterns: Sequence[CompiledPattern]) -> _Steps:
    ranges, starts, settles = [0], [], []
    taken: list[tuple[Transition, bool]] = []
    for pattern in patterns:
        starts.append(len(ranges) - 1)
        by_class = steps_by_class(pattern.nfa, pattern.classes)
        unmarked = unmarked_runs(pattern.nfa)
        for c in range(pattern.watching.delta.shape[1]):
            enabled = [t for state in by_class for t in state[c]]
            taken += [(t, t.target in pattern.nfa.finals) for t in enabled]
            ranges.append(len(taken))
            settles.append(_settles(pattern, unmarked, enabled))
    return _Steps(
        np.array(ranges, dtype=np.int64),
        np.array(starts, dtype=np.int64),
        np.array(settles, dtype=np.int64),
        np.array([t.source for t, _ in taken], dtype=np.int32),
        np.array([t.target for t, _ in taken], dtype=np.int32),
        np.array([t.marked for t, _ in taken], dtype=np.uint8),
        np.array([t.marked and final for t, final in taken], dtype=np.uint8),
    )


def _offsets(sizes: Sequence[int]) -> NDArray[np.int64]:
    return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)


def _joined(parts: Iterable[ArrayLike], dtype: type[np.generic]) -> NDArray[Any]:
    return np.concatenate([np.empty(0, dtype), *(np.asarray(part, dtype=dtype) for part in parts)])


def _optional(values: Sequence[int | None]) -> NDArray[np.int64]:
    return np.array([NEVER if value is None else value for value in values], dtype=np.int64)
