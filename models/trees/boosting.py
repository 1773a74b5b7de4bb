"""Boosted trees for the hazard of each span, fitted by the likelihood of censored waiting times.

LightGBM grows them. An event is a row for each span of which something is known, hit or passed, and the span is one
more input: the likelihood of these rows is that of the censored waiting time. What is kept are arrays, which a kernel
asks for all spans at once.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from foresail.models.inputs.columns import FAR
from foresail.models.kernels.trees import DEEPEST, SPAN
from foresail.models.trees.spans import HIT, UNKNOWN, Spans, hazards
from foresail.models.trees.trees import SingleTree, Trees, joined_forest

SMALL = 100_000
"""Rows below which one thread is faster than several that wait for each other."""


@dataclass(frozen=True, slots=True)
class BoostSettings:
    """How trees are grown."""

    rounds: int = 150
    least_rounds: int = 80
    """Trees that are grown whatever the newest events say, which are few and often unlike those to come."""
    patience: int = 10
    """Rounds without gain on the newest events after which no further tree is grown."""
    rate: float = 0.2
    """Half the rate would need twice the trees, each of which costs time at every event."""
    leaves: int = 63
    least_events: int = 20
    """Rows in a leaf; an event is a row for each span that is known of it."""
    columns: float = 0.5
    rows: float = 0.7
    penalty: float = 10.0
    most_events: int = 60_000
    """Beyond so many, events from which no match is in sight are thinned out."""
    seed: int = 1


def boosted(
    inputs: NDArray[np.float32],
    outcomes: NDArray[np.float32],
    spans: Spans,
    fit: NDArray[np.bool_],
    newest: NDArray[np.bool_] | None,
    settings: BoostSettings,
    rounds: int | None = None,
) -> Trees:
    """Trees fitted on the events `fit`; with `newest`, as many as do best on those."""
    import lightgbm  # noqa: PLC0415 - needed for fitting alone

    base = _log_odds(hazards(outcomes[fit]))
    parameters = {
        "objective": "binary",
        "boost_from_average": False,
        "num_leaves": settings.leaves,
        "learning_rate": settings.rate,
        "min_data_in_leaf": settings.least_events,
        "min_sum_hessian_in_leaf": 1e-2,
        "feature_fraction": settings.columns,
        "bagging_fraction": settings.rows,
        "bagging_freq": 1,
        "lambda_l2": settings.penalty,
        "max_bin": 127,
        "max_depth": DEEPEST - 1,
        "seed": settings.seed,
        "deterministic": True,
        "force_row_wise": True,
        "num_threads": 1 if fit.sum() < SMALL else 0,
        "verbosity": -1,
    }
    data = _rows(lightgbm, inputs, outcomes, fit, base, settings)
    watched: list[Any] = []
    calls: list[Any] = []
    if newest is not None:
        watched = [_rows(lightgbm, inputs, outcomes, newest, base, settings, data)]
        calls = [patient := _Patience(settings)]
    most = settings.rounds if rounds is None else rounds
    grown = lightgbm.train(parameters, data, most, valid_sets=watched, callbacks=calls)
    best = min(most, max(settings.least_rounds, patient.best)) if watched else most
    trees = [_tree(held["tree_structure"], inputs.shape[1]) for held in grown.dump_model(best)["tree_info"]]
    return Trees("hazard", joined_forest(trees, base), spans, np.ones(len(spans)), np.zeros(len(spans)))


@dataclass(eq=False)
class _Patience:
    """Stops where further trees no longer help on the newest events, but never before the least number of them."""

    settings: BoostSettings
    best: int = 0
    loss: float = float("inf")

    def __call__(self, now: Any) -> None:
        from lightgbm.callback import EarlyStopException  # noqa: PLC0415 - as above

        ((_, _, loss, _),) = now.evaluation_result_list
        trees = now.iteration + 1
        if loss < self.loss:
            self.best, self.loss = trees, loss
        if trees >= max(self.settings.least_rounds, self.best + self.settings.patience):
            raise EarlyStopException(now.iteration, now.evaluation_result_list)


def _rows(
    lightgbm: Any,
    inputs: NDArray[np.float32],
    outcomes: NDArray[np.float32],
    events: NDArray[np.bool_],
    base: NDArray[np.float64],
    settings: BoostSettings,
    like: Any = None,
) -> Any:
    """A row for each event and span that is known, with the span as the last input."""
    used, weight = _thinned(outcomes, np.flatnonzero(events), settings)
    place, span = np.nonzero(outcomes[used] != UNKNOWN)
    event = used[place]
    table = np.empty((len(event), inputs.shape[1] + 1), dtype=np.float32)
    table[:, :-1] = inputs[event]
    table[:, -1] = span
    hit = (outcomes[event, span] == HIT).astype(np.float32)
    return lightgbm.Dataset(table, hit, weight=weight[place], init_score=base[span], reference=like, free_raw_data=True)


def _thinned(
    outcomes: NDArray[np.float32], events: NDArray[np.int64], settings: BoostSettings
) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
    """The events that are read, and what each weighs: all with a match ahead, and as many others as there is room for.

    Events in a row look alike: of those from which no match is in sight, some stand for all.
    """
    ahead = (outcomes[events] == HIT).any(axis=1)
    room = max(settings.most_events - int(ahead.sum()), settings.most_events // 2)
    others = events[~ahead]
    if len(events) <= settings.most_events or len(others) <= room:
        return events, np.ones(len(events), dtype=np.float32)
    kept = np.random.default_rng(settings.seed).choice(others, room, replace=False)
    used = np.sort(np.concatenate([events[ahead], kept]))
    weight = np.where((outcomes[used] == HIT).any(axis=1), 1.0, len(others) / room)
    return used, weight.astype(np.float32)


def _log_odds(share: NDArray[np.float64]) -> NDArray[np.float64]:
    held = np.clip(share, 1e-6, 1 - 1e-6)
    return np.asarray(np.log(held) - np.log1p(-held))


def _tree(root: dict[str, Any], inputs: int) -> SingleTree:
    """One tree as arrays; a child always comes after its parent."""
    rows: list[tuple[int, float, int, int, int, float]] = []

    def add(node: dict[str, Any]) -> int:
        here = len(rows)
        if "split_feature" not in node:
            rows.append((0, 0.0, -1, -1, 0, float(node["leaf_value"])))
            return here
        rows.append((0, 0.0, -1, -1, 0, 0.0))
        asked = int(node["split_feature"])
        limit = beyond(float(node["threshold"]))
        left, right = add(node["left_child"]), add(node["right_child"])
        mean = float(node["internal_value"])
        if asked == inputs:
            rows[here] = (SPAN, float(np.floor(node["threshold"]) + 1), left, right, 0, mean)
        else:
            rows[here] = (asked, limit, left, right, int(_unknown_left(node)), mean)
        return here

    add(root)
    columns = [np.array(column) for column in zip(*rows, strict=True)]
    feature, limit, left, right, unknown, value = columns
    return SingleTree(feature, limit, left, right, unknown, value.reshape(-1, 1))


def _unknown_left(node: dict[str, Any]) -> bool:
    """Where LightGBM sends an unknown value: it takes it for a zero unless training met one here."""
    if node["missing_type"] == "NaN":
        return bool(node["default_left"])
    return bool(node["threshold"] >= 0)


def beyond(limit: float) -> float:
    """The least single-precision number above `limit`: below it are the numbers at most `limit`."""
    if abs(limit) > FAR:
        return float(np.copysign(np.inf, limit))
    near = np.float32(limit)
    if float(near) > limit:
        return float(near)
    return float(np.nextafter(near, np.float32(np.inf)))
