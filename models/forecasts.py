"""Forecasts as columns: what every kernel's look-ups become before anyone else sees them."""

from collections.abc import Sequence
from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray

from models.kernels.forecast import Rows

NO_FEATURE = -1


@dataclass(frozen=True, slots=True, eq=False)
class Forecasts:
    """A row per event and model (and near feature) that has something to tell; NONE (0) stands for none."""

    event: NDArray[np.int64]
    """Row of the batch after which it holds."""
    model: NDArray[np.int32]
    index: NDArray[np.int64]
    """Position of the event in its track, from 1."""
    feature: NDArray[np.int32]
    """Of a pattern family, the feature that the row belongs to; -1 otherwise."""
    chain: NDArray[np.int32]
    """The chain state, from which a forecast is explained."""
    state: NDArray[np.int32]
    """The automaton state."""
    probability: NDArray[np.float64]
    positive: NDArray[np.uint8]
    earliest: NDArray[np.int32]
    latest: NDArray[np.int32]
    most_likely: NDArray[np.int32]
    earliest_s: NDArray[np.float32]
    latest_s: NDArray[np.float32]
    most_likely_s: NDArray[np.float32]

    def __len__(self) -> int:
        return len(self.event)


def joined(parts: Sequence[Forecasts]) -> Forecasts:
    """All rows of `parts`, one part after the other."""
    if len(parts) == 1:
        return parts[0]
    return Forecasts(*(np.concatenate([getattr(part, f.name) for part in parts]) for f in fields(Forecasts)))


def fresh_rows(count: int) -> Rows:
    """Room for so many forecasts."""
    longs, integers, floats = np.int64, np.int32, np.float32
    kinds: dict[str, type[np.generic]] = dict.fromkeys(Rows._fields, integers)
    kinds |= {"event": longs, "index": longs, "probability": np.float64, "positive": np.uint8}
    kinds |= dict.fromkeys(("earliest_s", "latest_s", "most_likely_s"), floats)
    return Rows(**{name: np.empty(count, dtype=kind) for name, kind in kinds.items()})


def from_rows(rows: Rows) -> Forecasts:
    """The forecasts that a kernel wrote."""
    return Forecasts(**rows._asdict())
