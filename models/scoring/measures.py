"""Forecasts of the kind `within` against what came true: the confusion of each event and the scores made of it.

Whether a probability means what it says: of the events given 0.3, do three in ten come true?

How far an automaton is from a match: the shortest way from its state to acceptance. Far states are the hard ones.

How early a match was foretold: the first correct forecast before it, and the matches without any.

How well a model foresees the very next symbol: the log-loss that compares orders before any pattern comes in.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from foresail.models.limits import reaches

Probabilities = NDArray[np.float64]
Booleans = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Classification:
    """Scores of one model at one threshold; None where the events do not define a score."""

    threshold: float
    tp: int
    fp: int
    tn: int
    fn: int
    precision: float
    recall: float
    f1: float
    specificity: float | None
    mcc: float
    roc_auc: float | None
    pr_auc: float | None
    brier: float | None

    @property
    def events(self) -> int:
        """How many events were scored."""
        return self.tp + self.fp + self.tn + self.fn


def score_within(probability: Probabilities, truth: Booleans, threshold: float) -> Classification:
    """The scores when a forecast is positive from `threshold` on."""
    return score_decided(probability, reaches(probability, threshold), truth, threshold)


def score_decided(probability: Probabilities, positive: Booleans, truth: Booleans, threshold: float) -> Classification:
    """The scores of forecasts already decided, as where each fold had a threshold of its own."""
    from sklearn.metrics import (  # noqa: PLC0415 - takes seconds to import: commands that score nothing don't pay
        average_precision_score,
        brier_score_loss,
        confusion_matrix,
        f1_score,
        matthews_corrcoef,
        precision_score,
        recall_score,
        roc_auc_score,
    )

    tn, fp, fn, tp = (int(n) for n in confusion_matrix(truth, positive, labels=[False, True]).ravel())
    both = bool(truth.any() and not truth.all())
    return Classification(
        threshold=float(threshold),
        tp=tp,
        fp=fp,
        tn=tn,
        fn=fn,
        precision=float(precision_score(truth, positive, zero_division=0)),
        recall=float(recall_score(truth, positive, zero_division=0)),
        f1=float(f1_score(truth, positive, zero_division=0)),
        specificity=tn / (tn + fp) if tn + fp else None,
        mcc=float(matthews_corrcoef(truth, positive)) if both and positive.any() and not positive.all() else 0.0,
        roc_auc=float(roc_auc_score(truth, probability)) if both else None,
        pr_auc=float(average_precision_score(truth, probability)) if truth.any() else None,
        brier=float(brier_score_loss(truth, probability, pos_label=True)) if len(truth) else None,
    )


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


UNREACHABLE = -1


@dataclass(frozen=True, slots=True)
class ScoresAtDistance:
    """The scores of the events whose automaton state is so many steps from acceptance."""

    distance: int
    relative: float
    """The distance as a share of the largest one."""
    scores: Classification


def distances_to_acceptance(delta: NDArray[np.int32], accepting: NDArray[np.bool_]) -> NDArray[np.int64]:
    """For each state the least number of events to an accepting one, at least 1; UNREACHABLE if there is none."""
    distance = np.full(len(accepting), UNREACHABLE, dtype=np.int64)
    frontier = accepting.copy()
    steps = 0
    while frontier.any():
        steps += 1
        reaching = frontier[delta].any(axis=1) & (distance == UNREACHABLE)
        distance[reaching] = steps
        frontier = reaching
    return distance


def score_by_distance(
    distance: NDArray[np.int64], probability: NDArray[np.float64], truth: NDArray[np.bool_], threshold: float
) -> tuple[ScoresAtDistance, ...]:
    """The scores for each distance that occurs; `distance` is that of each event's state."""
    largest = max(1, int(distance.max(initial=0)))
    found = []
    for steps in np.unique(distance[distance != UNREACHABLE]):
        mine = distance == steps
        scores = score_within(probability[mine], truth[mine], threshold)
        found.append(ScoresAtDistance(int(steps), float(steps) / largest, scores))
    return tuple(found)


@dataclass(frozen=True, slots=True)
class Earliness:
    """Over all matches with a scored event before them."""

    matches: int
    missed: int
    """Matches without a correct forecast."""
    mean: float | None
    """Events from the first correct forecast to the match, over the matches that have one."""
    median: float | None
    histogram: tuple[int, ...]
    """`histogram[n - 1]` matches were first foretold n events ahead."""

    @property
    def missed_share(self) -> float | None:
        """The share of matches without a correct forecast."""
        return self.missed / self.matches if self.matches else None


def score_earliness(
    positive: NDArray[np.bool_], until: NDArray[np.int64], match_ahead: NDArray[np.int64], within: int
) -> Earliness:
    """`match_ahead` names, for each event, the match that `until` counts to; events without one have a negative."""
    in_reach = (until > 0) & (until <= within) & (match_ahead >= 0)
    names, number = np.unique(match_ahead[in_reach], return_inverse=True)
    first = np.zeros(len(names), dtype=np.int64)
    np.maximum.at(first, number, np.where(positive[in_reach], until[in_reach], 0))
    foretold = first[first > 0]
    return Earliness(
        matches=len(names),
        missed=int((first == 0).sum()),
        mean=float(foretold.mean()) if len(foretold) else None,
        median=float(np.median(foretold)) if len(foretold) else None,
        histogram=tuple(int(n) for n in np.bincount(foretold, minlength=within + 1)[1 : within + 1]),
    )


LEAST = 1e-12
"""A symbol that the model held impossible costs this much, not everything."""


def log_loss_of(given: NDArray[np.float64]) -> float | None:
    """The mean of -ln p over the symbols that came; `given` is the probability each had before it came."""
    return float(-np.log(np.maximum(given, LEAST)).mean()) if len(given) else None


MOST_POINTS = 16
"""Numbers of events at which the distribution of a waiting time is compared with what came."""


def crps_of(
    within: Callable[[int], NDArray[np.float64]], until: NDArray[np.int64], horizon: int
) -> NDArray[np.float64]:
    """Per row the continuous ranked probability score of its waiting time up to the horizon, in events.

    The squared distance of P(W <= k) to what came, summed over k (Gneiting, Raftery 2007); of long horizons over some
    k, each standing for those since the one before. `until` is 0 where no match came.
    """
    ends = np.arange(1, horizon + 1)
    if horizon > MOST_POINTS:
        ends = np.unique(np.round(np.geomspace(1, horizon, MOST_POINTS)).astype(np.int64))
    score = np.zeros(len(until))
    for end, stands_for in zip(ends, np.diff(ends, prepend=0), strict=True):
        came = (until > 0) & (until <= end)
        score += stands_for * (within(int(end)) - came) ** 2
    return score
