"""Coasting of pattern families: while a track goes on as it was, near the same features, its runs are left alone.

As `stable_stretches` does for plain patterns, the last few events of such a stretch are made up for when it ends.
"""

import numpy as np
from numpy.typing import NDArray

from foresail.patterns.recognition.arrays import compiled, inlined, same_row
from foresail.patterns.recognition.family_states import FAR
from foresail.patterns.recognition.joint import class_of_event
from foresail.patterns.recognition.rows import Moment
from foresail.patterns.recognition.runs import Scratch, advance_runs
from foresail.patterns.recognition.tables import Tables
from foresail.patterns.recognition.track_state import NO_EPISODE, TrackStates


@inlined
def like_the_last(
    event: int,
    far_words: NDArray[np.int64],
    near_at: NDArray[np.int64],
    near_feature: NDArray[np.int32],
    near_words: NDArray[np.int64],
) -> bool:
    """Whether an event is near the same features as the one before it, and all conditions hold as they did."""
    first, before = near_at[event], near_at[event - 1]
    like = near_at[event + 1] - first == first - before and same_row(far_words, event, far_words, event - 1)
    n = np.int64(0)
    while like and n < first - before:
        like = near_feature[first + n] == near_feature[before + n]
        like = like and same_row(near_words, first + n, near_words, before + n)
        n += 1
    return like


@compiled
def idle_far(tables: Tables, columns: NDArray[np.int32], states: TrackStates) -> bool:
    """Whether the far run is idle and stays so on an event of these classes."""
    for p in range(len(columns)):
        if states.states[FAR, p] != 0 or tables.delta[tables.delta_at[p] + columns[p]] != 0:
            return False
    return True


@compiled
def wakes_nothing(tables: Tables, words: NDArray[np.int64], near: int) -> bool:
    """Whether an idle instance stays idle on a row of a near feature."""
    for p in range(len(tables.classes)):
        column = class_of_event(tables, p, words, near)
        if column < 0 or tables.delta[tables.delta_at[p] + column] != 0:
            return False
    return True


@compiled
def may_skip(
    tables: Tables,
    states: TrackStates,
    active: int,
    near_row: NDArray[np.int64],
    far_columns: NDArray[np.int32],
    near_words: NDArray[np.int64],
    likes: int,
) -> bool:
    """Whether, after `likes` like events, more need not be attended to: all runs have settled, and none matches."""
    for row in range(active):
        for p in range(len(far_columns)):
            state = states.states[row, p]
            if state == 0:
                continue
            column = far_columns[p] if near_row[row] < 0 else class_of_event(tables, p, near_words, near_row[row])
            if (
                tables.settles[tables.steps_at[p] + column] >= likes
                or tables.accepting[tables.states_at[p] + state]
                or states.episode[row, p] != NO_EPISODE
            ):
                return False
    return True


@compiled
def catch_up(
    tables: Tables,
    states: TrackStates,
    active: int,
    near_row: NDArray[np.int64],
    far_words: NDArray[np.int64],
    near_words: NDArray[np.int64],
    times: NDArray[np.int64],
    last: int,
    position: int,
    skipped: int,
    scratch: Scratch,
) -> None:
    """Bring the runs to where `skipped` events up to `last`, the track's `position`-th, lead them.

    `near_row` is that of the event before those skipped, which are all like it.
    """
    for row in range(active):
        for p in range(len(tables.classes)):
            if states.states[row, p] == 0 or not tables.tracked[p]:
                continue
            near = near_row[row]
            column = (
                class_of_event(tables, p, far_words, last) if near < 0 else class_of_event(tables, p, near_words, near)
            )
            for back in range(min(skipped, tables.settles[tables.steps_at[p] + column]) - 1, -1, -1):
                moment = Moment(last - back, row, position - back, times[last - back], 0, 0)
                advance_runs(tables, p, column, moment, states, scratch)
