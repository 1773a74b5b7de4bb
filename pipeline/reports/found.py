"""What a recognition run found, read for a page: exact counts of all matches, and a few to show one by one."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.window import Window

from foresail.pipeline.reports.timeline import TimeSpan
from foresail.pipeline.results.whole_matches import FIRST_START, placed, whole_matches

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


def read_found(rows: DataFrame, events: DataFrame, patterns: Sequence[str], span: TimeSpan) -> Found:
    """The counts of all matches and the marks to draw."""
    matches = whole_matches(rows).persist()
    try:
        counts = _counts(matches, patterns, span)
        by_track = _by_track(matches, events)
        tracks = matches.select("track").distinct().count()
        each = max(LISTED_EACH, MOST_MARKS // max(1, sum(count.matches > 0 for count in counts.values())))
        order = Window.partitionBy("pattern").orderBy("match_id")
        chosen = matches.withColumn("_place", F.row_number().over(order)).where(F.col("_place") <= each)
        began = [F.col(name) for name in (FIRST_START, "start_time") if name in chosen.columns]
        whole = chosen.withColumn("_began", F.coalesce(*began))
        held = placed(whole, events).orderBy("pattern", "time", "match_id").collect()
    finally:
        matches.unpersist()
    marks = (
        Match(
            *(row[name] for name in ("match_id", "pattern", "instance", "track")),
            *(row[name] for name in ("_began", "time", "end_time", "lon", "lat")),
        )
        for row in held
    )
    return Found(counts, tuple(marks), by_track, tracks)


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


def _by_track(matches: DataFrame, events: DataFrame) -> tuple[TrackCount, ...]:
    totals = matches.groupBy("track").agg(F.count("*").alias("total"))
    most = totals.orderBy(F.desc("total"), F.col("track")).limit(MOST_TRACKS_COUNTED)
    tracks = [row["track"] for row in most.collect()]
    counts: dict[str, dict[str, int]] = {track: {} for track in tracks}
    mine = matches.where(F.col("track").isin(tracks)).groupBy("track", "pattern").count().orderBy("pattern")
    for row in mine.collect():
        counts[row["track"]][row["pattern"]] = row["count"]
    names = _names(events, tracks)
    return tuple(TrackCount(track, names.get(track), held) for track, held in counts.items())


def _names(events: DataFrame, tracks: Sequence[str]) -> dict[str, str]:
    """What the tracks were last called, where they have names."""
    if "name" not in events.columns or not tracks:
        return {}
    named = events.where(F.col("track").isin(list(tracks)) & F.col("name").isNotNull())
    last = F.max_by(F.col("name").cast("string"), "time").alias("name")
    return {row["track"]: row["name"] for row in named.groupBy("track").agg(last).collect()}


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
