"""Batches of events in, forecasts out: one look-up per event and model, the state of each track carried.

The twin of `patterns.recognition.recogniser`: it reads the same words, and results depend on the events of each track
alone, never on how they were cut into batches.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from foresail.models.forecasts import NO_FEATURE, Forecasts, fresh_rows, positions
from foresail.models.inputs.plan import PastState, fresh_past
from foresail.models.kernels.compilation import emission_kernel, following_kernel
from foresail.models.kernels.forecast import NO_GAP, Histories
from foresail.models.migration import Followed, ModelsBefore, migrated_rows, predecessors
from foresail.models.reader import EMISSIONS, ModelReader
from foresail.models.stack import joined_decisions
from foresail.models.tree_forecasts import migrated_past, taken_rows, tree_rows
from foresail.patterns.recognition.events import EventBatch, Keys
from foresail.patterns.recognition.forms import ModelForm, PartForm
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
    past: tuple[PastState, ...] = ()
    """Of each model with trees, in their order, what they read of the recent past."""


PER_TRACK = ("seen", "last_time", "chain", "length", "history")


def fresh_forecaster_state(tracks: int, models: tuple[ModelForm, ...]) -> ForecasterState:
    """The state of tracks of which models of these forms have read nothing."""
    return ForecasterState(
        seen=np.zeros(tracks, dtype=np.int64),
        last_time=np.zeros(tracks, dtype=np.int64),
        chain=np.zeros((tracks, len(models)), dtype=np.int32),
        length=np.zeros((tracks, len(models)), dtype=np.uint8),
        history=np.zeros((tracks, sum(model.places for model in models)), dtype=np.uint16),
        past=tuple(fresh_past(tracks, model.columns) for model in models if model.columns is not None),
    )


class Forecaster(ModelReader):
    """All models in one pass over each events."""

    def fresh(self, tracks: int, names: Keys = None) -> ForecasterState:
        """The state of tracks of which nothing has been read, with the models of their groups where these are given."""
        state = fresh_forecaster_state(tracks, self.form.models)
        return state._replace(chain=self.starts(tracks, names))

    def rearranged(self, state: ForecasterState, rows: NDArray[np.int64], names: Keys = None) -> ForecasterState:
        """A state whose row i is row `rows[i]` of `state`, or fresh where that is negative."""
        arranged = self.fresh(len(rows), names)
        known = rows >= 0
        for name in PER_TRACK:
            getattr(arranged, name)[known] = getattr(state, name)[rows[known]]
        for mine, held in zip(arranged.past, state.past, strict=True):
            for name in PastState._fields:
                getattr(mine, name)[known] = getattr(held, name)[rows[known]]
        return arranged

    def advance(self, events: EventBatch, state: ForecasterState) -> tuple[Forecasts, ForecasterState]:
        """The forecasts after the events of the batch, and the state after it; `state` has one row per track."""
        self._numbering.start_batch()
        numbers = self._numbering.numbers(events.words)
        past = tuple(PastState._make(column.copy() for column in held) for held in state.past)
        after = state._replace(past=past, **{name: getattr(state, name).copy() for name in PER_TRACK})
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
        if past:
            emitted = self._with_trees(emitted, events, chains, past)
        counts = np.diff(events.first_of)
        after.seen[:] += counts
        heard = counts > 0
        after.last_time[heard] = events.times[events.first_of[1:][heard] - 1]
        return emitted, after

    def _emitted(self, events: EventBatch, before: ForecasterState, chains: NDArray[np.int32]) -> Forecasts:
        how, at = EMISSIONS[self.emission], 0
        rows = fresh_rows(chains.size)
        for m, stack in enumerate(self.stacks):
            if self.models[m].trees is not None:
                continue
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

    def _with_trees(
        self, told: Forecasts, events: EventBatch, chains: NDArray[np.int32], past: tuple[PastState, ...]
    ) -> Forecasts:
        """What chains have told, and what trees say; each row with a decision of its own."""
        found = [
            tree_rows(
                self.models[m], int(self.stacks[m].decisions.model[0]), events, chains[m], own, EMISSIONS[self.emission]
            )
            for m, own in zip(np.flatnonzero(self.keeps_past), past, strict=True)
        ]
        event = np.concatenate([told.event, *(rows.event for rows in found)]).astype(np.int32)
        decisions = joined_decisions([taken_rows(told.decisions, told.said), *(rows.decisions for rows in found)])
        none = np.broadcast_to(np.int32(NO_FEATURE), len(event))
        because = np.concatenate([np.full(len(told), None, dtype=object), *(rows.because for rows in found)])
        return Forecasts(event, none, np.arange(len(event), dtype=np.int32), decisions, told.position, because)

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
            if old.trees is not None and self.models[m].trees is not None:
                held = migrated_past(old, self.models[m], state.past[sum(before.keeps_past[:place])])
                for name in PastState._fields:
                    getattr(after.past[sum(self.keeps_past[:m])], name)[:] = getattr(held, name)
        return after
