"""The planner: which parallel scheme fits, from a few facts. It knows no Spark; the same facts give the same choice."""

from dataclasses import dataclass
from enum import StrEnum

EVENTS_PER_BUCKET = 2_500_000
"""What a worker can hold at once, several times over, in less than a gigabyte."""
SMALL = 1_000_000
"""Fewer events are read by one task sooner than they are shuffled."""


class Scheme(StrEnum):
    """How work is spread over cores. The matches are the same in all."""

    PARTITION = "partition"
    PATTERN = "pattern"
    SOURCE = "source"
    COMBINED = "combined"
    AUTO = "auto"


@dataclass(frozen=True, slots=True)
class Facts:
    """What is known before anything is read."""

    cores: int
    units: int
    """Patterns, and groups of families over one layer: what can be given to different workers."""
    events: int | None = None
    tracks: int | None = None
    files: int | None = None
    whole_tracks: str | None = None
    """What vouches that each part of the source holds whole tracks: words for the reason."""
    not_whole: str = "nothing vouches that its parts hold whole tracks"
    """Why `source` cannot be chosen, when it cannot."""
    long_tracks: int = 0
    """Tracks that would keep one worker busy while the others wait."""


@dataclass(frozen=True, slots=True)
class Choice:
    """The scheme, into how many groups patterns are split and into how many buckets tracks, and why."""

    scheme: Scheme
    groups: int
    buckets: int
    in_place: bool
    """Whether the source's own parts are the buckets."""
    reason: str


def choose(facts: Facts, wanted: Scheme = Scheme.AUTO) -> Choice:
    """The scheme that is wanted, or the one that fits the facts."""
    scheme, reason = (wanted, "as asked for") if wanted is not Scheme.AUTO else _fitting(facts)
    in_place = facts.whole_tracks is not None and scheme is not Scheme.PARTITION
    groups = {Scheme.PATTERN: facts.cores, Scheme.COMBINED: _groups(facts)}.get(scheme, 1)
    buckets = 1 if scheme is Scheme.PATTERN else buckets_for(facts)
    return Choice(scheme, max(1, min(groups, facts.units)), buckets, in_place, reason)


def buckets_for(facts: Facts) -> int:
    """As many as there are cores, or a multiple of it where one bucket would not fit into a worker's memory."""
    rounds = -(-(facts.events or 0) // (EVENTS_PER_BUCKET * facts.cores))
    return facts.cores * max(1, rounds)


def _groups(facts: Facts) -> int:
    """So many groups that groups times tracks occupy every core, and at least two."""
    return max(2, -(-facts.cores // (facts.tracks or facts.cores)))


def _fitting(facts: Facts) -> tuple[Scheme, str]:
    if facts.tracks is not None and facts.tracks < facts.cores and facts.units > 1:
        tracks = f"{facts.tracks} {'track' if facts.tracks == 1 else 'tracks'} for {facts.cores} cores"
        if facts.tracks == 1:
            return Scheme.PATTERN, f"{tracks}, so {facts.units} patterns are spread instead"
        return Scheme.COMBINED, f"{tracks}, so patterns are spread as well"
    if facts.whole_tracks is None:
        return Scheme.PARTITION, f"{facts.not_whole}: events are shuffled by track"
    if facts.long_tracks and facts.cores > 2:
        return Scheme.PARTITION, f"{facts.long_tracks} of the tracks is long enough to be cut and shared"
    if facts.files is not None and facts.files < facts.cores and (facts.events or 0) > SMALL:
        return Scheme.PARTITION, f"{facts.files} files would leave some of {facts.cores} cores idle"
    return Scheme.SOURCE, f"{facts.whole_tracks}: nothing is shuffled or sorted"
