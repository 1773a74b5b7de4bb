"""The event path of forecasting for pattern families: one far row per track, and the features that differ from it.

A feature that a track has not been near for a while sees the events of any other such feature: they share the far row.
A row of its own exists from the event that is near a feature until neither its chain states nor its history tell it
apart from the far row.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from foresail.models.kernels.decisions import Decisions
from foresail.models.kernels.forecast import NO_GAP, UNKNOWN, Rows, is_emitted
from foresail.patterns.recognition.arrays import compiled, inlined

FAR = -1


class Steps(NamedTuple):
    """The chains of all models, one after the other: step x of model m is at `step_at[m] + x * symbols[m] + symbol`."""

    step: NDArray[np.int32]
    step_at: NDArray[np.int64]
    start: NDArray[np.int32]
    """Where a track begins anew from chain state x of model m: at `start_at[m] + x`."""
    start_at: NDArray[np.int64]
    symbols: NDArray[np.int64]
    max_gap: NDArray[np.int64]
    history_at: NDArray[np.int64]
    """The places of each model in a row of history, and the end."""


class Features(NamedTuple):
    """Rows of tracks: the far row first, then those of features."""

    feature: NDArray[np.int32]
    near: NDArray[np.uint8]
    chain: NDArray[np.int32]
    history: NDArray[np.uint16]


@compiled
def copy_feature(source: Features, row: int, target: Features, onto: int) -> None:
    """Make row `onto` of `target` equal to row `row` of `source`."""
    target.feature[onto] = source.feature[row]
    target.near[onto] = source.near[row]
    for m in range(source.chain.shape[1]):
        target.chain[onto, m] = source.chain[row, m]
    for n in range(source.history.shape[1]):
        target.history[onto, n] = source.history[row, n]


@compiled
def clear_feature(rows: Features, row: int) -> None:
    """Make a row that of a track of which nothing has been read, far from everything."""
    rows.feature[row], rows.near[row] = FAR, 0
    for m in range(rows.chain.shape[1]):
        rows.chain[row, m] = 0
    for n in range(rows.history.shape[1]):
        rows.history[row, n] = 0


@inlined
def step_feature(
    steps: Steps, model: int, rows: Features, row: int, number: int, symbol: NDArray[np.int32], restarts: bool
) -> None:
    """One model of one row reads one event."""
    first, end = steps.history_at[model], steps.history_at[model + 1]
    read = symbol[number, model]
    if restarts:
        rows.chain[row, model] = steps.start[steps.start_at[model] + rows.chain[row, model]]
        for n in range(first, end):
            rows.history[row, n] = 0
    x = rows.chain[row, model]
    rows.chain[row, model] = steps.step[steps.step_at[model] + x * steps.symbols[model] + read]
    for n in range(first, end - 1):
        rows.history[row, n] = rows.history[row, n + 1]
    if end > first:
        rows.history[row, end - 1] = read


@compiled
def without_far_ones(rows: Features, first: int, count: int) -> int:
    """Drop the features that are not near and that nothing tells apart from the far row; how many rows are left."""
    left = 1
    for row in range(first + 1, first + count):
        differs = rows.near[row] != 0
        for m in range(rows.chain.shape[1]):
            differs = differs or rows.chain[row, m] != rows.chain[first, m]
        for n in range(rows.history.shape[1]):
            differs = differs or rows.history[row, n] != rows.history[first, n]
        if differs:
            if row != first + left:
                copy_feature(rows, row, rows, first + left)
            left += 1
    return left


@compiled
def meet(
    rows: Features,
    first: int,
    count: int,
    near_feature: NDArray[np.int32],
    begin: int,
    end: int,
    row_of: NDArray[np.int64],
) -> int:
    """Give each near feature a row, copied from the far one where it has none; how many rows there are."""
    for n in range(begin, end):
        row = first + 1
        while row < first + count and rows.feature[row] != near_feature[n]:
            row += 1
        if row == first + count:
            copy_feature(rows, first, rows, row)
            rows.feature[row], rows.near[row] = near_feature[n], 0
            count += 1
        row_of[n] = row
    return count


@compiled
def follow_families(
    steps: Steps,
    symbol: NDArray[np.int32],
    far_numbers: NDArray[np.int32],
    times: NDArray[np.int64],
    first_of: NDArray[np.int64],
    near_at: NDArray[np.int64],
    near_feature: NDArray[np.int32],
    near_numbers: NDArray[np.int32],
    seen: NDArray[np.int64],
    last_time: NDArray[np.int64],
    saved_at: NDArray[np.int64],
    saved: Features,
    length: NDArray[np.uint8],
    kept_at: NDArray[np.int64],
    kept: Features,
    row_of: NDArray[np.int64],
    read_by: NDArray[np.int32],
    before: NDArray[np.int32],
    now: NDArray[np.int32],
) -> None:
    """Read the events of each track; write the rows after it, and per near feature the chain states before and now.

    `kept` has room for every saved row, one far row per track and one row per near feature.
    """
    for track in range(len(first_of) - 1):
        base = kept_at[track]
        count = max(saved_at[track + 1] - saved_at[track], 1)
        clear_feature(kept, base)
        for row in range(saved_at[track], saved_at[track + 1]):
            copy_feature(saved, row, kept, base + row - saved_at[track])
        heard = last_time[track] if seen[track] else times[min(first_of[track], len(times) - 1)]
        for event in range(first_of[track], first_of[track + 1]):
            gap, heard = times[event] - heard, times[event]
            count = meet(kept, base, count, near_feature, near_at[event], near_at[event + 1], row_of)
            for row in range(count):
                read_by[row] = far_numbers[event]
            for n in range(near_at[event], near_at[event + 1]):
                read_by[row_of[n] - base] = near_numbers[n]
                for m in range(before.shape[1]):
                    before[n, m] = kept.chain[row_of[n], m] if kept.near[row_of[n]] else UNKNOWN
            for m in range(before.shape[1]):
                restarts = steps.max_gap[m] != NO_GAP and gap > steps.max_gap[m]
                most = steps.history_at[m + 1] - steps.history_at[m]
                length[track, m] = min((0 if restarts else length[track, m]) + 1, most)
                for row in range(count):
                    step_feature(steps, m, kept, base + row, read_by[row], symbol, restarts)
            for row in range(count):
                kept.near[base + row] = 0
            for n in range(near_at[event], near_at[event + 1]):
                kept.near[row_of[n]] = 1
                for m in range(now.shape[1]):
                    now[n, m] = kept.chain[row_of[n], m]
            count = without_far_ones(kept, base, count)
        kept_at[track + 1] = base + count


@compiled
def tell_near(
    decisions: Decisions,
    first_decision: int,
    how: int,
    model: int,
    before: NDArray[np.int32],
    now: NDArray[np.int32],
    rows: Rows,
    at: int,
) -> int:
    """Write the forecasts of one model that are emitted, from row `at` on; the next free row."""
    for n in range(len(now)):
        if is_emitted(decisions, how, now[n, model], before[n, model]):
            rows.of[at], rows.said[at] = n, first_decision + now[n, model]
            at += 1
    return at
