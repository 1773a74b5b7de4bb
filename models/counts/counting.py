"""Counting the stretches of symbols of whole tracks: array codes and bincount, no object per event."""

import numpy as np
from numpy.typing import NDArray

from models.counts.table import Counts
from patterns.compiler import CompiledPattern

DEFAULT_MAX_ORDER = 8


def count(
    symbols: NDArray[np.int32],
    times: NDArray[np.int64],
    first_of: NDArray[np.int64],
    pattern: CompiledPattern,
    max_order: int = DEFAULT_MAX_ORDER,
    *,
    known: NDArray[np.int64] | None = None,
    matches: float | None = None,
) -> Counts:
    """The counts of tracks whose events are sorted by track and time (microseconds).

    History restarts after a gap longer than the pattern's `max_gap`. The first `known[t]` events of track t were
    counted before: they are history only. `matches` replaces the number of matches that the automaton finds.
    """
    raise NotImplementedError


class TrackCounter:
    """Counts a partition batch by batch, however its tracks are cut: the end of the last track is carried."""

    def __init__(self, pattern: CompiledPattern, max_order: int = DEFAULT_MAX_ORDER) -> None:
        raise NotImplementedError

    def add(
        self, symbols: NDArray[np.int32], times: NDArray[np.int64], first_of: NDArray[np.int64], *, continued: bool
    ) -> None:
        """Count one more batch; `continued` when its first track is the last one of the batch before."""
        raise NotImplementedError

    def counts(self) -> Counts:
        """All that was counted so far."""
        raise NotImplementedError
