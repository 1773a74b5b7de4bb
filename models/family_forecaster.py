"""Forecasts for pattern families: per track one far chain state, and those of the features that differ from it."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from foresail.models.forecasts import Forecasts, fresh_rows, positions
from foresail.models.kernels.compilation import family_emission_kernel, family_kernel
from foresail.models.kernels.family import FAR, Features, Steps
from foresail.models.kernels.forecast import NO_GAP
from foresail.models.migration import Followed, ModelsBefore, migrated_rows, predecessors
from foresail.models.model import Emission, Model
from foresail.models.reader import EMISSIONS, MembersOf, ModelReader
from foresail.patterns.conditions.syntax import Condition
from foresail.patterns.recognition.events import EventBatch, Keys, Near
from foresail.patterns.recognition.forms import PartForm
from foresail.patterns.recognition.protocol import LoadModel, Needs, Progress


class FamilyForecasterState(NamedTuple):
    """Per track the far row, then the features that differ from it: rows `rows_at[t]..rows_at[t + 1]`."""

    seen: NDArray[np.int64]
    """Per track the events read so far."""
    last_time: NDArray[np.int64]
    length: NDArray[np.uint8]
    """Per track and model how many symbols of history there are."""
    rows_at: NDArray[np.int64]
    feature: NDArray[np.int32]
    """Per row the feature; of the far row, -1."""
    near: NDArray[np.uint8]
    """Per row whether the last event was near the feature."""
    chain: NDArray[np.int32]
    """Per row and model the chain state."""
    history: NDArray[np.uint16]


def fresh_family_forecaster_state(tracks: int, models: int, places: int) -> FamilyForecasterState:
    """The state of tracks of which nothing has been read, with so many places for the history of all models."""
    return FamilyForecasterState(
        seen=np.zeros(tracks, dtype=np.int64),
        last_time=np.zeros(tracks, dtype=np.int64),
        length=np.zeros((tracks, models), dtype=np.uint8),
        rows_at=np.zeros(tracks + 1, dtype=np.int64),
        **_fresh_features(0, models, places)._asdict(),
    )


def _fresh_features(rows: int, models: int, places: int) -> Features:
    return Features(
        feature=np.full(rows, FAR, dtype=np.int32),
        near=np.zeros(rows, dtype=np.uint8),
        chain=np.zeros((rows, models), dtype=np.int32),
        history=np.zeros((rows, places), dtype=np.uint16),
    )


class FamilyForecaster(ModelReader):
    """The models of all families over one layer; forecasts are given for the features that an event is near."""

    def __init__(
        self,
        models: Sequence[Model],
        conditions: Sequence[Condition] | None = None,
        emission: Emission = "all",
        groups: Sequence[Sequence[Model]] | None = None,
        members_of: MembersOf | None = None,
        layer: str = "",
    ) -> None:
        super().__init__(models, conditions, emission, groups, members_of)
        self.layer = layer
        self._steps = Steps(
            step=np.concatenate([np.empty(0, np.int32), *(stack.step.ravel() for stack in self.stacks)]),
            step_at=np.cumsum([0, *(stack.step.size for stack in self.stacks)]).astype(np.int64),
            start=np.concatenate([np.empty(0, np.int32), *(stack.start for stack in self.stacks)]),
            start_at=np.cumsum([0, *(len(stack.start) for stack in self.stacks)]).astype(np.int64),
            symbols=np.array([len(m.codes) for m in self.models], dtype=np.int64),
            max_gap=np.array([NO_GAP if m.max_gap_us is None else m.max_gap_us for m in self.models], dtype=np.int64),
            history_at=self.history_at,
        )

    @property
    def needs(self) -> Needs:
        """Conditions, and which features of the layer an event is near."""
        return Needs(self.conditions, self.layer)

    def fresh(self, tracks: int, names: Keys = None) -> FamilyForecasterState:
        """The state of tracks of which nothing has been read, with the models of their groups where these are given."""
        state = fresh_family_forecaster_state(tracks, len(self.models), int(self.history_at[-1]))
        if names is None or len(self.emitted_by) == len(self.models):
            return state
        features = self._features(tracks)
        features.chain[:] = self.starts(tracks, names)
        return state._replace(rows_at=np.arange(tracks + 1), **features._asdict())

    def rearranged(
        self, state: FamilyForecasterState, rows: NDArray[np.int64], names: Keys = None
    ) -> FamilyForecasterState:
        """A state whose track i is track `rows[i]` of `state`, or fresh where that is negative."""
        fresh, known = self.fresh(len(rows), names), rows >= 0
        for name in ("seen", "last_time", "length"):
            getattr(fresh, name)[known] = getattr(state, name)[rows[known]]
        counts, begin = np.diff(fresh.rows_at), len(state.feature) + fresh.rows_at[:-1]
        counts[known], begin[known] = np.diff(state.rows_at)[rows[known]], state.rows_at[rows[known]]
        rows_at = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
        taken = np.arange(rows_at[-1]) + np.repeat(begin - rows_at[:-1], counts)
        columns = {
            name: np.concatenate([getattr(state, name), getattr(fresh, name)])[taken] for name in Features._fields
        }
        return fresh._replace(rows_at=rows_at, **columns)

    def advance(self, events: EventBatch, state: FamilyForecasterState) -> tuple[Forecasts, FamilyForecasterState]:
        """The forecasts for the near features after each event, and the state after the events."""
        own = events.layers[self.layer]
        near = own.near
        self._numbering.start_batch()
        far, close = self._numbering.numbers(own.words), self._numbering.numbers(near.words)
        kept = self._features(len(state.feature) + len(state.seen) + len(near.feature))
        length, kept_at = state.length.copy(), np.zeros(len(state.seen) + 1, dtype=np.int64)
        before, now = (np.empty((len(near.feature), len(self.models)), dtype=np.int32) for _ in range(2))
        family_kernel()(
            self._steps,
            self._numbering.symbols,
            far,
            events.times,
            events.first_of,
            near.at,
            near.feature,
            close,
            state.seen,
            state.last_time,
            state.rows_at,
            Features(state.feature, state.near, state.chain, state.history),
            length,
            kept_at,
            kept,
            np.empty(len(near.feature), dtype=np.int64),
            np.empty(len(kept.feature), dtype=np.int32),
            before,
            now,
        )
        counts = np.diff(events.first_of)
        last_time = state.last_time.copy()
        last_time[counts > 0] = events.times[events.first_of[1:][counts > 0] - 1]
        columns = {name: column[: kept_at[-1]].copy() for name, column in kept._asdict().items()}
        after = FamilyForecasterState(state.seen + counts, last_time, length, kept_at, **columns)
        return self._emitted(events, near, state, before, now), after

    def joining(self, progress: Progress) -> FamilyForecasterState:
        """The state of tracks that others have read so far."""
        return self.fresh(len(progress.seen))._replace(seen=progress.seen, last_time=progress.last_time)

    def migrated(self, state: FamilyForecasterState, before: PartForm, load: LoadModel) -> FamilyForecasterState:
        """The state of tracks that models of the form `before` have followed, as these go on with it."""
        return self.taken_over(state, ModelsBefore(before, load))

    def taken_over(self, state: FamilyForecasterState, before: Followed) -> FamilyForecasterState:
        """The state of tracks that were followed by `before`; the rule is that of `Forecaster.taken_over`."""
        self.check_no_groups()
        features = self._features(len(state.feature))
        features.feature[:], features.near[:] = state.feature, state.near
        after = self.fresh(len(state.seen))._replace(rows_at=state.rows_at.copy(), **features._asdict())
        after.seen[:], after.last_time[:] = state.seen, state.last_time
        track = np.repeat(np.arange(len(state.seen)), np.diff(state.rows_at))
        for m, old, place, history in predecessors(self.models, before):
            mine = slice(self.history_at[m], self.history_at[m + 1])
            migrated = migrated_rows(
                old, self.models[m], state.chain[:, place], state.length[track, place], state.history[:, history]
            )
            after.chain[:, m], after.history[:, mine] = migrated.chain, migrated.history
            np.maximum.at(after.length[:, m], track, migrated.length)
        return after

    def _features(self, rows: int) -> Features:
        return _fresh_features(rows, len(self.models), int(self.history_at[-1]))

    def _emitted(
        self,
        events: EventBatch,
        near: Near,
        state: FamilyForecasterState,
        before: NDArray[np.int32],
        now: NDArray[np.int32],
    ) -> Forecasts:
        rows, at = fresh_rows(now.size), 0
        for m, stack in enumerate(self.stacks):
            at = family_emission_kernel()(
                stack.decisions, self.decisions_at[m], EMISSIONS[self.emission], m, before, now, rows, at
            )
        event_of = np.repeat(np.arange(len(events.times), dtype=np.int32), np.diff(near.at))
        told, said = rows.of[:at], rows.said[:at]
        where = positions(events.first_of, state.seen)
        return Forecasts(event_of[told], near.feature[told], said, self.decisions, where)
