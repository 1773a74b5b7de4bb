"""How far an automaton is from a match: the shortest way from its state to acceptance. Far states are the hard ones."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from foresail.models.scoring.classification import Classification, score_within

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
