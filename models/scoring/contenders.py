"""What competes in an evaluation: chains of every order, learned features, and what one would try instead.

A contender is fitted on some rows and then says, for every row, how probable a match within w events is.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from foresail.models.counts import Counts
from foresail.models.decisions import interval, within
from foresail.models.features import learn_features, with_features
from foresail.models.groups import build_groups
from foresail.models.model import Model, ModelSettings, build
from foresail.models.scoring.problem import Problem, chain_states, count_rows, count_rows_by_group
from foresail.models.scoring.report import LearnedFeature
from foresail.models.scoring.sequences import Sequences
from foresail.models.suffix_tree import LearnSettings
from foresail.models.symbols import SymbolTable
from foresail.patterns.compiler import CompiledPattern, compile_pattern

Rows = NDArray[np.bool_]

SMALL = 50_000


@dataclass(frozen=True, slots=True, eq=False)
class Fitted:
    """A contender that has been fitted: what it says of every row."""

    within: Callable[[int], NDArray[np.float64]]
    """Per row the probability of a match within so many events."""
    interval: Callable[[float], tuple[NDArray[np.int32], NDArray[np.int32]]] | None = None
    """Per row the earliest and latest of the interval with that mass; 0 for none."""
    next_symbol: NDArray[np.float64] | None = None
    """Per row the probability that the symbol of the following row had; NaN at the end of a sequence."""
    model: Model | None = None
    features: tuple[LearnedFeature, ...] = ()


class Contender(Protocol):
    """Anything that can be fitted on rows and asked about all of them."""

    @property
    def name(self) -> str:
        """What the table calls it."""
        ...

    def fit(self, problem: Problem, rows: Rows) -> Fitted:
        """What it says after having seen `rows` alone."""
        ...


@dataclass(slots=True)
class CountsMemo:
    """Counts of the same rows, which contenders of different orders share."""

    held: dict[bytes, Counts] = field(default_factory=dict)

    def of(self, problem: Problem, rows: Rows) -> Counts:
        """The counts of the problem's own pattern over these rows."""
        key = np.packbits(rows).tobytes()
        if key not in self.held:
            self.held.clear()
            self.held[key] = count_rows(problem.pattern, problem.sequences, rows, problem.max_order)
        return self.held[key]


@dataclass(frozen=True, slots=True)
class ChainContender:
    """A chain of one order over the features that are written down."""

    name: str
    learn: LearnSettings
    memo: CountsMemo
    group_matches: int | None = None
    """Not none: a model for each group with at least so many matches."""

    def fit(self, problem: Problem, rows: Rows) -> Fitted:
        """Learned from the counts of these rows."""
        if self.group_matches is not None:
            return fitted_groups(problem.pattern, rows, self.learn, problem, self.group_matches)
        return fitted_chain(problem.pattern, self.memo.of(problem, rows), self.learn, problem)


@dataclass(frozen=True, slots=True)
class LearnedContender:
    """A chain over features learned from the rows it is fitted on."""

    name: str
    learn: LearnSettings
    leaves: int
    group_matches: int | None = None
    """Not none: a model for each group with at least so many matches."""

    def fit(self, problem: Problem, rows: Rows) -> Fitted:
        """The tree and the chain see these rows alone."""
        found = learned_on(problem, rows, self.leaves)
        pattern = compile_pattern(with_features(problem.plain.spec, found), problem.types)
        if self.group_matches is not None:
            fitted = fitted_groups(pattern, rows, self.learn, problem, self.group_matches)
        else:
            counts = count_rows(pattern, problem.sequences, rows, problem.max_order)
            fitted = fitted_chain(pattern, counts, self.learn, problem)
        return replace(fitted, features=found)


@dataclass(frozen=True, slots=True)
class MeanWaitingContender:
    """For each automaton state the mean events until a match, as if matches came without memory at that pace."""

    name: str = "mean waiting time"

    def fit(self, problem: Problem, rows: Rows) -> Fitted:
        """Means over the rows whose coming events are known up to the horizon."""
        used = rows & problem.sequences.scored & problem.truth.known(problem.horizon)
        states = problem.plain.automaton.states
        waited = problem.truth.capped(problem.horizon)
        times = np.bincount(problem.state[used], minlength=states)
        total = np.bincount(problem.state[used], weights=waited[used], minlength=states)
        mean = np.divide(total, times, out=np.full(states, problem.horizon + 1.0), where=times > 0)
        pace = 1.0 / np.maximum(mean, 1.0)
        return Fitted(lambda events: (1.0 - (1.0 - pace) ** events)[problem.state])


@dataclass(frozen=True, slots=True)
class BoostingContender:
    """Histogram gradient boosting on the raw attributes: a classifier for each w that is asked for."""

    name: str = "gradient boosting"
    iterations: int = 100

    def fit(self, problem: Problem, rows: Rows) -> Fitted:
        """Fitted when it is asked, on the rows whose coming events are known."""
        return Fitted(boosting_on(problem.raw.values.astype(np.float32), problem, rows, self.iterations))


