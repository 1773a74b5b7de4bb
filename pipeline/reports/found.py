"""What a recognition run found, read for a page: exact counts of all matches, and a few to show one by one."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.window import Window

from pipeline.reports.timeline import TimeSpan
from pipeline.stages.whole_matches import placed, whole_matches

MOST_MARKS = 5000
LISTED_EACH = 10
"""Matches of a pattern whose events are shown."""


@dataclass(frozen=True, slots=True)
class Match:
    """One match: from the first of its events to the last detection; where it was first detected, if known."""

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
class Found:
    """Counts by pattern, exact, and the matches that are drawn (`marks`), a sample where there are too many."""

    counts: dict[str, PatternCount]
    marks: tuple[Match, ...]

    @property
    def total(self) -> int:
        """All matches."""
        return sum(count.matches for count in self.counts.values())

    @property
    def placed(self) -> tuple[Match, ...]:
        """The marks that have a position."""
        return tuple(match for match in self.marks if match.is_placed)


def read_found(rows: DataFrame, events: DataFrame, patterns: Sequence[str], span: TimeSpan) -> Found:
    """The counts of all matches and the marks to draw."""
    matches = whole_matches(rows).persist()
    try:
        counts = _counts(matches, patterns, span)
        each = max(LISTED_EACH, MOST_MARKS // max(1, sum(count.matches > 0 for count in counts.values())))
        order = Window.partitionBy("pattern").orderBy("match_id")
        chosen = matches.withColumn("_place", F.row_number().over(order)).where(F.col("_place") <= each)
        held = placed(chosen, events).orderBy("pattern", "time", "match_id").collect()
    finally:
        matches.unpersist()
    marks = (
        Match(
            *(row[name] for name in ("match_id", "pattern", "instance", "track")),
            *(row[name] for name in ("start_time", "time", "end_time", "lon", "lat")),
        )
        for row in held
    )
    return Found(counts, tuple(marks))


def _counts(matches: DataFrame, patterns: Sequence[str], span: TimeSpan) -> dict[str, PatternCount]:
    counts = dict.fromkeys(patterns, PatternCount())
    sums = matches.groupBy("pattern").agg(F.count("*").alias("matches"), F.countDistinct("track").alias("tracks"))
    for row in sums.collect():
        counts[row["pattern"]] = PatternCount(row["matches"], row["tracks"])
    place = (F.floor(F.col("time").cast("double") / span.bin_s) - span.first_bin).cast("int").alias("bin")
    bins: dict[str, list[tuple[int, int]]] = defaultdict(list)
    for row in matches.groupBy("pattern", place).count().orderBy("bin").collect():
        bins[row["pattern"]].append((row["bin"], row["count"]))
    return {name: replace(count, bins=tuple(bins[name])) for name, count in counts.items()}


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
