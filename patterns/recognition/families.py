"""Pattern families in batches: the family kernel with its state carried, as `recogniser` does for plain patterns."""

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from foresail.patterns.compiler import CompiledPattern
from foresail.patterns.conditions.syntax import Condition
from foresail.patterns.errors import PatternError
from foresail.patterns.recognition.compilation import family_arrangement, family_kernel
from foresail.patterns.recognition.events import EventBatch, Keys
from foresail.patterns.recognition.expiry import not_yet_emitted, overdue
from foresail.patterns.recognition.family_kernel import FAR_MATCH, FINE
from foresail.patterns.recognition.family_states import FamilyStates, fresh_family_states
from foresail.patterns.recognition.forms import PartForm, RecogniserForm, form_of
from foresail.patterns.recognition.impossible import impossible_event
from foresail.patterns.recognition.matches import Matches, from_rows
from foresail.patterns.recognition.migration import blank_family, migrated_family
from foresail.patterns.recognition.protocol import Clock, LoadModel, Needs, Progress
from foresail.patterns.recognition.starts import run_words
from foresail.patterns.recognition.tables import plan, shared_conditions
from foresail.patterns.recognition.track_state import NO_RUN, TrackStates


class FarMatchError(PatternError):
    """A family would match for every feature of its layer, however far."""


class FamilyRecogniser:
    """All families over one layer in one pass: what holds far from every feature, and near some of them."""

    def __init__(
        self,
        patterns: Sequence[CompiledPattern],
        layer: str,
        conditions: Sequence[Condition] | None = None,
        updates: bool = True,
    ) -> None:
        self.layer = layer
        self.patterns = tuple(patterns)
        self.conditions = tuple(conditions) if conditions is not None else shared_conditions(self.patterns)
        self._plan = plan(self.patterns, self.conditions, updates)

    @property
    def words(self) -> int:
        """How many 64-bit words hold the conditions of one event."""
        return self._plan.words

    @property
    def needs(self) -> Needs:
        """Conditions, and which features of the layer an event is near."""
        return Needs(self.conditions, self.layer)

    @cached_property
    def form(self) -> PartForm:
        """What the states of this recogniser belong to."""
        return PartForm("families", self.layer, RecogniserForm(tuple(map(form_of, self.patterns))))

    def fresh(self, tracks: int, names: Keys = None) -> FamilyStates:  # noqa: ARG002
        """The state of tracks of which nothing has been read."""
        return fresh_family_states(tracks, len(self.patterns), self._plan.runs, run_words(self._plan))

    def rearranged(self, state: FamilyStates, rows: NDArray[np.int64], names: Keys = None) -> FamilyStates:  # noqa: ARG002
        """A state whose track i is track `rows[i]` of `state`, or fresh where that is negative."""
        arranged: FamilyStates = family_arrangement()(state, rows)
        return arranged

    def advance(self, events: EventBatch, state: FamilyStates) -> tuple[Matches, FamilyStates]:
        """The matches that the events complete and the state after them."""
        own = events.layers[self.layer]
        near = own.near
        after, found, code, event = family_kernel()(
            self._plan.tables, own.words, events.times, events.first_of, near.at, near.feature, near.words, state
        )
        if code == FAR_MATCH:
            msg = (
                f"{', '.join(p.name for p in self.patterns)}: a match was found far from every feature, so it would be "
                "reported for each of them. Add a condition that needs the feature to be near."
            )
            raise FarMatchError(msg)
        if code != FINE:
            raise impossible_event(self._plan, own.words, event)
        return from_rows(found.rows, np.arange(len(self.patterns), dtype=np.int32), found.feature), after

    def joining(self, progress: Progress) -> FamilyStates:
        """The state of tracks that others have read so far."""
        return blank_family(self.form.recognised, progress)

    def migrated(self, state: FamilyStates, before: PartForm, load: LoadModel | None = None) -> FamilyStates:  # noqa: ARG002
        """The state of tracks that families of the form `before` have read, as these go on with it."""
        return migrated_family(state, before.recognised, self.form.recognised)

    def expired(self, state: FamilyStates, clock: Clock, touched: NDArray[np.bool_]) -> Matches:
        """A row `timed_out` for each open episode that ran out; the column `event` is the track's row in `state`."""
        tracks = np.repeat(np.arange(len(state.rows_at) - 1), np.diff(state.rows_at))
        filled = int(state.rows_at[-1])
        states = TrackStates(**{name: getattr(state.states, name)[:filled] for name in TrackStates._fields})
        numbers = np.arange(len(self.patterns), dtype=np.int32)
        found = overdue(self.patterns, states, numbers, clock, touched[tracks], state.feature[:filled])
        return replace(found, event=tracks[found.event].astype(np.int64))

    def not_yet_emitted(
        self, results: Matches, events: EventBatch, last_time: NDArray[np.int64], until: NDArray[np.int64]
    ) -> Matches:
        """`results` without what a clock has emitted."""
        return not_yet_emitted(results, self.patterns, events, last_time, until)

    def runs(self, state: FamilyStates) -> int:
        """How many runs are under way."""
        return int((state.states.start_index[: int(state.rows_at[-1])] != NO_RUN).sum())
