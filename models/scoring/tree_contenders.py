"""Trees as contenders: what they read of each row, hazards and forests, and boosting on the same inputs."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from foresail.models.automaton import symbol_automaton
from foresail.models.decisions import interval
from foresail.models.inputs.columns import input_columns, usable_names
from foresail.models.inputs.plan import InputPlan, fresh_past
from foresail.models.scoring.contenders import (
    BoostingContender,
    Contender,
    Fitted,
    MeanWaitingContender,
    Rows,
    boosting_on,
)
from foresail.models.scoring.problem import Problem, automaton_states
from foresail.models.scoring.thresholds import validation_split
from foresail.models.trees.fitting import (
    Examples,
    Trained,
    TreeKind,
    TreeSettings,
    chosen_on_newest,
    fitted_on_all,
)
from foresail.models.trees.spans import spans_of
from foresail.models.trees.trees import Trees
from foresail.patterns.compiler import CompiledPattern

AT_ONCE = 8192


@dataclass(frozen=True, slots=True, eq=False)
class TreeProblem:
    """The rows of a problem as trees read them."""

    plan: InputPlan
    examples: Examples


def tree_problem(
    problem: Problem,
    names: Sequence[str] | None = None,
    also: Sequence[int] = (),
    pattern: CompiledPattern | None = None,
) -> TreeProblem:
    """What trees read of each row, of the attributes `names`, or of all that may say something.

    `also` are numbers of events that forecasts are asked about; `pattern` is the one whose model they go with.
    """
    served, sequences = pattern or problem.plain, problem.sequences
    states = problem.state if pattern is None else automaton_states(served, sequences)
    known = sorted(usable_names(problem.types)) if names is None else names
    plan = InputPlan(input_columns(sequences.columns, known))
    values = np.full((len(sequences), len(plan.columns)), np.nan)
    for n, column in enumerate(plan.columns):
        values[:, n] = column.numbers(sequences.columns[column.name])
    past = fresh_past(len(sequences.first_of) - 1, len(plan.columns))
    accepting, gap = symbol_automaton(served).accepting, served.spec.max_gap_us
    inputs = plan.advance(values, sequences.times, sequences.first_of, states, accepting, gap, past)
    spans = spans_of(problem.horizon, *also)
    outcomes = spans.outcomes(problem.truth.until, problem.truth.left)
    return TreeProblem(plan, Examples(inputs, outcomes, problem.truth.known(problem.horizon), spans))


@dataclass(slots=True)
class TreeMemo:
    """What contenders over the same rows share: the inputs, and what the newest rows of a fold chose."""

    also: tuple[int, ...]
    settings: TreeSettings
    held: TreeProblem | None = None

    def of(self, problem: Problem) -> TreeProblem:
        """What trees read of the problem's rows."""
        if self.held is None:
            self.held = tree_problem(problem, also=self.also)
        return self.held


@dataclass(slots=True)
class TreeContender:
    """Hazards of boosted trees, or a forest.

    It is fitted twice in each fold: on the older rows, for the threshold, and then on all. The number of trees and the
    recalibration are chosen the first time, within those rows, and kept for the second.
    """

    name: str
    kind: TreeKind
    memo: TreeMemo
    chosen: tuple[Rows, Trained] | None = None

    def fit(self, problem: Problem, rows: Rows) -> Fitted:
        """Fitted on these rows alone."""
        trees = self._trained(problem, rows).trees
        return fitted_trees(trees, self.memo.of(problem).examples.inputs, problem.horizon)

    def _trained(self, problem: Problem, rows: Rows) -> Trained:
        examples, settings = self.memo.of(problem).examples, self.memo.settings
        used = rows & problem.sequences.scored
        held, self.chosen = self.chosen, None
        if held is None or not _is_more(rows, held[0]):
            # kept for the next fit alone: rows of a later fold are more than those of this one too
            held = self.chosen = (rows, train_on(self.kind, problem, examples, rows, settings))
        return fitted_on_all(held[1], examples, used, settings)


def train_on(kind: TreeKind, problem: Problem, examples: Examples, rows: Rows, settings: TreeSettings) -> Trained:
    """Trees on the older of these rows, of which the newest choose how many and how they are recalibrated."""
    sequences = problem.sequences
    gap = max(problem.horizon, problem.max_order)
    older, newest = validation_split(sequences.track, sequences.index, rows, gap)
    if not older.any():
        older, newest = validation_split(sequences.track, sequences.index, rows, 0)
    scored = sequences.scored
    return chosen_on_newest(kind, examples, older & scored, newest & scored, settings)


def _is_more(rows: Rows, fewer: Rows) -> bool:
    """Whether these rows are the others and some more: the second fit of a fold."""
    return bool((rows[fewer]).all() and rows.sum() > fewer.sum())


def fitted_trees(trees: Trees, inputs: NDArray[np.float32], horizon: int) -> Fitted:
    """What trees say of every row."""
    hazard = trees.hazards(inputs)

    def intervals(mass: float) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        earliest, latest = (np.empty(len(hazard), dtype=np.int32) for _ in range(2))
        for begin in range(0, len(hazard), AT_ONCE):
            some = slice(begin, begin + AT_ONCE)
            found = interval(trees.waiting(hazard[some], horizon), mass)
            earliest[some], latest[some] = found.earliest, found.latest
        return earliest, latest

    return Fitted(lambda events: trees.within(hazard, min(events, horizon)), intervals)


@dataclass(frozen=True, slots=True)
class SameInputsContender:
    """Histogram gradient boosting on all that trees read, a classifier for each w."""

    memo: TreeMemo
    name: str = "gradient boosting, same inputs"
    iterations: int = 100

    def fit(self, problem: Problem, rows: Rows) -> Fitted:
        """Fitted when it is asked, on the rows whose coming events are known."""
        return Fitted(boosting_on(self.memo.of(problem).examples.inputs, problem, rows, self.iterations))


def with_trees(
    contenders: Sequence[Contender], also: tuple[int, ...], settings: TreeSettings, boosting: int = 100
) -> list[Contender]:
    """The usual table with trees, and with boosting on the same inputs; `also` are the w that are asked about."""
    memo = TreeMemo(also, settings)
    baselines = [one for one in contenders if isinstance(one, MeanWaitingContender | BoostingContender)]
    return [
        *(one for one in contenders if one not in baselines),
        TreeContender("hazard", "hazard", memo),
        TreeContender("forest", "forest", memo),
        *baselines,
        SameInputsContender(memo, iterations=boosting),
    ]
