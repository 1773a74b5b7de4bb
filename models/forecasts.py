"""Forecasts as columns: which decision holds after which event.

What a forecast says is a row of the decision table, which is the same for every event in a chain state. The event path
writes down only which row it was; the columns are looked up when someone reads them.
"""

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from foresail.models.kernels.decisions import Decisions
from foresail.models.kernels.forecast import Rows

NO_FEATURE = -1


@dataclass(frozen=True, slots=True, eq=False)
class Forecasts:
    """A row per event and model (and near feature) that has something to say; NONE (0) stands for none."""

    kind: ClassVar[str] = "forecast"
    event: NDArray[np.int32]
    """Row of the batch after which it holds."""
    feature: NDArray[np.int32]
    """Of a pattern family, the feature that the row belongs to; -1 otherwise."""
    said: NDArray[np.int32]
    """The row of `decisions` that it is."""
    decisions: Decisions
    position: NDArray[np.int64]
    """For each event of the batch its position in its track, from 1."""
    because: NDArray[np.object_] | None = None
    """In words what moved a forecast of trees most, where positive begins; None elsewhere, and for chains."""

    def __len__(self) -> int:
        return len(self.event)

    def taken(self, rows: NDArray[np.int64]) -> "Forecasts":
        """Some of the rows, in this order."""
        because = None if self.because is None else self.because[rows]
        return replace(self, event=self.event[rows], feature=self.feature[rows], said=self.said[rows], because=because)

    @property
    def index(self) -> NDArray[np.int64]:
        """Position of the event in its track, from 1."""
        return self.position[self.event]

    @property
    def model(self) -> NDArray[np.int32]:
        """The number of the model that made it."""
        return self.decisions.model[self.said]

    @property
    def chain(self) -> NDArray[np.int32]:
        """The chain state, from which a forecast is explained."""
        return self.decisions.chain[self.said]

    @property
    def state(self) -> NDArray[np.int32]:
        """The automaton state."""
        return self.decisions.state[self.said]

    @property
    def probability(self) -> NDArray[np.float64]:
        """Of a match within the events that the model looks ahead, or in the interval; NaN where there is none."""
        return self.decisions.probability[self.said]

    @property
    def positive(self) -> NDArray[np.uint8]:
        """Whether it reaches the threshold."""
        return self.decisions.positive[self.said]

    @property
    def earliest(self) -> NDArray[np.int32]:
        """The first event of the interval, from now."""
        return self.decisions.earliest[self.said]

    @property
    def latest(self) -> NDArray[np.int32]:
        """The last event of the interval."""
        return self.decisions.latest[self.said]

    @property
    def most_likely(self) -> NDArray[np.int32]:
        """The likeliest number of events."""
        return self.decisions.most_likely[self.said]

    @property
    def earliest_s(self) -> NDArray[np.float32]:
        """Mean seconds until the earliest; NaN for none."""
        return self.decisions.earliest_s[self.said]

    @property
    def latest_s(self) -> NDArray[np.float32]:
        """Mean seconds until the latest; NaN for none."""
        return self.decisions.latest_s[self.said]

    @property
    def most_likely_s(self) -> NDArray[np.float32]:
        """Mean seconds until the likeliest; NaN for none."""
        return self.decisions.most_likely_s[self.said]


def fresh_rows(count: int) -> Rows:
    """Room for so many forecasts; what is not written to takes no memory."""
    return Rows(np.empty(count, dtype=np.int32), np.empty(count, dtype=np.int32))


def positions(first_of: NDArray[np.int64], seen: NDArray[np.int64]) -> NDArray[np.int64]:
    """For each event of a batch its position in its track, of which so many have been seen before, from 1."""
    return np.arange(1, first_of[-1] + 1) - np.repeat(first_of[:-1] - seen, np.diff(first_of))
