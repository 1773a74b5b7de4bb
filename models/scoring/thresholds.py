"""The threshold from which a forecast is positive, chosen on validation data by what the user wants to be best.

Patterns are rare, so good thresholds are low: 0.5 would keep silent.

Folds for evaluation: by time within each track, or by track; train and test share no event, nor a look at one.

A label looks ahead and a context looks back. By time, the training part therefore ends a gap before the test part:
with a gap as long as both looks, neither sees an event of the other side.
"""

from dataclasses import dataclass
from enum import Enum

import numpy as np
from numpy.typing import NDArray

from foresail.models.limits import STORED, least

MOST_CANDIDATES = 400
NO_POSITIVES_THRESHOLD = 0.5
"""Where validation data has no match to learn from."""


class Criterion(Enum):
    """What the threshold makes best."""

    F1 = "f1"
    MCC = "mcc"
    COST = "cost"


@dataclass(frozen=True, slots=True)
class Costs:
    """What a false alarm and a missed match cost, in any unit."""

    false_alarm: float = 1.0
    missed: float = 5.0


@dataclass(frozen=True, slots=True, eq=False)
class Sweep:
    """The confusion at every candidate threshold, ascending."""

    threshold: NDArray[np.float64]
    tp: NDArray[np.float64]
    fp: NDArray[np.float64]
    tn: NDArray[np.float64]
    fn: NDArray[np.float64]

    @property
    def precision(self) -> NDArray[np.float64]:
        """Of the positive forecasts, the share that came true."""
        return _ratio(self.tp, self.tp + self.fp)

    @property
    def recall(self) -> NDArray[np.float64]:
        """Of what came true, the share that was forecast."""
        return _ratio(self.tp, self.tp + self.fn)

    @property
    def f1(self) -> NDArray[np.float64]:
        """The harmonic mean of precision and recall."""
        return _ratio(2 * self.tp, 2 * self.tp + self.fp + self.fn)

    @property
    def mcc(self) -> NDArray[np.float64]:
        """Matthews' correlation of forecast and truth."""
        product = (self.tp + self.fp) * (self.tp + self.fn) * (self.tn + self.fp) * (self.tn + self.fn)
        return _ratio(self.tp * self.tn - self.fp * self.fn, np.sqrt(product))

    def cost(self, costs: Costs) -> NDArray[np.float64]:
        """What the wrong forecasts cost together."""
        return self.fp * costs.false_alarm + self.fn * costs.missed


def sweep(probability: NDArray[np.float64], truth: NDArray[np.bool_], most: int = MOST_CANDIDATES) -> Sweep:
    """The confusion at the probabilities that occur, thinned to at most `most`."""
    candidates = _candidates(probability, most)
    order = np.argsort(probability, kind="stable")
    came = np.concatenate([[0.0], np.cumsum(truth[order], dtype=np.float64)])
    below = np.searchsorted(probability[order], least(candidates, STORED), side="left")
    fn, total, positives = came[below], float(len(truth)), float(truth.sum())
    tp = positives - fn
    fp = total - below - tp
    return Sweep(candidates, tp, fp, below - fn, fn)


def choose_threshold(
    probability: NDArray[np.float64],
    truth: NDArray[np.bool_],
    criterion: Criterion = Criterion.F1,
    costs: Costs | None = None,
) -> float:
    """The threshold that is best on these events; of equally good ones the middle, which errs least on new events."""
    if not truth.any():
        return NO_POSITIVES_THRESHOLD
    swept = sweep(probability, truth)
    match criterion:
        case Criterion.F1:
            value = swept.f1
        case Criterion.MCC:
            value = swept.mcc
        case Criterion.COST:
            value = -swept.cost(costs or Costs())
    best = np.flatnonzero(value >= value.max() - 1e-12)
    return float(swept.threshold[best[len(best) // 2]])


def _candidates(probability: NDArray[np.float64], most: int) -> NDArray[np.float64]:
    distinct = np.unique(probability)
    if len(distinct) <= most:
        return distinct
    return distinct[np.linspace(0, len(distinct) - 1, most).round().astype(np.int64)]


def _ratio(above: NDArray[np.float64], below: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.divide(above, below, out=np.zeros_like(above), where=below > 0)


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
