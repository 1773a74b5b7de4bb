"""Batches of events in, matches out: the plan's kernels, with the state of each track carried from batch to batch.

A batch holds the events of several tracks, sorted by track and, within one, by time. Results depend on the events
of each track alone, never on how they were cut into batches or which other tracks came with them.
"""

from collections.abc import Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from foresail.patterns.compiler import CompiledPattern
from foresail.patterns.conditions.syntax import Condition
from foresail.patterns.recognition.compilation import (
    detection_kernel,
    more_starts,
    set_arrangement,
    set_kernel,
    start_queues,
    stored_starts,
)
from foresail.patterns.recognition.events import EventBatch, Keys
from foresail.patterns.recognition.expiry import not_yet_emitted, overdue
from foresail.patterns.recognition.forms import PartForm, RecogniserForm, form_of
from foresail.patterns.recognition.impossible import impossible_event
from foresail.patterns.recognition.joining import RecogniserState
from foresail.patterns.recognition.joint import class_of_event, fresh_joint
from foresail.patterns.recognition.kernel import BAD_EVENT, DONE, ROWS_FULL
from foresail.patterns.recognition.matches import Matches, from_detections, from_rows, joined
from foresail.patterns.recognition.migration import blank, migrated
from foresail.patterns.recognition.protocol import Clock, LoadModel, Needs, Progress
from foresail.patterns.recognition.rows import fresh_rows
from foresail.patterns.recognition.runs import fresh_scratch
from foresail.patterns.recognition.sets import Rules, SetStates, fresh_set_states
from foresail.patterns.recognition.starts import Begun, nothing_begun, rearranged_starts, run_words
from foresail.patterns.recognition.tables import NEVER, plan, shared_conditions
from foresail.patterns.recognition.track_state import (
    NO_RUN,
    TrackStates,
    copied_states,
    fresh_states,
    rearranged_states,
)
from foresail.patterns.spec import AfterMatch, Output

_ROWS_PER_CALL = 1 << 17


