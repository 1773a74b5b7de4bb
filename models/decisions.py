"""What a model says in each chain state, decided once, so that the event path only looks it up.

What a forecast says, from waiting times: a match within w events, the shortest interval, or the likeliest event.
"""

from typing import Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from foresail.models.chain import Chain
from foresail.models.errors import ModelSettingError
from foresail.models.kernels.compilation import interval_kernel
from foresail.models.kernels.decisions import Decisions
from foresail.models.limits import STORED, least, reaches

Kind: TypeAlias = Literal["within", "interval", "most_likely"]
KINDS: tuple[Kind, ...] = ("within", "interval", "most_likely")
NONE = 0
"""Stands for `none` in earliest, latest and most likely, which count from 1."""


class IntervalForecast(NamedTuple):
    """Per state the shortest interval; earliest and latest are NONE where no interval reaches the threshold."""

    earliest: NDArray[np.int32]
    latest: NDArray[np.int32]
    probability: NDArray[np.float64]


class PointForecast(NamedTuple):
    """Per state the likeliest number of events; NONE where no match is possible within the horizon."""

    events: NDArray[np.int32]
    probability: NDArray[np.float64]


def within(waiting: NDArray[np.floating], events: int) -> NDArray[np.float64]:
    """Per state the probability of a match within so many events."""
    if not 1 <= events <= waiting.shape[1]:
        msg = f"within {events} events lies outside the horizon of 1 to {waiting.shape[1]}. Choose a number inside."
        raise ModelSettingError(msg)
    total = np.zeros(len(waiting))
    for n in range(events):  # one by one, so that a longer look ahead never loses to rounding
        total += waiting[:, n]
    return np.minimum(total, 1.0)


def interval(waiting: NDArray[np.floating], threshold: float | NDArray[np.float64]) -> IntervalForecast:
    """Per state the shortest interval with at least that mass; of equal ones the likelier, then the earlier."""
    states = len(waiting)
    limit = np.broadcast_to(np.asarray(threshold, dtype=np.float64), (states,))
    earliest, latest = np.empty(states, dtype=np.int32), np.empty(states, dtype=np.int32)
    mass = np.empty(states)
    interval_kernel()(np.ascontiguousarray(waiting, dtype=np.float64), least(limit, STORED), earliest, latest, mass)
    return IntervalForecast(earliest, latest, np.minimum(mass, 1.0))


def most_likely(waiting: NDArray[np.floating]) -> PointForecast:
    """Per state the likeliest number of events, the earliest of equals."""
    best = np.argmax(waiting, axis=1)
    probability = waiting[np.arange(len(waiting)), best].astype(np.float64)
    return PointForecast(np.where(probability > 0, best + 1, NONE).astype(np.int32), probability)


LIKELY_SHARE = 0.5
"""Beside `within` and `most_likely`: the interval that holds this share of the mass they look at."""


class Rule(NamedTuple):
    """What makes a forecast positive."""

    kind: Kind
    events_ahead: int
    horizon: int
    threshold: float
    in_accepting: bool


def decided(
    chain: Chain, waiting: NDArray[np.float32], seconds: NDArray[np.float32] | None, step_s: float | None, rule: Rule
) -> Decisions:
    """The decisions for every chain state.

    The kind `interval` gives the shortest interval with the threshold's mass; where there is no such, none, and no
    probability either. Beside the other kinds stands the shortest interval with half of the mass they look at: when it
    comes, it likely comes then.
    """
    said = said_of(waiting, rule)
    emitted = np.ones(chain.states, dtype=np.bool_) if rule.in_accepting else ~chain.accepting
    return Decisions(
        emitted=emitted.astype(np.uint8),
        model=np.zeros(chain.states, dtype=np.int32),
        chain=np.arange(chain.states, dtype=np.int32),
        state=np.ascontiguousarray(chain.state),
        probability=said.probability,
        positive=said.positive.astype(np.uint8),
        earliest=said.earliest,
        latest=said.latest,
        most_likely=said.most_likely,
        earliest_s=_seconds(said.earliest, seconds, step_s),
        latest_s=_seconds(said.latest, seconds, step_s),
        most_likely_s=_seconds(said.most_likely, seconds, step_s),
    )


class Said(NamedTuple):
    """Per row of waiting times what a forecast says, whatever the waiting times came from."""

    probability: NDArray[np.float64]
    positive: NDArray[np.bool_]
    earliest: NDArray[np.int32]
    latest: NDArray[np.int32]
    most_likely: NDArray[np.int32]


def said_of(waiting: NDArray[np.floating], rule: Rule) -> Said:
    """What the rule makes of each row of waiting times."""
    seen = waiting[:, : rule.horizon]
    point = most_likely(seen)
    if rule.kind == "interval":
        stretch = interval(seen, rule.threshold)
        positive = stretch.earliest != NONE
        probability = np.where(positive, stretch.probability, np.nan)
    else:
        ahead = rule.events_ahead if rule.kind == "within" else rule.horizon
        mass = within(seen, ahead)
        stretch = interval(seen[:, :ahead], LIKELY_SHARE * mass)
        probability = mass if rule.kind == "within" else point.probability
        positive = reaches(probability, rule.threshold) & (probability > 0)
    return Said(probability, positive, stretch.earliest, stretch.latest, point.events)


def _seconds(
    events: NDArray[np.int32], seconds: NDArray[np.float32] | None, step_s: float | None
) -> NDArray[np.float32]:
    """The mean seconds that so many events take in each state; NaN for none."""
    if seconds is not None:
        taken = np.asarray(seconds[np.arange(len(events)), np.maximum(events - 1, 0)], dtype=np.float32)
    else:
        taken = (events * np.float32(np.nan if step_s is None else step_s)).astype(np.float32)
    return np.where(events == NONE, np.float32(np.nan), taken)
