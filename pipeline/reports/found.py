"""What a recognition run found, read for a page: exact counts of all matches, and a few to show one by one."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

MOST_MARKS = 5000
MOST_TRACKS_COUNTED = 500
LISTED_EACH = 10
"""Matches of a pattern whose events are shown."""


@dataclass(frozen=True, slots=True)
class Match:
    """One match: from the earliest start that makes one to the last detection; where it was first seen, if known."""

    match_id: str
    pattern: str
    instance: str | None
    track: str
    start: datetime
    time: datetime
    end: datetime
    lon: float | None = None
    lat: float | None = None

    @property
    def is_placed(self) -> bool:
        """Whether it can be drawn on a map."""
        return self.lon is not None and self.lat is not None


@dataclass(frozen=True, slots=True)
class PatternCount:
    """All matches of one pattern in numbers; `bins` counts those that began in each bin of the time span."""

    matches: int = 0
    tracks: int = 0
    bins: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True, slots=True)
class TrackCount:
    """How often each pattern was found on one track."""

    track: str
    name: str | None
    matches: dict[str, int]

    @property
    def total(self) -> int:
        """All matches of the track."""
        return sum(self.matches.values())


@dataclass(frozen=True, slots=True)
class Found:
    """Counts by pattern, exact, and the matches that are drawn (`marks`), a sample where there are too many."""

    counts: dict[str, PatternCount]
    marks: tuple[Match, ...]
    by_track: tuple[TrackCount, ...] = ()
    """The tracks with most matches, the most first."""
    tracks: int = 0
    """How many tracks have matches."""

    @property
    def total(self) -> int:
        """All matches."""
        return sum(count.matches for count in self.counts.values())

    @property
    def placed(self) -> tuple[Match, ...]:
        """The marks that have a position."""
        return tuple(match for match in self.marks if match.is_placed)


def listed(marks: Iterable[Match], each: int = LISTED_EACH) -> tuple[Match, ...]:
    """Of each pattern the few to show one by one: of as many tracks as there are, in the order of time."""
    chosen: list[Match] = []
    by_pattern: dict[str, list[Match]] = defaultdict(list)
    for match in marks:
        by_pattern[match.pattern].append(match)
    for matches in by_pattern.values():
        turn: dict[str, int] = defaultdict(int)
        ranked = []
        for match in matches:
            ranked.append((turn[match.track], match.time, match))
            turn[match.track] += 1
        ranked.sort(key=lambda entry: entry[:2])
        chosen += sorted((match for _, _, match in ranked[:each]), key=lambda match: match.time)
    return tuple(chosen)
