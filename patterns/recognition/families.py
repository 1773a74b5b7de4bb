"""Pattern families in batches: the family kernel with its state carried, as `recogniser` does for plain patterns."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from foresail.patterns.compiler import CompiledPattern
from foresail.patterns.conditions.syntax import Condition
from foresail.patterns.errors import PatternError
from foresail.patterns.recognition.compilation import family_arrangement, family_kernel
from foresail.patterns.recognition.family_kernel import FAR_MATCH, FINE
from foresail.patterns.recognition.family_states import FamilyStates, fresh_family_states
from foresail.patterns.recognition.forms import RecogniserForm, form_of
from foresail.patterns.recognition.impossible import impossible_event
from foresail.patterns.recognition.matches import Matches, from_rows
from foresail.patterns.recognition.recogniser import Batch
from foresail.patterns.recognition.starts import run_words
from foresail.patterns.recognition.tables import plan, shared_conditions


class FarMatchError(PatternError):
    """A family would match for every feature of its layer, however far."""


@dataclass(frozen=True, slots=True, eq=False)
class Near:
    """Which features each event is near, and the condition words that hold with respect to them."""

    at: NDArray[np.int64]
    """Event e is near the rows `at[e]..at[e + 1]`."""
    feature: NDArray[np.int32]
    words: NDArray[np.int64]


class FamilyRecogniser:
    """All families over one layer in one pass. The words of a `Batch` say what holds far from every feature."""

    def __init__(
        self, patterns: Sequence[CompiledPattern], conditions: Sequence[Condition] | None = None, updates: bool = True
    ) -> None:
        self.patterns = tuple(patterns)
        self.conditions = tuple(conditions) if conditions is not None else shared_conditions(self.patterns)
        self._plan = plan(self.patterns, self.conditions, updates)

    @property
    def words(self) -> int:
        """How many 64-bit words hold the conditions of one event."""
        return self._plan.words

    @cached_property
    def form(self) -> RecogniserForm:
        """What the states of this recogniser belong to."""
        return RecogniserForm(tuple(map(form_of, self.patterns)))

    def fresh(self, tracks: int) -> FamilyStates:
        """The state of tracks of which nothing has been read."""
        return fresh_family_states(tracks, len(self.patterns), self._plan.runs, run_words(self._plan))

    def rearranged(self, state: FamilyStates, rows: NDArray[np.int64]) -> FamilyStates:
        """A state whose track i is track `rows[i]` of `state`, or fresh where that is negative."""
        arranged: FamilyStates = family_arrangement()(state, rows)
        return arranged

    def advance(self, batch: Batch, near: Near, state: FamilyStates) -> tuple[Matches, FamilyStates]:
        """The matches that `batch` completes and the state after it."""
        after, found, code, event = family_kernel()(
            self._plan.tables, batch.words, batch.times, batch.first_of, near.at, near.feature, near.words, state
        )
        if code == FAR_MATCH:
            msg = (
                f"{', '.join(p.name for p in self.patterns)}: a match was found far from every feature, so it would be "
                "reported for each of them. Add a condition that needs the feature to be near."
            )
            raise FarMatchError(msg)
        if code != FINE:
            raise impossible_event(self._plan, batch.words, event)
        return from_rows(found.rows, np.arange(len(self.patterns), dtype=np.int32), found.feature), after
