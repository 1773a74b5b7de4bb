"""Coasting: on a stretch of like events, patterns under way are not attended to once nothing new can come of it.

A vessel at anchor then costs little more than one under way. When the stretch ends, the last few of its events are
made up for, which leads the runs exactly to where they would be (`fixpoint`).
"""

import numpy as np
from numpy.typing import NDArray

from foresail.patterns.recognition.arrays import compiled, inlined
from foresail.patterns.recognition.joint import Joint
from foresail.patterns.recognition.rows import UPDATED, Moment, Rows, write
from foresail.patterns.recognition.runs import Scratch, advance_runs
from foresail.patterns.recognition.tables import Tables
from foresail.patterns.recognition.track_state import REPORTED, TrackStates


@inlined
def may_skip(tables: Tables, joint: Joint, here: int, symbol: int, slot: int, likes: int, states: TrackStates) -> bool:
    """Whether, after `likes` events of `symbol`, more of them need not be attended to.

    Runs must have settled, so that the earliest of the stretch are known, and matches must be emitted as episodes.
    """
    for a in range(joint.active_count[here]):
        p = joint.active[here, a]
        if tables.settles[tables.steps_at[p] + joint.symbol_class[symbol, p]] >= likes:
            return False
        matches = tables.accepting[tables.states_at[p] + joint.state[here, p]]
        if matches and (not tables.episodes[p] or states.episode[slot, p] != REPORTED):
            return False
    return True


@inlined
def skip_stable(tables: Tables, joint: Joint, here: int, moment: Moment, states: TrackStates, rows: Rows) -> None:
    """Tell of the open episodes once more, where that is wanted: all that an event changes while skipping."""
    for a in range(joint.active_count[here]):
        p = joint.active[here, a]
        if tables.updates[p] and tables.accepting[tables.states_at[p] + joint.state[here, p]]:
            write(
                rows, moment, p, UPDATED, moment.position, moment.time,
                states.episode_start_index[moment.slot, p], states.episode_start_time[moment.slot, p],
                states.episode_first_start_time[moment.slot, p],
                states.episode_first_time[moment.slot, p], states.episode_first_tie[moment.slot, p],
            )  # fmt: skip


@compiled
def catch_up(
    tables: Tables,
    joint: Joint,
    here: int,
    symbol: int,
    last: int,
    position: int,
    slot: int,
    skipped: int,
    times: NDArray[np.int64],
    states: TrackStates,
    scratch: Scratch,
) -> None:
    """Bring runs and episodes to where `skipped` events up to `last`, the track's `position`-th, lead them."""
    for a in range(joint.active_count[here]):
        p = joint.active[here, a]
        column = joint.symbol_class[symbol, p]
        if tables.tracked[p]:
            for back in range(min(skipped, tables.settles[tables.steps_at[p] + column]) - 1, -1, -1):
                moment = Moment(last - back, slot, position - back, times[last - back], 0, 0)
                advance_runs(tables, p, column, moment, states, scratch)
        if tables.accepting[tables.states_at[p] + joint.state[here, p]]:
            states.episode_last_index[slot, p] = position
            states.episode_last_time[slot, p] = times[last]
