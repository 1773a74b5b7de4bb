"""Small ways to run compiled patterns on tracks written in a test."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from foresail.patterns.compiler import CompiledPattern
from foresail.patterns.conditions.text import text_of
from foresail.patterns.recognition.events import EventBatch
from foresail.patterns.recognition.matches import STATUS, Matches
from foresail.patterns.recognition.recogniser import PatternRecogniser

Truth = Mapping[str, bool]
"""Which conditions hold on an event, by the name or the canonical text of the condition."""


@dataclass(frozen=True)
class Found:
    """One row of a result, as a test reads it."""

    pattern: str
    track: int
    status: str
    index: int
    time: int
    start_time: int
    first_start_time: int
    count: int
    omitted: int
    events: tuple[int, ...]
    identity: tuple[int, int]


def words_of(recogniser: PatternRecogniser, events: Iterable[Truth]) -> NDArray[np.int64]:
    """The condition words of events of which is known what holds."""
    names: dict[str, str] = {}
    for pattern in recogniser.patterns:
        for name, condition in zip(pattern.condition_names, pattern.conditions, strict=True):
            names[text_of(condition)] = name
    order = [names[text_of(c)] for c in recogniser.conditions]
    rows = [[event[name] for name in order] for event in events]
    words = np.zeros((len(rows), recogniser.words), dtype=np.uint64)
    for n, row in enumerate(rows):
        for bit, holds in enumerate(row):
            words[n, bit // 64] |= np.uint64(holds) << np.uint64(bit % 64)
    return words.view(np.int64)


def run(
    patterns: Sequence[CompiledPattern], tracks: Sequence[Sequence[Truth]], times: Sequence[Sequence[int]]
) -> list[Found]:
    """All findings on whole tracks read in one batch."""
    recogniser = PatternRecogniser(patterns)
    batch = batch_of(recogniser, tracks, times)
    matches, _ = recogniser.advance(batch, recogniser.fresh(batch.key_count))
    return found_in(matches, recogniser, batch.first_of)


def batch_of(
    recogniser: PatternRecogniser, tracks: Sequence[Sequence[Truth]], times: Sequence[Sequence[int]]
) -> EventBatch:
    """The events of all tracks, one track after the other."""
    return EventBatch(
        words_of(recogniser, [event for track in tracks for event in track]),
        np.array([time for track in times for time in track], dtype=np.int64),
        np.cumsum([0, *map(len, tracks)]),
    )


def found_in(matches: Matches, recogniser: PatternRecogniser, first_of: NDArray[np.int64]) -> list[Found]:
    """The rows of `matches` as values, in a fixed order."""
    rows, begin = [], 0
    for i in range(len(matches)):
        end = int(matches.members_end[i])
        rows.append(
            Found(
                recogniser.patterns[matches.pattern[i]].name,
                int(np.searchsorted(first_of, matches.event[i], side="right")) - 1,
                STATUS[matches.status[i]],
                int(matches.index[i]),
                int(matches.time[i]),
                int(matches.start_time[i]),
                int(matches.first_start_time[i]),
                int(matches.count[i]),
                int(matches.omitted[i]),
                tuple(map(int, matches.members[begin:end])),
                (int(matches.id_time[i]), int(matches.id_tie[i])),
            )
        )
        begin = end
    return sorted(rows, key=lambda f: (f.pattern, f.track, f.index, f.status, f.events))
