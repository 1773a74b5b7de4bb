"""The horizon in some ten spans, short ones first, and what is known of each event about each span.

An event after the last match of a track is censored, not negative: it counts in the spans that the track still covers.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from foresail.models.scoring.truth import NO_MATCH

MOST_SPANS = 8
HIT, PASSED, UNKNOWN = 1.0, 0.0, -1.0


@dataclass(frozen=True)
class Spans:
    """Span s holds the events after `ends[s - 1]` up to `ends[s]` from now."""

    ends: tuple[int, ...]

    @property
    def horizon(self) -> int:
        """The last event that is looked at."""
        return self.ends[-1]

    def __len__(self) -> int:
        return len(self.ends)

    @cached_property
    def lengths(self) -> NDArray[np.int64]:
        """How many events each span has."""
        ends = np.array([0, *self.ends], dtype=np.int64)
        return ends[1:] - ends[:-1]

    def outcomes(self, until: NDArray[np.int64], left: NDArray[np.int64]) -> NDArray[np.float32]:
        """Per event and span: HIT by the match, PASSED without one, or UNKNOWN.

        `until` are the events to the next match, NO_MATCH where the track has none; `left` the events that follow.
        """
        ends = np.array(self.ends)
        begins = ends - self.lengths
        comes = np.where(until == NO_MATCH, np.iinfo(np.int64).max, until)[:, None]
        seen = np.maximum(left, np.where(until == NO_MATCH, 0, until))[:, None]
        passed = (comes > ends) & (seen >= ends)
        hit = (comes > begins) & (comes <= ends)
        return np.where(hit, HIT, np.where(passed, PASSED, UNKNOWN)).astype(np.float32)


def spans_of(horizon: int, *also: int, most: int = MOST_SPANS) -> Spans:
    """Spans that grow with the distance; each of `also` is the end of one, for which the nearest end moves."""
    ends = {int(end) for end in np.round(np.geomspace(1, horizon, min(most, horizon)))}
    for events in sorted({w for w in also if 1 <= w < horizon} - ends):
        movable = ends - {1, horizon, *also}
        if movable:
            ends.remove(min(movable, key=lambda end: (abs(np.log(end / events)), end)))
        ends.add(events)
    return Spans(tuple(sorted({*ends, horizon})))


def hazards(outcomes: NDArray[np.float32], weights: NDArray[np.float64] | None = None) -> NDArray[np.float64]:
    """Per span the share of the events that reached it which it hit, a little smoothed; 0 where none was hit."""
    weight = np.ones(len(outcomes)) if weights is None else weights
    hit = ((outcomes == HIT) * weight[:, None]).sum(axis=0)
    reached = ((outcomes != UNKNOWN) * weight[:, None]).sum(axis=0)
    return np.asarray(np.where(hit > 0, hit, 1e-3) / (reached + 1.0))


def negative_log_likelihood(hazard: NDArray[np.floating], outcomes: NDArray[np.float32]) -> float:
    """The mean over events of minus the log of what the hazards gave to what came, as far as it is known."""
    if not len(outcomes):
        return 0.0
    held = np.clip(hazard, 1e-9, 1 - 1e-9)
    logs = np.where(outcomes == HIT, np.log(held), np.where(outcomes == PASSED, np.log1p(-held), 0.0))
    return float(-logs.sum() / len(outcomes))
