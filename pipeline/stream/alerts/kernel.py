"""The life of alerts as one pass over observations: dwell, hysteresis, cool-down, updates at a calm pace, silence.

Every decision depends on event time and on positions in the track alone, so that rows cut into other micro-batches
make the same alerts.
"""

from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numba import int64, typeof
from numpy.typing import NDArray

from foresail.patterns.recognition.arrays import compiled
from foresail.patterns.recognition.compilation import Kernel, ready

HOLDS, BELOW, ENDS = 0, 1, 2
"""What an observation says: it is so; it is no longer quite so; it is over."""
IDLE, PENDING, OPEN = 0, 1, 2
OPENED, UPDATED, CLOSED = 0, 1, 2
OVER, CLEARED, SILENT = 0, 1, 2
"""Why an alert was closed: its end was emitted; it stayed below; nothing more was heard."""
NONE = -1
LONG_AGO = -(2**62)
FOREVER_US = 2**61


class Limits(NamedTuple):
    """For each rule: spans in microseconds, and numbers of events."""

    min_dwell: Any
    cool_down: Any
    hold: Any
    """Silence of a group that holds, after which it is over."""
    below: Any
    """Silence of a group that is below, after which it is over."""
    raise_events: Any
    clear_events: Any
    update_every: Any
    sparse: Any
    """1 where events without an observation were below."""


class Machines(NamedTuple):
    """For each group, where its alert stands."""

    rule: NDArray[np.int64]
    phase: NDArray[np.int64]
    holding: NDArray[np.int64]
    """Observations since it began."""
    began: NDArray[np.int64]
    first_began: NDArray[np.int64]
    """When the earliest match of the first observation began."""
    named: NDArray[np.int64]
    """The time that is part of the alert's id."""
    last: NDArray[np.int64]
    last_index: NDArray[np.int64]
    below_since: NDArray[np.int64]
    below_index: NDArray[np.int64]
    emitted: NDArray[np.int64]
    ended: NDArray[np.int64]
    """Last time at which the alert before held."""
    changes: NDArray[np.int64]
    row: NDArray[np.int64]
    """The observation of this batch that held last, or NONE."""


class Observations(NamedTuple):
    """In the order of time within each group."""

    group: NDArray[np.int64]
    says: NDArray[np.int64]
    time: NDArray[np.int64]
    index: NDArray[np.int64]
    began: NDArray[np.int64]
    first_began: NDArray[np.int64]
    named: NDArray[np.int64]


class AlertChanges(NamedTuple):
    """Room for the changes of alerts."""

    group: NDArray[np.int64]
    status: NDArray[np.int64]
    time: NDArray[np.int64]
    why: NDArray[np.int64]
    row: NDArray[np.int64]
    began: NDArray[np.int64]
    first_began: NDArray[np.int64]
    named: NDArray[np.int64]
    change: NDArray[np.int64]


@compiled
def write(emitted: AlertChanges, at: int, machines: Machines, g: int, status: int, time: int, why: int) -> int:
    """Write a change of the alert of group `g`; the next free row."""
    machines.changes[g] = 1 if status == OPENED else machines.changes[g] + 1
    emitted.group[at] = g
    emitted.status[at] = status
    emitted.time[at] = time
    emitted.why[at] = why
    emitted.row[at] = machines.row[g]
    emitted.began[at] = machines.began[g]
    emitted.first_began[at] = machines.first_began[g]
    emitted.named[at] = machines.named[g]
    emitted.change[at] = machines.changes[g]
    machines.emitted[g] = time
    return at + 1


@compiled
def finish(emitted: AlertChanges, at: int, machines: Machines, g: int, time: int, why: int) -> int:
    """End what group `g` has begun; an alert that was never emitted ends in silence."""
    if machines.phase[g] == OPEN:
        at = write(emitted, at, machines, g, CLOSED, time, why)
        machines.ended[g] = machines.last[g]
    machines.phase[g] = IDLE
    machines.below_index[g] = NONE
    return at


