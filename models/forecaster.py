"""Batches of events in, forecasts out: one look-up per event and model, the state of each track carried.

The twin of `patterns.recognition.recogniser`: it reads the same words, and results depend on the events of each track
alone, never on how they were cut into batches.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from foresail.models.forecasts import NO_FEATURE, Forecasts, fresh_rows, positions
from foresail.models.kernels.compilation import emission_kernel, following_kernel
from foresail.models.kernels.forecast import NO_GAP, Histories
from foresail.models.migration import Followed, ModelsBefore, migrated_rows, predecessors
from foresail.models.reader import EMISSIONS, ModelReader
from foresail.patterns.recognition.events import EventBatch, Keys
from foresail.patterns.recognition.forms import PartForm
from foresail.patterns.recognition.protocol import LoadModel, Progress


class ForecasterState(NamedTuple):
    """One row per track, ready to be saved as it is."""

    seen: NDArray[np.int64]
    """Events read so far."""
    last_time: NDArray[np.int64]
    chain: NDArray[np.int32]
    """Per model the chain state, in the numbers of its stack."""
    length: NDArray[np.uint8]
    """Per model how many symbols of history there are, at most its `max_order`."""
    history: NDArray[np.uint16]
    """The last symbols: for each model as many places as its `max_order`, newest last."""


def fresh_forecaster_state(tracks: int, models: int, places: int) -> ForecasterState:
    """The state of tracks of which nothing has been read, with so many places for the history of all models."""
    return ForecasterState(
        seen=np.zeros(tracks, dtype=np.int64),
        last_time=np.zeros(tracks, dtype=np.int64),
        chain=np.zeros((tracks, models), dtype=np.int32),
        length=np.zeros((tracks, models), dtype=np.uint8),
        history=np.zeros((tracks, places), dtype=np.uint16),
    )


class Forecaster(ModelReader):
    """All models in one pass over each events."""

    def fresh(self, tracks: int, names: Keys = None) -> ForecasterState:
        """The state of tracks of which nothing has been read, with the models of their groups where these are given."""
        state = fresh_forecaster_state(tracks, len(self.models), int(self.history_at[-1]))
        return state._replace(chain=self.starts(tracks, names))

    def rearranged(self, state: ForecasterState, rows: NDArray[np.int64], names: Keys = None) -> ForecasterState:
        """A state whose row i is row `rows[i]` of `state`, or fresh where that is negative."""
        arranged = self.fresh(len(rows), names)
        known = rows >= 0
        for name in ForecasterState._fields:
            getattr(arranged, name)[known] = getattr(state, name)[rows[known]]
        return arranged

    def advance(self, events: EventBatch, state: ForecasterState) -> tuple[Forecasts, ForecasterState]:
        """The forecasts after the events of the batch, and the state after it; `state` has one row per track."""
        self._numbering.start_batch()
        numbers = self._numbering.numbers(events.words)
        after = ForecasterState(**{name: column.copy() for name, column in state._asdict().items()})
        chains = np.empty((len(self.models), len(events.times)), dtype=np.int32)
        histories = Histories(after.chain, after.length, after.history)
        for m, model in enumerate(self.models):
            following_kernel()(
                self.stacks[m].step,
                self.stacks[m].start,
                NO_GAP if model.max_gap_us is None else model.max_gap_us,
                m,
                self.history_at[m],
                model.header.max_order,
                self._numbering.symbols,
                numbers,
                events.times,
                events.first_of,
                state.seen,
                state.last_time,
                histories,
                chains[m],
            )
        emitted = self._emitted(events, state, chains)
        counts = np.diff(events.first_of)
        after.seen[:] += counts
        heard = counts > 0
        after.last_time[heard] = events.times[events.first_of[1:][heard] - 1]
        return emitted, after

    def _emitted(self, events: EventBatch, before: ForecasterState, chains: NDArray[np.int32]) -> Forecasts:
        how, at = EMISSIONS[self.emission], 0
        rows = fresh_rows(chains.size)
        for m, stack in enumerate(self.stacks):
            started = np.ascontiguousarray(before.chain[:, m])
            at = emission_kernel()(
                stack.decisions,
                self.decisions_at[m],
                how,
                chains[m],
                events.first_of,
                before.seen,
                started,
                rows,
                at,
            )
        none = np.broadcast_to(np.int32(NO_FEATURE), at)
        return Forecasts(rows.of[:at], none, rows.said[:at], self.decisions, positions(events.first_of, before.seen))

    def joining(self, progress: Progress) -> ForecasterState:
        """The state of tracks that others have read so far."""
        return self.fresh(len(progress.seen))._replace(seen=progress.seen, last_time=progress.last_time)

    def migrated(self, state: ForecasterState, before: PartForm, load: LoadModel) -> ForecasterState:
        """The state of tracks that models of the form `before` have followed, as these go on with it."""
        return self.taken_over(state, ModelsBefore(before, load))

    def taken_over(self, state: ForecasterState, before: Followed) -> ForecasterState:
        """The state of tracks that were followed by `before`, as this forecaster would have it.

        Models are matched by pattern name. A model of another order, or otherwise learned, goes on as if it had read
        the whole history. For a new version of the pattern: where its automaton behaves as before over the conditions
        both know, the automaton state is kept; otherwise the stored history is read anew from the start. History is
        kept where the old conditions tell the new symbols, and begins anew where they do not.
        """
        self.check_no_groups()
        after = self.fresh(len(state.seen))
        after.seen[:], after.last_time[:] = state.seen, state.last_time
        for m, old, place, history in predecessors(self.models, before):
            mine = slice(self.history_at[m], self.history_at[m + 1])
            migrated = migrated_rows(
                old, self.models[m], state.chain[:, place], state.length[:, place], state.history[:, history]
            )
            after.chain[:, m], after.length[:, m], after.history[:, mine] = migrated
        return after
