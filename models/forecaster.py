"""Batches of events in, forecasts out: one look-up per event and model, the state of each track carried.

The twin of `patterns.recognition.recogniser`: it reads the same words, and results depend on the events of each track
alone, never on how they were cut into batches.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from models.forecasts import Forecasts
from models.model import Emission, Model
from patterns.conditions.syntax import Condition
from patterns.recognition.recogniser import Batch


class ForecasterState(NamedTuple):
    """One row per track, ready to be saved as it is."""

    seen: NDArray[np.int64]
    """Events read so far."""
    last_time: NDArray[np.int64]
    chain: NDArray[np.int32]
    """Per model the chain state."""
    length: NDArray[np.uint8]
    """Per model how many symbols of history there are, at most its `max_order`."""
    history: NDArray[np.uint16]
    """The last symbols: for each model as many places as its `max_order`, newest last."""


class Forecaster:
    """All models in one pass over each batch; at most one model per pattern."""

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

    def fresh(self, tracks: int) -> ForecasterState:
        """The state of tracks of which nothing has been read."""
        raise NotImplementedError

    def rearranged(self, state: ForecasterState, rows: NDArray[np.int64]) -> ForecasterState:
        """A state whose row i is row `rows[i]` of `state`, or fresh where that is negative."""
        raise NotImplementedError

    def advance(self, batch: Batch, state: ForecasterState) -> tuple[Forecasts, ForecasterState]:
        """The forecasts after the events of `batch`, and the state after it; `state` has one row per track."""
        raise NotImplementedError

    def adopted(self, state: ForecasterState, before: "Forecaster") -> ForecasterState:
        """The state of tracks that were followed by `before`, as this forecaster would have it.

        Models are matched by pattern name. A model of another order, or otherwise learned, goes on as if it had read
        the whole history. For a new version of the pattern: where its automaton behaves as before over the conditions
        both know, the automaton state is kept; otherwise the stored history is read anew from the start. History is
        kept where the old conditions tell the new symbols, and begins anew where they do not.
        """
        raise NotImplementedError
