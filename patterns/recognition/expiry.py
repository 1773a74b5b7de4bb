"""Episodes that end because nothing comes any more: what a clock closes before the next event would.

A batch tells that an episode timed out when the track is heard again after `max_gap`; a stream need not wait for that.
The rows are the same, and the track states stay as they are, so that whatever comes next is read as in a batch.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from foresail.patterns.compiler import CompiledPattern
from foresail.patterns.recognition.matches import NO_FEATURE, NOT_COUNTED, Matches
from foresail.patterns.recognition.rows import TIMED_OUT
from foresail.patterns.recognition.tables import NEVER
from foresail.patterns.recognition.track_state import REPORTED, TrackStates


@dataclass(frozen=True, slots=True)
class Clock:
    """How far time has come: before this look at the tracks and now, in microseconds."""

    before_us: int
    now_us: int


def overdue(
    patterns: list[CompiledPattern],
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
    gaps = np.array([NEVER if p.spec.max_gap_us is None else p.spec.max_gap_us for p in patterns], dtype=np.int64)
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
    )


def without_told(matches: Matches, told: NDArray[np.bool_]) -> Matches:
    """The rows of `matches` but those that a clock has told already."""
    if not told.any():
        return matches
    kept = ~told
    lengths = np.diff(np.concatenate([[0], matches.members_end]))
    return Matches(
        **{
            name: getattr(matches, name)[kept]
            for name in Matches.__dataclass_fields__
            if name not in ("members", "members_end")
        },
        members=matches.members[np.repeat(kept, lengths)],
        members_end=np.cumsum(lengths[kept]),
    )
