"""Whether a probability means what it says: of the events given 0.3, do three in ten come true?"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

BINS = 10


@dataclass(frozen=True, slots=True)
class ReliabilityBin:
    """The events whose forecast lies from `low` to `high`: what was said of them and what came of them."""

    low: float
    high: float
    events: int
    forecast: float
    """The mean probability that was given."""
    observed: float
    """The share that came true."""


def reliability(
    probability: NDArray[np.float64], truth: NDArray[np.bool_], bins: int = BINS
) -> tuple[ReliabilityBin, ...]:
    """The curve over bins of equal width; a bin without events is left out."""
    edges = np.linspace(0.0, 1.0, bins + 1)
    number = np.clip(np.searchsorted(edges, probability, side="right") - 1, 0, bins - 1)
    events = np.bincount(number, minlength=bins)
    given = np.bincount(number, weights=probability, minlength=bins)
    came = np.bincount(number, weights=truth.astype(np.float64), minlength=bins)
    return tuple(
        ReliabilityBin(
            float(edges[n]),
            float(edges[n + 1]),
            int(events[n]),
            float(given[n] / events[n]),
            float(came[n] / events[n]),
        )
        for n in np.flatnonzero(events)
    )


def calibration_error(curve: tuple[ReliabilityBin, ...]) -> float | None:
    """The mean distance of what was said from what came, weighted by events (expected calibration error)."""
    events = sum(part.events for part in curve)
    if not events:
        return None
    return sum(part.events * abs(part.forecast - part.observed) for part in curve) / events
