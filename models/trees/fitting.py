"""From events and what came of them to trees; how many trees, and how they are recalibrated, newest events choose."""

from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from foresail.models.trees.boosting import BoostSettings, boosted
from foresail.models.trees.calibration import recalibration
from foresail.models.trees.forest import ForestSettings, grown_forest
from foresail.models.trees.spans import UNKNOWN, Spans, negative_log_likelihood
from foresail.models.trees.trees import Trees

TreeKind: TypeAlias = Literal["hazard", "forest"]
MORE_EVENTS = 1.1
"""Trees for all events beside those for the older ones: there is somewhat more to learn."""


@dataclass(frozen=True, slots=True)
class TreeSettings:
    """How trees of either kind are grown."""

    boost: BoostSettings = BoostSettings()  # noqa: RUF009 - frozen
    forest: ForestSettings = ForestSettings()  # noqa: RUF009 - frozen

    @staticmethod
    def of(most_events: int) -> "TreeSettings":
        """The usual ones, from so many events at most."""
        return TreeSettings(BoostSettings(most_events=most_events), ForestSettings(most_events=most_events))


@dataclass(frozen=True, slots=True, eq=False)
class Trained:
    """Trees, and what the newest events, which they had not seen, chose."""

    trees: Trees
    rounds: int
    """Trees that did best on the newest events."""
    loss: float
    """Minus the log-likelihood of an event's waiting time, on the newest events."""


@dataclass(frozen=True, slots=True, eq=False)
class Examples:
    """Events with what trees read of them and what came."""

    inputs: NDArray[np.float32]
    outcomes: NDArray[np.float32]
    """Per event and span, as `Spans.outcomes` tells."""
    whole: NDArray[np.bool_]
    """Where the track goes on for the whole horizon."""
    spans: Spans

    @property
    def told(self) -> NDArray[np.bool_]:
        """Of which anything is known."""
        return np.asarray((self.outcomes != UNKNOWN).any(axis=1))


def chosen_on_newest(
    kind: TreeKind,
    examples: Examples,
    older: NDArray[np.bool_],
    newest: NDArray[np.bool_],
    settings: TreeSettings,
) -> Trained:
    """Trees fitted on the older events, whose number and recalibration the newest ones choose."""
    fit, judged = older & examples.told, newest & examples.told
    if not fit.any():
        fit, judged = judged, np.zeros_like(judged)
    trees = _grown(kind, examples, fit, judged if judged.any() else None, settings)
    if not judged.any():
        return Trained(trees, len(trees.forest.roots), float("nan"))
    inputs, outcomes = np.ascontiguousarray(examples.inputs[judged]), examples.outcomes[judged]
    trees = trees.recalibrated(*recalibration(trees.hazards(inputs), outcomes))
    return Trained(trees, len(trees.forest.roots), negative_log_likelihood(trees.hazards(inputs), outcomes))


def fitted_on_all(chosen: Trained, examples: Examples, rows: NDArray[np.bool_], settings: TreeSettings) -> Trained:
    """As many trees, somewhat more, fitted on all of these events; recalibrated as the newest ones asked."""
    told = rows & examples.told
    if not told.any():
        return chosen
    rounds = max(1, round(chosen.rounds * MORE_EVENTS))
    trees = _grown(chosen.trees.kind, examples, told, None, settings, rounds)
    return replace(chosen, trees=trees.recalibrated(chosen.trees.bend, chosen.trees.shift))


def _grown(
    kind: str,
    examples: Examples,
    fit: NDArray[np.bool_],
    newest: NDArray[np.bool_] | None,
    settings: TreeSettings,
    rounds: int | None = None,
) -> Trees:
    inputs, outcomes, spans = examples.inputs, examples.outcomes, examples.spans
    if kind == "forest":
        return grown_forest(inputs, outcomes, spans, fit & examples.whole, settings.forest)
    return boosted(inputs, outcomes, spans, fit, newest, settings.boost, rounds)
