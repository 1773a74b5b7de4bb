"""What workers count while they work: events, matches of each pattern, sets omitted. Read on the driver at any time."""

from collections import Counter
from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
from pyspark import Accumulator, AccumulatorParam, SparkContext

from foresail.patterns.compiler import CompiledPattern
from foresail.patterns.recognition.matches import Matches
from foresail.patterns.recognition.rows import DETECTED, OPENED
from foresail.patterns.spec import Output

EVENTS, MATCHES, ROWS, OMITTED, CORRUPT = "events", "matches", "rows", "omitted", "corrupt"
Tally: TypeAlias = Accumulator[Counter[tuple[str, str]]]
"""Counts by (kind, name): the name of a pattern for matches and rows, of a file for corrupt ones, else none."""


class _Counts(AccumulatorParam[Counter[tuple[str, str]]]):
    def zero(self, value: Counter[tuple[str, str]]) -> Counter[tuple[str, str]]:  # noqa: ARG002
        return Counter()

    def addInPlace(  # noqa: N802 - Spark's name
        self, value1: Counter[tuple[str, str]], value2: Counter[tuple[str, str]]
    ) -> Counter[tuple[str, str]]:
        value1.update(value2)
        return value1


def open_tally(context: SparkContext) -> Tally:
    """A tally for the tasks of this context; Spark counts a repeated task of a job's last stage once."""
    return context.accumulator(Counter(), _Counts())


def counts_of(matches: Matches, patterns: Sequence[CompiledPattern]) -> Counter[tuple[str, str]]:
    """What `matches` adds to a tally: an episode is one match, counted where it opens, however many rows tell of it."""
    counts: Counter[tuple[str, str]] = Counter()
    for kind, counted in ((MATCHES, np.isin(matches.status, (DETECTED, OPENED))), (ROWS, slice(None))):
        found = np.bincount(matches.pattern[counted], minlength=len(patterns)).tolist()
        counts.update({(kind, pattern.name): n for pattern, n in zip(patterns, found, strict=True)})
    # one row for each set that is listed, each with the number of those that are not
    listed = np.array([pattern.spec.output is Output.ENUMERATE for pattern in patterns])[matches.pattern]
    counts[OMITTED, ""] += int(matches.omitted[listed].sum())
    return counts
