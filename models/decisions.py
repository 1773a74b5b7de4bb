"""What a model says in each chain state, decided once, so that the event path only looks it up."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from foresail.models.chain import Chain
from foresail.models.kernels.decisions import Decisions
from foresail.models.kinds import NONE, Kind, interval, most_likely, within
from foresail.models.limits import reaches

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
    emitted = np.ones(chain.states, dtype=np.bool_) if rule.in_accepting else ~chain.accepting
    return Decisions(
        emitted=emitted.astype(np.uint8),
        model=np.zeros(chain.states, dtype=np.int32),
        chain=np.arange(chain.states, dtype=np.int32),
        state=np.ascontiguousarray(chain.state),
        probability=probability,
        positive=positive.astype(np.uint8),
        earliest=stretch.earliest,
        latest=stretch.latest,
        most_likely=point.events,
        earliest_s=_seconds(stretch.earliest, seconds, step_s),
        latest_s=_seconds(stretch.latest, seconds, step_s),
        most_likely_s=_seconds(point.events, seconds, step_s),
    )


def _seconds(
    events: NDArray[np.int32], seconds: NDArray[np.float32] | None, step_s: float | None
) -> NDArray[np.float32]:
    """The mean seconds that so many events take in each state; NaN for none."""
    if seconds is not None:
        taken = np.asarray(seconds[np.arange(len(events)), np.maximum(events - 1, 0)], dtype=np.float32)
    else:
        taken = (events * np.float32(np.nan if step_s is None else step_s)).astype(np.float32)
    return np.where(events == NONE, np.float32(np.nan), taken)
