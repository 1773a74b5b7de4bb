"""What workers count while they work: events, matches of each pattern, sets omitted. Read on the driver at any time."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

import numpy as np

from foresail.patterns.compiler import CompiledPattern
from foresail.patterns.recognition.matches import Matches
from foresail.patterns.recognition.rows import DETECTED, OPENED
from foresail.patterns.spec import Output

EVENTS, MATCHES, ROWS, OMITTED, CORRUPT = "events", "matches", "rows", "omitted", "corrupt"
GIVEN_UP = "given_up"
"""Runs of patterns with registers that were given up because a track had too many."""
if TYPE_CHECKING:  # counting alone needs no Spark
    from pyspark import SparkContext

Counts: TypeAlias = Counter[tuple[str, str]]
"""By (kind, name): the name of a pattern for matches and rows, of a file for corrupt ones, else none."""


class Tally(Protocol):
    """Where tasks add what they have counted: an accumulator of Spark."""

    value: Counts

    def add(self, term: Counts) -> None:
        """Add these counts."""


class _Counts:
    """How Spark adds up the counts of tasks: its `AccumulatorParam`, without the base class."""

    def zero(self, value: Counts) -> Counts:  # noqa: ARG002
        return Counter()

    def addInPlace(  # noqa: N802 - Spark's name
        self, value1: Counts, value2: Counts
    ) -> Counts:
        value1.update(value2)
        return value1


def open_tally(context: "SparkContext") -> Tally:
    """A tally for the tasks of this context; Spark counts a repeated task of a job's last stage once."""
    return context.accumulator(Counter(), _Counts())  # type: ignore[arg-type]


def matches_summary(
    counts: Counts, patterns: Sequence[CompiledPattern], seconds: float, by_step: Mapping[str, float]
) -> dict[str, Any]:
    """What a recognition job says of what was counted, whichever engine counted it."""
    found = {pattern.name: counts[MATCHES, pattern.name] for pattern in patterns}
    rows = {pattern.name: counts[ROWS, pattern.name] for pattern in patterns}
    lost = {pattern.name: counts[GIVEN_UP, pattern.name] for pattern in patterns if counts[GIVEN_UP, pattern.name]}
    events = counts[EVENTS, ""]
    return {
        "events": events,
        "matches": sum(found.values()),
        "matches_by_pattern": found,
        "rows": sum(rows.values()),
        "rows_by_pattern": rows,
        "omitted": counts[OMITTED, ""] + sum(lost.values()),
        **({"given_up_by_pattern": lost} if lost else {}),
        "seconds": round(seconds, 3),
        "seconds_by_step": dict(by_step),
        "events_per_second": round(events / max(seconds, 1e-9)),
    }


def given_up(matches: Matches, patterns: Sequence[CompiledPattern]) -> Counts:
    """The runs that were given up, by pattern."""
    counts: Counts = Counter()
    for number, lost in matches.given_up:
        counts[GIVEN_UP, patterns[number].name] += lost
    return counts


def counts_of(matches: Matches, patterns: Sequence[CompiledPattern]) -> Counts:
    """What `matches` adds to a tally: an episode is one match, counted where it opens, however many rows tell of it."""
    counts: Counts = Counter()
    for kind, counted in ((MATCHES, np.isin(matches.status, (DETECTED, OPENED))), (ROWS, slice(None))):
        found = np.bincount(matches.pattern[counted], minlength=len(patterns)).tolist()
        counts.update({(kind, pattern.name): n for pattern, n in zip(patterns, found, strict=True)})
    # one row for each set that is listed, each with the number of those that are not
    listed = np.array([pattern.spec.output is Output.ENUMERATE for pattern in patterns])[matches.pattern]
    counts[OMITTED, ""] += int(matches.omitted[listed].sum())
    return counts