def boosting_on(
    values: NDArray[np.float32], problem: Problem, rows: Rows, iterations: int
) -> Callable[[int], NDArray[np.float64]]:
    """A classifier over these values for each w that is asked for."""
    from sklearn.ensemble import HistGradientBoostingClassifier  # noqa: PLC0415 - takes seconds to import

    def within(events: int) -> NDArray[np.float64]:
        used = rows & problem.sequences.scored & problem.truth.known(events)
        truth = problem.truth.within(events)
        if not truth[used].any() or truth[used].all():
            return np.full(len(values), float(truth[used].any()))
        boosting = HistGradientBoostingClassifier(max_iter=iterations, random_state=0)
        # threads that wait for each other cost more than they help where there is little to do
        with threadpool_limits(limits=1 if len(values) < SMALL else None, user_api="openmp"):
            known = ~np.isnan(values[used]).all(axis=0)
            boosting.fit(values[used][:, known], truth[used])
            given: NDArray[np.float64] = boosting.predict_proba(values[:, known])[:, 1]
        return given

    return within


def learned_on(problem: Problem, rows: Rows, leaves: int) -> tuple[LearnedFeature, ...]:
    """The features that a tree learns from these rows."""
    used = rows & problem.sequences.scored & problem.truth.known(problem.horizon)
    attributes = replace(problem.attributes, values=problem.attributes.values[used])
    until = problem.truth.capped(problem.horizon)[used]
    return learn_features(
        attributes, until, problem.horizon, problem.plain.conditions, leaves, problem.plain.name
    ).features


def fitted_chain(pattern: CompiledPattern, counts: Counts, learn: LearnSettings, problem: Problem) -> Fitted:
    """What the chain of these counts says of every row, each sequence read from its beginning."""
    model = build(pattern, counts, _settings(learn, problem))
    return _fitted((model,), chain_states(model, problem.sequences), pattern, problem)


def fitted_groups(
    pattern: CompiledPattern, rows: Rows, learn: LearnSettings, problem: Problem, least_matches: int
) -> Fitted:
    """What the chain of each row's group says of it, or that of all tracks where the group has none of its own."""
    groups, sequences = problem.groups, problem.sequences
    assert groups is not None, "models by group need to know the groups"
    counts = count_rows_by_group(pattern, sequences, rows, groups, problem.max_order)
    settings = _settings(learn, problem)
    model = build(pattern, counts.together(), settings)
    own = build_groups(pattern, counts, settings, "", least_matches).models
    number = np.array([1 + list(own).index(name) if name in own else 0 for name in groups.names], dtype=np.int64)
    serving = number[groups.of_track[sequences.track[sequences.first_of[:-1]]]]
    members = (model, *own.values())
    return _fitted(members, chain_states(model, sequences, members[1:], serving), pattern, problem)


def _settings(learn: LearnSettings, problem: Problem) -> ModelSettings:
    return ModelSettings(learn=learn, horizon=problem.horizon, forecast_in_accepting=True)


def _fitted(members: tuple[Model, ...], chain: NDArray[np.int32], pattern: CompiledPattern, problem: Problem) -> Fitted:
    waiting = np.concatenate([model.waiting for model in members])

    def intervals(mass: float) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        found = interval(waiting, mass)
        return found.earliest[chain], found.latest[chain]

    return Fitted(
        lambda events: within(waiting, min(events, problem.horizon))[chain],
        intervals,
        _next_symbol(members, pattern, chain, problem.sequences),
        members[0],
    )


def _next_symbol(
    members: tuple[Model, ...], pattern: CompiledPattern, chain: NDArray[np.int32], sequences: Sequences
) -> NDArray[np.float64]:
    symbols = SymbolTable(pattern).symbols(sequences.words(pattern.conditions))
    given = np.full(len(chain), np.nan)
    contexts = np.cumsum([0, *(len(model.chain.distribution) for model in members)])
    context = np.concatenate([model.chain.context + first for model, first in zip(members, contexts, strict=False)])
    distribution = np.concatenate([model.chain.distribution for model in members])
    given[:-1] = distribution[context[chain[:-1]], symbols[1:]]
    given[sequences.first_of[1:] - 1] = np.nan
    return given


def standard_contenders(
    orders: Sequence[int],
    learn: LearnSettings,
    leaves: int | None,
    boosting: int = 100,
    per: str | None = None,
    group_matches: int = 1,
) -> list[Contender]:
    """The usual table: the orders, a full order, learned features at the order of `learn`, and the baselines.

    With `per`, models by group stand beside those of all tracks.
    """
    memo = CountsMemo()
    found: list[Contender] = [
        ChainContender(f"order {order}", replace(learn, order=order, kind="variable"), memo) for order in orders
    ]
    if max(orders) >= 2:
        found.append(ChainContender("full order 2", replace(learn, order=2, kind="full"), memo))
    if leaves is not None:
        found.append(LearnedContender("learned", learn, leaves))
        if max(orders) > learn.order:
            higher = replace(learn, order=max(orders))
            found.append(LearnedContender(f"learned, order {higher.order}", higher, leaves))
    if per is not None:
        found.append(ChainContender(f"order {learn.order} per {per}", learn, memo, group_matches))
        if leaves is not None:
            found.append(LearnedContender(f"learned per {per}", learn, leaves, group_matches))
    return [*found, MeanWaitingContender(), BoostingContender(iterations=boosting)]
