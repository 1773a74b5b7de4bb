"""Counting for a pattern family: per feature only the stretches of a track in which the feature is within reach."""

import numpy as np
from numpy.typing import NDArray

from models.counts.counting import DEFAULT_MAX_ORDER
from models.counts.table import Counts
from patterns.compiler import CompiledPattern


def count_family(
    far_symbols: NDArray[np.int32],
    times: NDArray[np.int64],
    first_of: NDArray[np.int64],
    near_at: NDArray[np.int64],
    near_feature: NDArray[np.int32],
    near_symbols: NDArray[np.int32],
    pattern: CompiledPattern,
    max_order: int = DEFAULT_MAX_ORDER,
) -> Counts:
    """The counts over every track and feature; event e is near the rows `near_at[e]..near_at[e + 1]`.

    Counted are the events near a feature with `max_order` events before and after; where the track is far from it the
    far symbol stands. All of the far rest would drown what happens near.
    """
    raise NotImplementedError
