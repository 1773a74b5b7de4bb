"""Episodes that end because nothing comes any more: what a clock closes before the next event would.

A batch emits that an episode timed out when the track is heard again after `max_gap`; a stream need not wait for that.
The rows are the same, and the track states stay as they are, so that whatever comes next is read as in a batch.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from foresail.patterns.compiler import CompiledPattern
from foresail.patterns.recognition.events import EventBatch
from foresail.patterns.recognition.matches import NO_FEATURE, NOT_COUNTED, Matches, no_registers, without
from foresail.patterns.recognition.protocol import NEVER_SEEN, Clock
from foresail.patterns.recognition.rows import TIMED_OUT
from foresail.patterns.recognition.tables import NEVER
from foresail.patterns.recognition.track_state import REPORTED, TrackStates


def overdue(
    patterns: Sequence[CompiledPattern],
    states: TrackStates,
    numbers: NDArray[np.int32],
    clock: Clock,
    touched: NDArray[np.bool_],
    feature: NDArray[np.int32] | None = None,
) -> Matches:
    """A row `timed_out` for each open episode whose `max_gap` ran out since the clock was last looked at.

    `numbers` are the patterns' places in the catalog; `touched` says which rows have had events since: theirs may have
    run out before. The column `event` holds the row of `states`.
    """
    gaps = _max_gaps(patterns)
    limited = gaps != NEVER
    # a silence must exceed max_gap, so the deadline itself is not yet overdue
    deadline = states.last_time[:, None] + np.where(limited, gaps, 0)[None, :]
    passed = (deadline < clock.now_us) & ((deadline >= clock.before_us) | touched[:, None])
    row, pattern = np.nonzero((states.episode == REPORTED) & limited[None, :] & passed)
    n = len(row)
    return Matches(
        event=row.astype(np.int64),
        pattern=numbers[pattern],
        status=np.full(n, TIMED_OUT, dtype=np.uint8),
        index=states.episode_last_index[row, pattern],
        time=states.episode_last_time[row, pattern],
        start_time=states.episode_start_time[row, pattern],
        first_start_time=states.episode_first_start_time[row, pattern],
        id_time=states.episode_first_time[row, pattern],
        id_tie=states.episode_first_tie[row, pattern],
        count=np.full(n, NOT_COUNTED, dtype=np.int64),
        omitted=np.zeros(n, dtype=np.int64),
        feature=np.full(n, NO_FEATURE, dtype=np.int32) if feature is None else feature[row],
        members=np.empty(0, dtype=np.int64),
        members_end=np.zeros(n, dtype=np.int64),
        register_index=no_registers(n),
        register_time=no_registers(n),
    )


def not_yet_emitted(
    matches: Matches,
    patterns: Sequence[CompiledPattern],
    events: EventBatch,
    last_time: NDArray[np.int64],
    until: NDArray[np.int64],
) -> Matches:
    """`matches` without the rows `timed_out` that a clock has emitted: those of a key's first event after a silence.

    `last_time` is until when each key was read before `events`, `until` up to when the clock has looked at it.
    """
    timed_out: NDArray[np.bool_] = matches.status == TIMED_OUT
    if not timed_out.any():
        return matches
    key = events.keys_at(matches.event)
    gap = _max_gaps(patterns)[matches.pattern]
    silent_since = last_time[key]
    known = timed_out & (matches.event == events.first_of[key]) & (gap != NEVER) & (silent_since > NEVER_SEEN)
    deadline = np.where(known, silent_since, 0) + np.where(known, gap, 0)
    return without(matches, known & (deadline < until[key]))


def _max_gaps(patterns: Sequence[CompiledPattern]) -> NDArray[np.int64]:
    return np.array([NEVER if p.spec.max_gap_us is None else p.spec.max_gap_us for p in patterns], dtype=np.int64)
