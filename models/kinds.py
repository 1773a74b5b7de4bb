"""What a forecast says, from waiting times: a match within w events, the shortest interval, or the likeliest event."""

from typing import Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from foresail.models.errors import ModelSettingError
from foresail.models.kernels.compilation import interval_kernel
from foresail.models.limits import STORED, least

Kind: TypeAlias = Literal["within", "interval", "most_likely"]
KINDS: tuple[Kind, ...] = ("within", "interval", "most_likely")
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
    if not 1 <= events <= waiting.shape[1]:
        msg = f"within {events} events lies outside the horizon of 1 to {waiting.shape[1]}. Choose a number inside."
        raise ModelSettingError(msg)
    total = np.zeros(len(waiting))
    for n in range(events):  # one by one, so that a longer look ahead never loses to rounding
        total += waiting[:, n]
    return np.minimum(total, 1.0)


def interval(waiting: NDArray[np.floating], threshold: float | NDArray[np.float64]) -> IntervalForecast:
    """Per state the shortest interval with at least that mass; of equal ones the likelier, then the earlier."""
    states = len(waiting)
    limit = np.broadcast_to(np.asarray(threshold, dtype=np.float64), (states,))
    earliest, latest = np.empty(states, dtype=np.int32), np.empty(states, dtype=np.int32)
    mass = np.empty(states)
    interval_kernel()(np.ascontiguousarray(waiting, dtype=np.float64), least(limit, STORED), earliest, latest, mass)
    return IntervalForecast(earliest, latest, np.minimum(mass, 1.0))


def most_likely(waiting: NDArray[np.floating]) -> PointForecast:
    """Per state the likeliest number of events, the earliest of equals."""
    best = np.argmax(waiting, axis=1)
    probability = waiting[np.arange(len(waiting)), best].astype(np.float64)
    return PointForecast(np.where(probability > 0, best + 1, NONE).astype(np.int32), probability)
