"""Extremely randomised trees for the chance of a match by the end of each span: slower to ask than boosted ones.

scikit-learn grows them with several outputs, a leaf being the mean of what came of its events. Only events whose whole
horizon is known are read: an event whose track ends early would count its matches and not its misses.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from foresail.models.inputs.columns import FAR
from foresail.models.kernels.trees import DEEPEST
from foresail.models.trees.boosting import beyond
from foresail.models.trees.spans import HIT, Spans
from foresail.models.trees.trees import SingleTree, Trees, joined_forest

SMALL = 20_000
"""Events below which one process is faster than several."""
NOWHERE = -FAR
"""What an unknown input is taken for: below all others."""


@dataclass(frozen=True, slots=True)
class ForestSettings:
    """How a forest is grown."""

    trees: int = 100
    least_events: int = 10
    """In a leaf."""
    columns: float = 0.4
    """Of the inputs, those that are tried for a split."""
    rows: float = 0.7
    most_events: int = 60_000
    seed: int = 1


def grown_forest(
    inputs: NDArray[np.float32],
    outcomes: NDArray[np.float32],
    spans: Spans,
    rows: NDArray[np.bool_],
    settings: ForestSettings,
) -> Trees:
    """A forest fitted on these events, whose whole horizon is known."""
    from sklearn.ensemble import ExtraTreesRegressor  # noqa: PLC0415 - takes seconds to import

    used = np.flatnonzero(rows)
    if len(used) > settings.most_events:
        used = np.sort(np.random.default_rng(settings.seed).choice(used, settings.most_events, replace=False))
    by_end = np.maximum.accumulate(outcomes[used] == HIT, axis=1).astype(np.float32)
    trees: list[SingleTree] = []
    if len(used):
        forest = ExtraTreesRegressor(
            settings.trees,
            min_samples_leaf=settings.least_events,
            max_features=settings.columns,
            max_depth=DEEPEST - 1,
            bootstrap=True,
            max_samples=max(1, round(settings.rows * len(used))),
            random_state=settings.seed,
            n_jobs=1 if len(used) < SMALL else -1,
        )
        forest.fit(np.nan_to_num(inputs[used], nan=NOWHERE, posinf=FAR, neginf=-FAR), by_end)
        trees = [_tree(one.tree_, settings.trees) for one in forest.estimators_]
    count = len(spans)
    held = joined_forest(trees, np.zeros(count), count)
    return Trees("forest", held, spans, np.ones(count), np.zeros(count))


def _tree(tree: Any, trees: int) -> SingleTree:
    """One tree as arrays, its leaves divided by the number of trees; scikit-learn numbers parents first."""
    inner = tree.children_left >= 0
    limit = np.array([beyond(float(at)) if some else 0.0 for at, some in zip(tree.threshold, inner, strict=True)])
    count = len(inner)
    return SingleTree(
        np.where(inner, tree.feature, 0),
        limit,
        np.where(inner, tree.children_left, -1),
        np.where(inner, tree.children_right, -1),
        np.ones(count),
        tree.value[:, :, 0] / trees,
    )
