"""The threshold from which a forecast is positive, chosen on validation data by what the user wants to be best.

Patterns are rare, so good thresholds are low: 0.5 would keep silent.
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