@compiled
def lapse(limits: Limits, emitted: AlertChanges, at: int, machines: Machines, g: int, now: int) -> int:
    """End group `g` where it has been silent for too long at `now`."""
    if machines.phase[g] == IDLE:
        return at
    rule = machines.rule[g]
    if machines.below_index[g] != NONE:
        until = machines.below_since[g] + limits.below[rule]
        return finish(emitted, at, machines, g, until, CLEARED) if now > until else at
    until = machines.last[g] + limits.hold[rule]
    return finish(emitted, at, machines, g, until, SILENT) if now > until else at


@compiled
def fall(limits: Limits, emitted: AlertChanges, at: int, machines: Machines, g: int, time: int, index: int) -> int:
    """One more event below: too many in a row end the alert, the first one what was not yet an alert."""
    if machines.phase[g] == PENDING:
        return finish(emitted, at, machines, g, time, CLEARED)
    if machines.phase[g] == OPEN:
        if machines.below_index[g] == NONE:
            machines.below_index[g] = index
            machines.below_since[g] = time
        if index - machines.below_index[g] + 1 >= limits.clear_events[machines.rule[g]]:
            return finish(emitted, at, machines, g, time, CLEARED)
    return at


@compiled
def bridge(limits: Limits, emitted: AlertChanges, at: int, machines: Machines, g: int, index: int) -> int:
    """Before an event that holds: events of which nothing was emitted may have been below for too long."""
    rule = machines.rule[g]
    if machines.phase[g] != IDLE and limits.sparse[rule]:
        missed = index - machines.last_index[g] - 1
        if missed >= limits.clear_events[rule] or (missed > 0 and machines.phase[g] == PENDING):
            at = finish(emitted, at, machines, g, machines.last[g], CLEARED)
    elif machines.below_index[g] != NONE and index - machines.below_index[g] >= limits.clear_events[rule]:
        at = finish(emitted, at, machines, g, machines.below_since[g], CLEARED)
    machines.below_index[g] = NONE
    return at


@compiled
def hold(
    limits: Limits, emitted: AlertChanges, at: int, machines: Machines, g: int, seen: Observations, row: int
) -> int:
    """One more observation that holds: open the alert once all conditions are met, or update it now and then."""
    rule, time = machines.rule[g], seen.time[row]
    if machines.phase[g] == IDLE:
        machines.phase[g] = PENDING
        machines.holding[g] = 0
        machines.began[g] = seen.began[row]
        machines.first_began[g] = seen.first_began[row]
        machines.named[g] = seen.named[row]
    machines.holding[g] += 1
    machines.last[g] = time
    machines.last_index[g] = seen.index[row]
    machines.row[g] = row
    if machines.phase[g] == PENDING:
        lasted = time - machines.began[g] >= limits.min_dwell[rule]
        cooled = time - machines.ended[g] >= limits.cool_down[rule]
        if lasted and cooled and machines.holding[g] >= limits.raise_events[rule]:
            machines.phase[g] = OPEN
            return write(emitted, at, machines, g, OPENED, time, NONE)
    elif time - machines.emitted[g] >= limits.update_every[rule]:
        return write(emitted, at, machines, g, UPDATED, time, NONE)
    return at


@compiled
def follow(limits: Limits, machines: Machines, seen: Observations, emitted: AlertChanges, now: int) -> int:
    """Write what the observations and then the clock change, and leave each group as it is after them; how many."""
    at = 0
    for row in range(len(seen.group)):
        g, time, index = seen.group[row], seen.time[row], seen.index[row]
        at = lapse(limits, emitted, at, machines, g, time)
        if seen.says[row] == HOLDS:
            at = bridge(limits, emitted, at, machines, g, index)
            at = hold(limits, emitted, at, machines, g, seen, row)
        elif seen.says[row] == BELOW:
            at = fall(limits, emitted, at, machines, g, time, index)
        else:
            at = finish(emitted, at, machines, g, time, OVER)
    for g in range(len(machines.rule)):
        at = lapse(limits, emitted, at, machines, g, now)
    return at


def _kind(table: type[Any]) -> Any:
    return typeof(table(*(np.zeros(1, dtype=np.int64) for _ in table._fields)))


@cache
def alert_kernel() -> Kernel:
    """`follow`, ready to be called."""
    return ready(follow, (_kind(Limits), _kind(Machines), _kind(Observations), _kind(AlertChanges), int64))


KERNELS: dict[str, Callable[[], Kernel]] = {"alerts": alert_kernel}
