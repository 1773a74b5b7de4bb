"""Recalibration of each span's log-odds on events that the trees have not seen, where those ask for it.

Two numbers a span, as Platt has it: bend * odds + shift. Held near (1, 0) by a prior, and kept only where each half of
the events is told better by what the other half chose, so that a few events do not bend what was right.
"""

import numpy as np
from numpy.typing import NDArray

from foresail.models.trees.spans import HIT, UNKNOWN

PRIOR = 10.0
"""What the identity weighs, in events."""
STEPS = 25
LEAST_HITS = 100
LEAST_GAIN = 1e-2
"""Of the log-loss; less is noise."""
MOST_BENT = 2.0
"""What asks for more is not calibration but another model."""


def recalibration(
    hazard: NDArray[np.float64], outcomes: NDArray[np.float32]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Per span bend and shift; 1 and 0 where the events do not ask for any other."""
    bend, shift = np.ones(hazard.shape[1]), np.zeros(hazard.shape[1])
    for s in range(hazard.shape[1]):
        told = outcomes[:, s] != UNKNOWN
        odds, hit = _odds(hazard[told, s]), outcomes[told, s] == HIT
        if hit.sum() >= LEAST_HITS and _asked_for(odds, hit):
            bend[s], shift[s] = _fitted(odds, hit)
    return bend, shift


def _asked_for(odds: NDArray[np.float64], hit: NDArray[np.bool_]) -> bool:
    half = len(odds) // 2
    gained = 0.0
    for mine, other in ((slice(0, half), slice(half, None)), (slice(half, None), slice(0, half))):
        bend, shift = _fitted(odds[mine], hit[mine])
        gained += _loss(odds[other], hit[other]) - _loss(bend * odds[other] + shift, hit[other])
    return gained > LEAST_GAIN * (_loss(odds, hit) + 1e-12)


def _fitted(odds: NDArray[np.float64], hit: NDArray[np.bool_]) -> tuple[float, float]:
    """Newton's steps for the penalised likelihood, which has one best place."""
    bend, shift = 1.0, 0.0
    for _ in range(STEPS):
        chance = 1.0 / (1.0 + np.exp(-(bend * odds + shift)))
        missed, weight = hit - chance, chance * (1.0 - chance)
        slope = np.array([(missed * odds).sum() - PRIOR * (bend - 1.0), missed.sum() - PRIOR * shift])
        cross = (weight * odds).sum()
        curve = np.array([[(weight * odds**2).sum() + PRIOR, cross], [cross, weight.sum() + PRIOR]])
        step = np.linalg.solve(curve, slope)
        bend, shift = min(max(bend + step[0], 1 / MOST_BENT), MOST_BENT), shift + step[1]
        if np.abs(step).max() < 1e-8:
            break
    return bend, shift


def _odds(chance: NDArray[np.float64]) -> NDArray[np.float64]:
    held = np.clip(chance, 1e-9, 1 - 1e-9)
    return np.asarray(np.log(held) - np.log1p(-held))


def _loss(odds: NDArray[np.float64], hit: NDArray[np.bool_]) -> float:
    return float(np.logaddexp(0.0, np.where(hit, -odds, odds)).sum())
