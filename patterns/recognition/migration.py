"""Tracks handed from one recogniser to another while they are under way: a catalog changes, its other patterns do not.

Of the one before only its form is needed, not the patterns themselves: it may have run in a process long gone.

A pattern that both know, unchanged, goes on with its runs and episodes. One that is new or changed begins afresh: runs
of an older version end without a word, because what they had gathered may mean something else now.
"""

from collections.abc import Sequence

import numpy as np

from foresail.patterns.recognition.family_states import FamilyStates
from foresail.patterns.recognition.forms import RecogniserForm
from foresail.patterns.recognition.joining import RecogniserState
from foresail.patterns.recognition.protocol import Progress, State
from foresail.patterns.recognition.register_state import RegisterState, Widths, fresh_register_state
from foresail.patterns.recognition.sets import fresh_set_states
from foresail.patterns.recognition.starts import Begun, nothing_begun, words_for
from foresail.patterns.recognition.tables import NEVER
from foresail.patterns.recognition.track_state import TrackStates, fresh_states

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


def progress_of(parts: Sequence[State]) -> Progress:
    """How far the keys of these states have been read."""
    for state in parts:
        if isinstance(state, RecogniserState):
            return Progress(*(getattr(state.detecting, name) for name in Progress._fields))
        if isinstance(state, RegisterState):
            return Progress(state.seen, state.last_time, state.tie)
        if isinstance(state, FamilyStates):
            far, some = state.rows_at[:-1], np.diff(state.rows_at) > 0
            whole = Progress(*(np.zeros(len(far), dtype=np.int64) for _ in Progress._fields))
            for name in Progress._fields:
                getattr(whole, name)[some] = getattr(state.states, name)[far[some]]
            return whole
    return Progress(*(np.empty(0, dtype=np.int64) for _ in Progress._fields))


def blank(form: RecogniserForm, progress: Progress) -> RecogniserState:
    """The state of patterns of that form that begin with keys which others have read so far."""
    keys = len(progress.seen)
    detecting = fresh_states(form, keys)._replace(**progress._asdict())
    begun = nothing_begun(words_for(form.most_runs), keys)
    return RecogniserState(detecting, begun, tuple(fresh_set_states(keys) for _ in form.counting))


def blank_family(form: RecogniserForm, progress: Progress) -> FamilyStates:
    """The same for families."""
    keys = len(progress.seen)
    states = fresh_states(form, keys)._replace(**progress._asdict())
    far = np.full(keys, -1, dtype=np.int32)
    return FamilyStates(
        np.arange(keys + 1, dtype=np.int64), far, states, nothing_begun(words_for(form.most_runs), keys)
    )


def blank_memory(form: RecogniserForm, progress: Progress) -> RegisterState:
    """The same for patterns with registers."""
    widths = [Widths(*pattern.widths) for pattern in form.patterns]
    return fresh_register_state(widths, len(progress.seen))._replace(**progress._asdict())


def migrated_memory(state: RegisterState, before: RecogniserForm, after: RecogniserForm) -> RegisterState:
    """The state of tracks that patterns with registers of the form `before` have read, as those of `after` go on."""
    fresh = blank_memory(after, Progress(state.seen, state.last_time, state.tie))
    kept = [
        state.patterns[before.patterns.index(form)] if form in before.patterns else new
        for form, new in zip(after.patterns, fresh.patterns, strict=True)
    ]
    return fresh._replace(patterns=tuple(kept))


def migrated(state: RecogniserState, before: RecogniserForm, after: RecogniserForm) -> RecogniserState:
    """The state of tracks that a recogniser of the form `before` has read, as one of the form `after` goes on."""
    detecting = _migrated_rows(state.detecting, before, after)
    counting = [fresh_set_states(len(detecting.seen)) for _ in after.counting]
    for new, form in enumerate(after.counting):
        if form in before.counting:
            counting[new] = state.counting[before.counting.index(form)]
    for sets in counting:  # a pattern that begins now still counts events from the track's first
        sets.seen[:], sets.last_time[:], sets.tie[:] = detecting.seen, detecting.last_time, detecting.tie
    return RecogniserState(detecting, _migrated_starts(state.begun, before, after), tuple(counting))


def migrated_family(state: FamilyStates, before: RecogniserForm, after: RecogniserForm) -> FamilyStates:
    """The state of tracks that families of the form `before` have read, as those of the form `after` go on with it."""
    filled = int(state.rows_at[-1])
    rows = TrackStates(**{name: getattr(state.states, name)[:filled] for name in TrackStates._fields})
    states, begun = _migrated_rows(rows, before, after), _migrated_starts(state.begun, before, after)
    return FamilyStates(state.rows_at, state.feature[:filled], states, begun)


def _migrated_rows(states: TrackStates, before: RecogniserForm, after: RecogniserForm) -> TrackStates:
    migrated_states = fresh_states(after, len(states.seen))
    for name in _PER_TRACK:
        getattr(migrated_states, name)[:] = getattr(states, name)
    for new, form in enumerate(after.patterns):
        if form not in before.patterns:
            continue
        old = before.patterns.index(form)
        for name in _PER_PATTERN:
            getattr(migrated_states, name)[:, new] = getattr(states, name)[:, old]
        source, target = before.runs_of(old), after.runs_of(new)
        for name in _PER_RUN:
            getattr(migrated_states, name)[:, target] = getattr(states, name)[:, source]
    return migrated_states


def _migrated_starts(begun: Begun, before: RecogniserForm, after: RecogniserForm) -> Begun:
    """The starts of the patterns that go on, by their new numbers."""
    number = np.full(len(before.patterns), NEVER, dtype=np.int32)
    for new, form in enumerate(after.patterns):
        if form in before.patterns:
            number[before.patterns.index(form)] = new
    pattern = number[begun.pattern]
    row = np.repeat(np.arange(len(begun.rows_at) - 1), np.diff(begun.rows_at))
    order = np.lexsort((begun.index, pattern, row))
    taken = order[pattern[order] != NEVER]
    runs = np.zeros((len(taken), words_for(after.most_runs)), dtype=np.uint64)
    shared = min(runs.shape[1], begun.runs.shape[1])  # what a pattern that goes on needs fits in both
    runs[:, :shared] = begun.runs[taken, :shared]
    rows_at = np.searchsorted(row[taken], np.arange(len(begun.rows_at)))
    return Begun(rows_at.astype(np.int64), pattern[taken], begun.time[taken], begun.index[taken], runs)
