"""What came true: for each event, how many events later the recogniser next detects the pattern in the same track."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

NO_MATCH = 0
"""Events until the next match where the track has none any more; a match lies at least one event ahead."""


@dataclass(frozen=True, slots=True, eq=False)
class Truth:
    """For each event the next match of its track, and how much of the track lies ahead."""

    until: NDArray[np.int64]
    """Events until the next match, strictly ahead; NO_MATCH where the track ends without one."""
    left: NDArray[np.int64]
    """How many events of the track follow."""

    def within(self, events: int) -> NDArray[np.bool_]:
        """Whether a match comes within so many events."""
        return np.asarray((self.until != NO_MATCH) & (self.until <= events))

    def known(self, events: int) -> NDArray[np.bool_]:
        """Where so many events follow; nearer to the end of a track, that no match came says nothing."""
        return self.left >= events

    def capped(self, events: int) -> NDArray[np.int64]:
        """Events until the next match, or one more than `events` where none comes so soon."""
        return np.where(self.within(events), self.until, events + 1)


def truth_of(matched: NDArray[np.bool_], first_of: NDArray[np.int64]) -> Truth:
    """The truth of events sorted by track and time; `first_of` is the first event of each track, and the end."""
    events = len(matched)
    sizes = np.diff(first_of)
    end = np.repeat(first_of[1:], sizes)
    places = np.flatnonzero(matched)
    position = np.arange(events)
    ahead = np.searchsorted(places, position, side="right")
    coming = np.append(places, events)[ahead]
    until = np.where(coming < end, coming - position, NO_MATCH)
    return Truth(until.astype(np.int64), (end - 1 - position).astype(np.int64))
