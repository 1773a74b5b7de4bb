"""Folds for evaluation: by time within each track, or by track; train and test share no event, nor a look at one.

A label looks ahead and a context looks back. By time, the training part therefore ends a gap before the test part:
with a gap as long as both looks, neither sees an event of the other side.
"""

from dataclasses import dataclass
from enum import Enum

import numpy as np
from numpy.typing import NDArray


class By(Enum):
    """What folds are made of."""

    TIME = "time"
    TRACK = "track"


@dataclass(frozen=True, slots=True, eq=False)
class Fold:
    """Which events train and which test."""

    number: int
    train: NDArray[np.bool_]
    test: NDArray[np.bool_]


def folds_by_time(index: NDArray[np.int64], length: NDArray[np.int64], folds: int, gap: int) -> list[Fold]:
    """Each track in `folds` + 1 stretches; fold k tests stretch k + 1 and trains on all before it, less the gap.

    `index` is an event's position in its track from 0 and `length` that track's number of events.
    """
    stretch = index * (folds + 1) // np.maximum(length, 1)
    found = []
    for number in range(folds):
        first_test = -(-(number + 1) * length // (folds + 1))
        found.append(Fold(number, index < first_test - gap, stretch == number + 1))
    return found


def folds_by_track(track: NDArray[np.int64], folds: int, seed: int = 0) -> list[Fold]:
    """Whole tracks in each fold; `track` is the number of each event's track."""
    from sklearn.model_selection import KFold  # noqa: PLC0415 - takes seconds to import

    names = np.unique(track)
    splitter = KFold(min(folds, len(names)), shuffle=True, random_state=seed)
    found = []
    for number, (_, tested) in enumerate(splitter.split(names)):
        test = np.isin(track, names[tested])
        found.append(Fold(number, ~test, test))
    return found


def validation_split(
    track: NDArray[np.int64], index: NDArray[np.int64], train: NDArray[np.bool_], gap: int, share: float = 0.25
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """The training events in two: to fit on, and the last `share` of each track's to choose a threshold on."""
    ends = np.zeros(int(track.max(initial=-1)) + 1, dtype=np.int64)
    np.maximum.at(ends, track[train], index[train] + 1)
    border = np.ceil(ends * (1 - share)).astype(np.int64)[track]
    return train & (index < border - gap), train & (index >= border)


def segments(kept: NDArray[np.bool_], first_of: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The kept events as stretches of their tracks: the rows, and where each stretch begins among them, and the end."""
    rows = np.flatnonzero(kept)
    if not len(rows):
        return rows, np.zeros(1, dtype=np.int64)
    track = np.repeat(np.arange(len(first_of) - 1), np.diff(first_of))[rows]
    breaks = (np.diff(rows) != 1) | (np.diff(track) != 0)
    return rows, np.concatenate([[0], np.flatnonzero(breaks) + 1, [len(rows)]]).astype(np.int64)
