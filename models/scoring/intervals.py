"""Forecasts of the kind `interval` against when the match came: coverage, spread, error, interval score."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

NO_INTERVAL = 0
"""In `earliest`, where no interval reaches the threshold."""


@dataclass(frozen=True, slots=True)
class IntervalScores:
    """Scores over the events that have an interval; None where there are none."""

    nominal: float
    """The mass that an interval is to hold."""
    forecasts: int
    none: int
    """Events without an interval: nothing reaches the nominal mass."""
    unresolved: int
    """Intervals after which no match came as far as forecasts look: not covered, and without an error to measure."""
    coverage: float | None
    """The share of all intervals that the match fell into; to be compared with the nominal mass."""
    mean_spread: float | None
    rmse: float | None
    mae: float | None
    interval_score: float | None
    """Width plus 2/alpha times the miss, alpha = 1 - nominal; the lower the better (Gneiting, Raftery 2007)."""


def score_intervals(
    earliest: NDArray[np.int64], latest: NDArray[np.int64], until: NDArray[np.int64], nominal: float
) -> IntervalScores:
    """The scores; `until` is the number of events to the match, 0 where there is none."""
    has, resolved = earliest != NO_INTERVAL, until > 0
    scored = has & resolved
    low, high, came = (a[scored].astype(np.float64) for a in (earliest, latest, until))
    counts = (int(has.sum()), int((~has).sum()), int((has & ~resolved).sum()))
    if not len(came):
        return IntervalScores(nominal, *counts, 0.0 if counts[0] else None, None, None, None, None)
    miss = np.maximum(low - came, 0) + np.maximum(came - high, 0)
    error = (low + high) / 2 - came
    alpha = max(1 - nominal, 1e-9)
    return IntervalScores(
        nominal,
        *counts,
        coverage=float((miss == 0).sum()) / counts[0],
        mean_spread=float((high - low).mean()),
        rmse=float(np.sqrt((error**2).mean())),
        mae=float(np.abs(error).mean()),
        interval_score=float((high - low + 2 / alpha * miss).mean()),
    )