class PatternRecogniser:
    """All patterns of a catalog in one pass. The plan is immutable; the joint automaton is only a memo.

    Without `updates`, an episode is emitted when it opens and when it ends, not at each detection in between.
    """

    def __init__(
        self, patterns: Sequence[CompiledPattern], conditions: Sequence[Condition] | None = None, updates: bool = True
    ) -> None:
        self.patterns = tuple(patterns)
        self.conditions = tuple(conditions) if conditions is not None else shared_conditions(self.patterns)
        self._detecting = [n for n, p in enumerate(patterns) if p.spec.output is Output.DETECT]
        self._counting = [n for n, p in enumerate(patterns) if p.spec.output is not Output.DETECT]
        self._plan = plan([patterns[n] for n in self._detecting], self.conditions, updates)
        self._counting_plan = plan([patterns[n] for n in self._counting], self.conditions)
        self._joint = fresh_joint(self._plan)
        self._scratch = fresh_scratch(self._plan)

    @property
    def words(self) -> int:
        """How many 64-bit words hold the conditions of one event."""
        return self._plan.words

    @property
    def needs(self) -> Needs:
        """Conditions alone."""
        return Needs(self.conditions)

    @cached_property
    def form(self) -> PartForm:
        """What the states of this recogniser belong to."""
        detecting, counting = (
            tuple(form_of(self.patterns[n]) for n in numbers) for numbers in (self._detecting, self._counting)
        )
        return PartForm("patterns", recognised=RecogniserForm(detecting, counting))

    def fresh(self, tracks: int, names: Keys = None) -> RecogniserState:  # noqa: ARG002
        """The state of tracks of which nothing has been read."""
        return RecogniserState(
            fresh_states(self._plan, tracks),
            nothing_begun(run_words(self._plan), tracks),
            tuple(fresh_set_states(tracks) for _ in self._counting),
        )

    def rearranged(
        self,
        state: RecogniserState,
        rows: NDArray[np.int64],
        names: Keys = None,  # noqa: ARG002
    ) -> RecogniserState:
        """A state whose row i is row `rows[i]` of `state`, or fresh where that is negative."""
        return RecogniserState(
            rearranged_states(state.detecting, rows, self._plan),
            rearranged_starts(state.begun, rows),
            tuple(set_arrangement()(sets, rows) for sets in state.counting),
        )

    def advance(self, batch: EventBatch, state: RecogniserState) -> tuple[Matches, RecogniserState]:
        """The matches that `batch` completes and the state after it; `state` has one row per track of the batch."""
        detecting = copied_states(state.detecting)
        found, begun = self._detections(batch, detecting, state.begun)
        counting = []
        for which, saved in enumerate(state.counting):
            matches, after = self._counted(which, batch, saved)
            found.append(matches)
            counting.append(after)
        return joined(found), RecogniserState(detecting, begun, tuple(counting))

    def joining(self, progress: Progress) -> RecogniserState:
        """The state of tracks that others have read so far."""
        state = blank(self.form.recognised, progress)
        return migrated(state, self.form.recognised, self.form.recognised)

    def migrated(self, state: RecogniserState, before: PartForm, load: LoadModel | None = None) -> RecogniserState:  # noqa: ARG002
        """The state of tracks that a recogniser of the form `before` has read, as this one goes on with it."""
        return migrated(state, before.recognised, self.form.recognised)

    def expired(self, state: RecogniserState, clock: Clock, touched: NDArray[np.bool_]) -> Matches:
        """A row `timed_out` for each open episode that ran out; the column `event` is the track's row in `state`."""
        numbers = np.array(self._detecting, dtype=np.int32)
        return overdue([self.patterns[n] for n in self._detecting], state.detecting, numbers, clock, touched)

    def not_yet_emitted(
        self, results: Matches, events: EventBatch, last_time: NDArray[np.int64], until: NDArray[np.int64]
    ) -> Matches:
        """`results` without what a clock has emitted."""
        return not_yet_emitted(results, self.patterns, events, last_time, until)

    def runs(self, state: RecogniserState) -> int:
        """How many runs are under way."""
        counted = sum(int(sets.configurations_at[-1]) for sets in state.counting)
        return int((state.detecting.start_index != NO_RUN).sum()) + counted

    def _detections(self, batch: EventBatch, states: TrackStates, begun: Begun) -> tuple[list[Matches], Begun]:
        """What is detected, and the starts in their windows after it; `states` is brought up to date."""
        found: list[Matches] = []
        queues = start_queues()(begun, batch.key_count, len(self._detecting))
        slots = np.repeat(np.arange(batch.key_count, dtype=np.int32), np.diff(batch.first_of))
        position, code = 0, ROWS_FULL
        while code != DONE:
            rows = fresh_rows(_ROWS_PER_CALL + 2 * len(self.patterns))
            queues = more_starts()(queues, 0, len(self._detecting))
            scratch = self._scratch._replace(queues=queues)
            position, code = detection_kernel()(
                self._plan.tables, self._joint, batch.words, batch.times, slots, states, rows, scratch, position
            )
            if code == BAD_EVENT:
                raise impossible_event(self._plan, batch.words, position)
            found.append(from_rows(rows, np.array(self._detecting, dtype=np.int32)))
        return found, stored_starts()(queues, batch.key_count)

    def _counted(self, which: int, batch: EventBatch, state: SetStates) -> tuple[Matches, SetStates]:
        pattern = self.patterns[self._counting[which]]
        columns = self._columns(which, batch)
        after, found, listing = set_kernel()(_rules(pattern), columns, batch.times, batch.first_of, state)
        return from_detections(found, listing, self._counting[which], pattern), after

    def _columns(self, which: int, batch: EventBatch) -> NDArray[np.int32]:
        """The class of each event for one pattern, found once per distinct combination of condition bits."""
        distinct, inverse = np.unique(batch.words, axis=0, return_inverse=True)
        classes = np.array(
            [class_of_event(self._counting_plan.tables, which, distinct, n) for n in range(len(distinct))],
            dtype=np.int32,
        )
        if (classes < 0).any():
            raise impossible_event(self._counting_plan, distinct, int(np.argmax(classes < 0)))
        return classes[inverse.reshape(-1)] if len(distinct) else np.empty(0, dtype=np.int32)


def _rules(pattern: CompiledPattern) -> Rules:
    assert pattern.marking is not None, "the compiler makes a marking automaton for every counted pattern"
    spec = pattern.spec
    return Rules(
        pattern.marking.delta,
        pattern.marking.accepting,
        NEVER if spec.window_us is None else spec.window_us,
        NEVER if spec.window_events is None else spec.window_events,
        NEVER if spec.max_gap_us is None else spec.max_gap_us,
        spec.after_match is AfterMatch.RESTART,
        spec.output is Output.ENUMERATE,
        spec.limit,
    )
