"""How much better one model is than another, and how sure that is: a paired bootstrap over tracks and days.

Events of a track and day stand and fall together, so whole days of tracks are drawn, the same for both models.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

DRAWS, AT_ONCE = 20, 100
"""Rounds of draws, and how many each has: memory holds one round."""
SEED = 20
DAY_US = 86_400_000_000


@dataclass(frozen=True, slots=True)
class Difference:
    """The F1 of `model` less that of `against`, with the middle 95% of what other days might have shown."""

    model: str
    against: str
    within: int
    f1: float
    low: float
    high: float


def days_of_tracks(track: NDArray[np.int64], times: NDArray[np.int64]) -> NDArray[np.int64]:
    """The number of each row's track and day."""
    _, number = np.unique(np.stack([track, times // DAY_US]), axis=1, return_inverse=True)
    return np.asarray(number.reshape(-1), dtype=np.int64)


def f1_difference(
    names: tuple[str, str],
    within: int,
    positive: tuple[NDArray[np.bool_], NDArray[np.bool_]],
    truth: NDArray[np.bool_],
    cluster: NDArray[np.int64],
) -> Difference:
    """Of the positive forecasts of two models on the same rows, each of which is of a cluster that is drawn whole."""
    one, other = (_counts(some, truth, cluster) for some in positive)
    number = len(one)
    random, even = np.random.default_rng(SEED), np.full(number, 1 / number)
    spread = np.concatenate([_drawn(random.multinomial(number, even, AT_ONCE), one, other) for _ in range(DRAWS)])
    low, high = np.quantile(spread, [0.025, 0.975])
    value = float(_f1(one.sum(axis=0)) - _f1(other.sum(axis=0)))
    return Difference(*names, within, value, float(low), float(high))


def _drawn(times: NDArray[np.int64], one: NDArray[np.float64], other: NDArray[np.float64]) -> NDArray[np.float64]:
    """The difference where each cluster was drawn so many times."""
    return _f1(times @ one) - _f1(times @ other)


def _counts(positive: NDArray[np.bool_], truth: NDArray[np.bool_], cluster: NDArray[np.int64]) -> NDArray[np.float64]:
    """Per cluster how many forecasts were right, and how many were false alarms or missing."""
    size = int(cluster.max(initial=-1)) + 1
    right = np.bincount(cluster, positive & truth, size)
    wrong = np.bincount(cluster, positive != truth, size)
    return np.column_stack([right, wrong])


def _f1(counts: NDArray[np.float64]) -> NDArray[np.float64]:
    right, wrong = counts[..., 0], counts[..., 1]
    total = 2 * right + wrong
    return np.asarray(np.divide(2 * right, total, out=np.zeros_like(total), where=total > 0))


def pairs_compared(models: Sequence[str]) -> list[tuple[str, str]]:
    """Which models are told apart: trees and learned features from the boosting that one would try instead."""
    baselines = [name for name in models if name.startswith("gradient boosting")]
    return [(name, other) for name in ("learned", "hazard", "forest") if name in models for other in baselines]
