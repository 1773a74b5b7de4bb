"""What is remembered of each track between batches: a row of plain arrays per track, ready to be saved as they are."""

from collections.abc import Sized
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

NO_RUN = -1
"""No run stands in this run state."""
UNMARKED = np.iinfo(np.int64).max
"""A run stands here that has marked nothing yet: its start lies in the future, later than any other."""
NEVER_BEGUN = np.iinfo(np.int64).max
"""The earliest start where no run has marked anything."""

NO_EPISODE, PENDING, REPORTED = 0, 1, 2


class Shape(Protocol):
    """What decides how wide the arrays are: the plan of a recogniser, or its form."""

    @property
    def patterns(self) -> Sized:
        """All that detect."""

    @property
    def runs(self) -> int:
        """How many run states a track has over all of them."""


class TrackStates(NamedTuple):
    """One row per track; columns are patterns or, for the starts, run states of patterns."""

    seen: NDArray[np.int64]
    """Events read so far."""
    last_time: NDArray[np.int64]
    tie: NDArray[np.int64]
    """Events read before the last one that bear the same time."""
    states: NDArray[np.int32]
    start_index: NDArray[np.int64]
    start_time: NDArray[np.int64]
    first_start_time: NDArray[np.int64]
    """Per run state, of patterns without a window, when the earliest run in it began; or NEVER_BEGUN."""
    episode: NDArray[np.uint8]
    episode_start_index: NDArray[np.int64]
    episode_start_time: NDArray[np.int64]
    episode_first_start_time: NDArray[np.int64]
    """The earliest start of the episode's first detection."""
    episode_first_time: NDArray[np.int64]
    episode_first_tie: NDArray[np.int64]
    episode_last_index: NDArray[np.int64]
    episode_last_time: NDArray[np.int64]


def fresh_states(plan: Shape, tracks: int) -> TrackStates:
    """The state of `tracks` tracks of which nothing has been read."""
    patterns = len(plan.patterns)

    def zeros(*shape: int) -> NDArray[np.int64]:
        return np.zeros(shape, dtype=np.int64)

    return TrackStates(
        seen=zeros(tracks),
        last_time=zeros(tracks),
        tie=zeros(tracks),
        states=np.zeros((tracks, patterns), dtype=np.int32),
        start_index=np.full((tracks, plan.runs), NO_RUN, dtype=np.int64),
        start_time=zeros(tracks, plan.runs),
        first_start_time=np.full((tracks, plan.runs), NEVER_BEGUN, dtype=np.int64),
        episode=np.zeros((tracks, patterns), dtype=np.uint8),
        episode_start_index=zeros(tracks, patterns),
        episode_start_time=zeros(tracks, patterns),
        episode_first_start_time=zeros(tracks, patterns),
        episode_first_time=zeros(tracks, patterns),
        episode_first_tie=zeros(tracks, patterns),
        episode_last_index=zeros(tracks, patterns),
        episode_last_time=zeros(tracks, patterns),
    )


def rearranged_states(states: TrackStates, rows: NDArray[np.int64], plan: Shape) -> TrackStates:
    """States whose row i is row `rows[i]` of `states`, or fresh where that is negative."""
    arranged = fresh_states(plan, len(rows))
    known = rows >= 0
    for name in TrackStates._fields:
        getattr(arranged, name)[known] = getattr(states, name)[rows[known]]
    return arranged


def copied_states(states: TrackStates) -> TrackStates:
    """The same states in arrays of their own, which a kernel may write to."""
    return TrackStates(**{name: getattr(states, name).copy() for name in TrackStates._fields})
