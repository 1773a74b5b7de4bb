"""What is true of a simulation: marks of what was planned, intervals where a definition holds, and the truth table."""

from dataclasses import dataclass

import numpy as np

from foresail.pipeline.simulator.geometry import Bools, Floats

INJECTED, NEAR_MISS, INCIDENTAL = "injected", "near_miss", "incidental"


@dataclass(frozen=True, slots=True)
class Mark:
    """The plan: within this time the track means to show the pattern, or to miss it narrowly."""

    pattern: str
    start_s: float
    end_s: float
    kind: str
    detail: str = ""
    feature: str | None = None
    other: int | None = None


@dataclass(frozen=True, slots=True)
class Interval:
    """The outcome: from this row to that row of the track the definition holds."""

    pattern: str
    first: int
    last: int
    feature: str | None = None


@dataclass(frozen=True, slots=True)
class Finding:
    """One line of the truth table, in seconds since the start of the simulation."""

    pattern: str
    kind: str
    start_s: float
    end_s: float
    rows: int
    feature: str | None
    detail: str
    other: int | None = None


def runs(holds: Bools, times_s: Floats, least: int, max_gap_s: float) -> list[tuple[int, int]]:
    """Stretches of at least `least` rows in a row where `holds`, none across a silence above `max_gap_s`."""
    if not len(holds):
        return []
    broken = np.concatenate([[True], np.diff(times_s) > max_gap_s])
    begins = holds & (broken | ~np.concatenate([[False], holds[:-1]]))
    ends = holds & np.concatenate([broken[1:] | ~holds[1:], [True]])
    pairs = zip(np.flatnonzero(begins), np.flatnonzero(ends), strict=True)
    return [(int(first), int(last)) for first, last in pairs if last - first + 1 >= least]


def findings(marks: list[Mark], intervals: list[Interval], times_s: Floats) -> list[Finding]:
    """The truth: every interval, called injected when planned; every narrow miss that truly missed."""
    planned = [mark for mark in marks if mark.kind == INJECTED]
    found = [_of_interval(interval, planned, times_s) for interval in intervals]
    missed = [mark for mark in marks if mark.kind == NEAR_MISS and not _hit(mark, intervals, times_s)]
    found += [miss for miss in (_of_miss(mark, times_s) for mark in missed) if miss.rows >= 1]
    return sorted(found, key=lambda finding: (finding.pattern, finding.start_s, finding.kind, finding.feature or ""))


def _of_interval(interval: Interval, planned: list[Mark], times_s: Floats) -> Finding:
    mark = next((mark for mark in planned if _meets(mark, interval, times_s)), None)
    return Finding(
        interval.pattern,
        INJECTED if mark else INCIDENTAL,
        float(times_s[interval.first]),
        float(times_s[interval.last]),
        interval.last - interval.first + 1,
        interval.feature,
        mark.detail if mark else "not planned, but the definition holds",
        mark.other if mark else None,
    )


def _of_miss(mark: Mark, times_s: Floats) -> Finding:
    rows = np.flatnonzero((times_s >= mark.start_s) & (times_s <= mark.end_s))
    start, end = (float(times_s[rows[0]]), float(times_s[rows[-1]])) if len(rows) else (mark.start_s, mark.end_s)
    return Finding(mark.pattern, NEAR_MISS, start, end, len(rows), mark.feature, mark.detail, mark.other)


def _hit(mark: Mark, intervals: list[Interval], times_s: Floats) -> bool:
    return any(_meets(mark, interval, times_s) for interval in intervals)


def _meets(mark: Mark, interval: Interval, times_s: Floats) -> bool:
    same = mark.pattern == interval.pattern and mark.feature in (None, interval.feature)
    return same and times_s[interval.first] <= mark.end_s and times_s[interval.last] >= mark.start_s
