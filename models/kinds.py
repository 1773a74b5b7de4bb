"""What a forecast says, from waiting times: a match within w events, the shortest interval, or the likeliest event."""

from typing import Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

Kind: TypeAlias = Literal["within", "interval", "most_likely"]
NONE = 0
"""Stands for `none` in earliest, latest and most likely, which count from 1."""


class IntervalForecast(NamedTuple):
    """Per state the shortest interval; earliest and latest are NONE where no interval reaches the threshold."""

    earliest: NDArray[np.int32]
    latest: NDArray[np.int32]
    probability: NDArray[np.float64]


class PointForecast(NamedTuple):
    """Per state the likeliest number of events; NONE where no match is possible within the horizon."""

    events: NDArray[np.int32]
    probability: NDArray[np.float64]


def within(waiting: NDArray[np.floating], events: int) -> NDArray[np.float64]:
    """Per state the probability of a match within so many events."""
    raise NotImplementedError


def interval(waiting: NDArray[np.floating], threshold: float | NDArray[np.float64]) -> IntervalForecast:
    """Per state the shortest interval with at least that mass; of equal ones the likelier, then the earlier."""
    raise NotImplementedError


def most_likely(waiting: NDArray[np.floating]) -> PointForecast:
    """Per state the likeliest number of events, the earliest of equals."""
    raise NotImplementedError
