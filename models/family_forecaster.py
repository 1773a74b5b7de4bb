"""Forecasts for pattern families: per track one far chain state, and those of the features that differ from it."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from models.forecasts import Forecasts
from models.model import Emission, Model
from patterns.conditions.syntax import Condition
from patterns.recognition.families import Near
from patterns.recognition.recogniser import Batch


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


class FamilyForecaster:
    """The models of all families over one layer; forecasts are given for the features that an event is near."""

    def __init__(
        self,
        models: Sequence[Model],
        conditions: Sequence[Condition] | None = None,
        emission: Emission = "all",
    ) -> None:
        raise NotImplementedError

    models: tuple[Model, ...]
    conditions: tuple[Condition, ...]
    emission: Emission

    @property
    def words(self) -> int:
        """How many 64-bit words hold the conditions of one event."""
        raise NotImplementedError

    def fresh(self, tracks: int) -> FamilyForecasterState:
        """The state of tracks of which nothing has been read."""
        raise NotImplementedError

    def rearranged(self, state: FamilyForecasterState, rows: NDArray[np.int64]) -> FamilyForecasterState:
        """A state whose track i is track `rows[i]` of `state`, or fresh where that is negative."""
        raise NotImplementedError

    def advance(
        self, batch: Batch, near: Near, state: FamilyForecasterState
    ) -> tuple[Forecasts, FamilyForecasterState]:
        """The forecasts for the near features after each event, and the state after the batch."""
        raise NotImplementedError

    def adopted(self, state: FamilyForecasterState, before: "FamilyForecaster") -> FamilyForecasterState:
        """The state of tracks that were followed by `before`; the rule is that of `Forecaster.adopted`."""
        raise NotImplementedError
