"""The path of one event through many trees, and the waiting time that the leaves add up to.

A tree may ask for the span as it asks for an input. All spans of an event walk together as a range, which is cut in two
where a tree asks: a path is walked once for all spans that share it.
"""

from math import exp, isnan, log, log1p
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from foresail.patterns.recognition.arrays import compiled

HAZARDS, CHANCES = 0, 1
"""What leaves add up to: the log-odds of each span's hazard, or the chance of a match by the end of each span."""
SPAN = -1
"""In place of an input: which span it is."""
DEEPEST = 64
"""Ranges of spans that may wait for their turn."""
LEAST_SHARE = 1e-6
TOGETHER = 256
"""Rows that are asked of one tree after the other: the tree and they stay in the cache of the processor."""


class Forest(NamedTuple):
    """All trees as arrays; the children of a leaf are below zero."""

    roots: NDArray[np.int32]
    feature: NDArray[np.int32]
    limit: NDArray[np.float32]
    """Below it to the left."""
    left: NDArray[np.int32]
    right: NDArray[np.int32]
    unknown_left: NDArray[np.uint8]
    """Where an unknown input goes."""
    value: NDArray[np.float32]
    """Per node one number for any span, or one for each; of inner nodes the mean of their leaves, for explanations."""
    base: NDArray[np.float64]


@compiled
def add_tree(
    forest: Forest,
    tree: int,
    inputs: NDArray[np.float32],
    row: int,
    waiting: NDArray[np.int32],
    total: NDArray[np.float64],
    onto: int,
) -> None:
    """Add what one tree says of a row to each span; `waiting` is room for ranges of spans."""
    vectors = forest.value.shape[1] > 1
    waiting[0, 0], waiting[0, 1], waiting[0, 2] = forest.roots[tree], 0, len(forest.base)
    size = 1
    while size > 0:
        size -= 1
        node, low, high = waiting[size, 0], waiting[size, 1], waiting[size, 2]
        while forest.left[node] >= 0:
            asked = forest.feature[node]
            if asked == SPAN:
                cut = np.int32(forest.limit[node])
                if cut >= high:
                    node = forest.left[node]
                elif cut <= low:
                    node = forest.right[node]
                else:
                    waiting[size, 0], waiting[size, 1], waiting[size, 2] = forest.right[node], cut, high
                    size += 1
                    node, high = forest.left[node], cut
                continue
            value = inputs[row, asked]
            if isnan(value):
                node = forest.left[node] if forest.unknown_left[node] else forest.right[node]
            else:
                node = forest.left[node] if value < forest.limit[node] else forest.right[node]
        for span in range(low, high):
            total[onto, span] += forest.value[node, span if vectors else 0]


@compiled
def judge(
    forest: Forest,
    link: int,
    bend: NDArray[np.float64],
    shift: NDArray[np.float64],
    inputs: NDArray[np.float32],
    rows: NDArray[np.int64],
    waiting: NDArray[np.int32],
    hazard: NDArray[np.float64],
) -> None:
    """Write for each of `rows` the hazard of each span; `bend` and `shift` recalibrate its log-odds."""
    spans = len(forest.base)
    for begin in range(0, len(rows), TOGETHER):
        end = min(begin + TOGETHER, len(rows))
        for n in range(begin, end):
            for s in range(spans):
                hazard[n, s] = forest.base[s]
        for tree in range(len(forest.roots)):
            for n in range(begin, end):
                add_tree(forest, tree, inputs, rows[n], waiting, hazard, n)
    for n in range(len(rows)):
        by_now = 0.0
        for s in range(spans):
            odds = hazard[n, s]
            if link == CHANCES:
                chance = min(max(odds, by_now), 1.0)
                share = (chance - by_now) / (1.0 - by_now) if by_now < 1.0 else 0.0
                share = min(max(share, LEAST_SHARE), 1.0 - LEAST_SHARE)
                odds = log(share) - log1p(-share)
                by_now = chance
            hazard[n, s] = 1.0 / (1.0 + exp(-(bend[s] * odds + shift[s])))


@compiled
def spread_out(hazard: NDArray[np.float64], lengths: NDArray[np.int64], waiting: NDArray[np.float64]) -> None:
    """Write for each row the chance that the match comes with the n-th event; beyond the spans the last one goes on."""
    spans, horizon = hazard.shape[1], waiting.shape[1]
    for row in range(len(hazard)):
        survived, n = 1.0, 0
        for s in range(spans):
            stays = exp(log1p(-hazard[row, s]) / lengths[s])
            steps = horizon - n if s == spans - 1 else min(lengths[s], horizon - n)
            for _ in range(steps):
                waiting[row, n] = survived * (1.0 - stays)
                survived *= stays
                n += 1


@compiled
def credit_paths(
    forest: Forest,
    weight: NDArray[np.float64],
    inputs: NDArray[np.float32],
    rows: NDArray[np.int64],
    waiting: NDArray[np.int32],
    credit: NDArray[np.float64],
) -> None:
    """Add to each input by how much the splits that asked for it moved a row's value, its spans weighed by `weight`.

    What the splits by span moved goes to the last column, so that a row's credits add up to what its paths moved.
    """
    vectors = forest.value.shape[1] > 1
    spans, last = len(forest.base), credit.shape[1] - 1
    for n in range(len(rows)):
        for tree in range(len(forest.roots)):
            waiting[0, 0], waiting[0, 1], waiting[0, 2] = forest.roots[tree], 0, spans
            size = 1
            while size > 0:
                size -= 1
                node, low, high = waiting[size, 0], waiting[size, 1], waiting[size, 2]
                if node < 0:
                    # the right half of a cut range waits as a node below zero, so that its own step is credited
                    node = -node - 1
                    for span in range(low, high):
                        parent = waiting[size, 3]
                        column = span if vectors else 0
                        moved = np.float64(forest.value[node, column]) - np.float64(forest.value[parent, column])
                        credit[n, last] += weight[n, span] * moved
                while forest.left[node] >= 0:
                    asked, before = forest.feature[node], node
                    if asked == SPAN:
                        cut = np.int32(forest.limit[node])
                        if cut >= high:
                            node = forest.left[node]
                        elif cut <= low:
                            node = forest.right[node]
                        else:
                            waiting[size, 0], waiting[size, 1] = -forest.right[node] - 1, cut
                            waiting[size, 2], waiting[size, 3] = high, node
                            size += 1
                            node, high = forest.left[node], cut
                    else:
                        value = inputs[rows[n], asked]
                        if isnan(value):
                            node = forest.left[node] if forest.unknown_left[node] else forest.right[node]
                        else:
                            node = forest.left[node] if value < forest.limit[node] else forest.right[node]
                    to = last if asked == SPAN else asked
                    for span in range(low, high):
                        column = span if vectors else 0
                        moved = np.float64(forest.value[node, column]) - np.float64(forest.value[before, column])
                        credit[n, to] += weight[n, span] * moved
