"""Tracks handed from one recogniser to another while they are under way: a catalog changes, its other patterns do not.

A pattern that both know, unchanged, goes on with its runs and episodes. One that is new or changed begins afresh: runs
of an older version end without a word, because what they had gathered may mean something else now.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from patterns.compiler import CompiledPattern
from patterns.recognition.families import FamilyRecogniser
from patterns.recognition.family_states import FamilyStates
from patterns.recognition.recogniser import Recogniser, RecogniserState
from patterns.recognition.starts import Begun, run_words
from patterns.recognition.tables import NEVER, Plan
from patterns.recognition.track_state import TrackStates, fresh_states

_PER_PATTERN = (
    "states",
    "episode",
    "episode_start_index",
    "episode_start_time",
    "episode_first_start_time",
    "episode_first_time",
    "episode_first_tie",
    "episode_last_index",
    "episode_last_time",
)
_PER_RUN = ("start_index", "start_time", "first_start_time")
_PER_TRACK = ("seen", "last_time", "tie")


def same_pattern(one: CompiledPattern, other: CompiledPattern) -> bool:
    """Whether two patterns are one and the same, so that one can go on where the other stands."""
    return one.name == other.name and _said(one) == _said(other)


def _said(pattern: CompiledPattern) -> tuple[object, ...]:
    """All that decides how a pattern runs; where its texts stand does not."""
    spec = pattern.spec
    texts = (spec.pattern.text, tuple((text.name, text.text) for text in spec.where))
    rules = (spec.window_us, spec.window_events, spec.max_gap_us, spec.after_match, spec.output, spec.report)
    return (spec.version, texts, sorted(spec.parameters.items()), rules, spec.min_dwell_us, spec.limit, spec.family)


def adopted(state: RecogniserState, before: Recogniser, after: Recogniser) -> RecogniserState:
    """The state of tracks that `before` has read, as `after` goes on with it."""
    fresh = after.fresh(len(state.detecting.seen))
    detecting = _adopted_rows(state.detecting, before._plan, after._plan)
    counting = list(fresh.counting)
    for place, number in enumerate(after._counting):
        for old_place, old_number in enumerate(before._counting):
            if same_pattern(before.patterns[old_number], after.patterns[number]):
                counting[place] = state.counting[old_place]
    for sets in counting:  # a pattern that begins now still counts events from the track's first
        sets.seen[:], sets.last_time[:], sets.tie[:] = detecting.seen, detecting.last_time, detecting.tie
    return RecogniserState(detecting, _adopted_starts(state.begun, before._plan, after._plan), tuple(counting))


def adopted_family(state: FamilyStates, before: FamilyRecogniser, after: FamilyRecogniser) -> FamilyStates:
    """The state of tracks that the families of `before` have read, as those of `after` go on with it."""
    filled = int(state.rows_at[-1])
    rows = TrackStates(**{name: getattr(state.states, name)[:filled] for name in TrackStates._fields})
    states, begun = _adopted_rows(rows, before._plan, after._plan), state.begun
    return FamilyStates(
        state.rows_at, state.feature[:filled], states, _adopted_starts(begun, before._plan, after._plan)
    )


def _adopted_rows(states: TrackStates, before: Plan, after: Plan) -> TrackStates:
    adopted_states = fresh_states(after, len(states.seen))
    for name in _PER_TRACK:
        getattr(adopted_states, name)[:] = getattr(states, name)
    for old, new in _kept(before.patterns, after.patterns):
        for name in _PER_PATTERN:
            getattr(adopted_states, name)[:, new] = getattr(states, name)[:, old]
        source, target = _runs(before, old), _runs(after, new)
        for name in _PER_RUN:
            getattr(adopted_states, name)[:, target] = getattr(states, name)[:, source]
    return adopted_states


def _adopted_starts(begun: Begun, before: Plan, after: Plan) -> Begun:
    """The starts of the patterns that go on, by their new numbers."""
    number = np.full(len(before.patterns), NEVER, dtype=np.int32)
    for old, new in _kept(before.patterns, after.patterns):
        number[old] = new
    pattern = number[begun.pattern]
    row = np.repeat(np.arange(len(begun.rows_at) - 1), np.diff(begun.rows_at))
    order = np.lexsort((begun.index, pattern, row))
    taken = order[pattern[order] != NEVER]
    runs = np.zeros((len(taken), run_words(after)), dtype=np.uint64)
    shared = min(runs.shape[1], begun.runs.shape[1])  # what a pattern that goes on needs fits in both
    runs[:, :shared] = begun.runs[taken, :shared]
    rows_at = np.searchsorted(row[taken], np.arange(len(begun.rows_at)))
    return Begun(rows_at.astype(np.int64), pattern[taken], begun.time[taken], begun.index[taken], runs)


def _kept(before: Sequence[CompiledPattern], after: Sequence[CompiledPattern]) -> list[tuple[int, int]]:
    return [(old, new) for old, one in enumerate(before) for new, other in enumerate(after) if same_pattern(one, other)]


def _runs(plan: Plan, pattern: int) -> NDArray[np.int64]:
    return np.arange(plan.tables.runs_at[pattern], plan.tables.runs_at[pattern + 1])
