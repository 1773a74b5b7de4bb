"""Events of whole tracks at hand as arrays; for a pattern family, one sequence per track and feature it comes near.

A family is thereby evaluated like a plain pattern: the rows of a feature are its near events with enough events before
and after, where the feature is far (its distance is endless). Only near events are scored.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from foresail.models.scoring.truth import Truth, truth_of
from foresail.patterns.compiler import CompiledPattern
from foresail.patterns.conditions.evaluate import ArrayColumn, evaluate
from foresail.patterns.conditions.packing import WORD_BITS, words_for
from foresail.patterns.conditions.syntax import Condition
from foresail.patterns.conditions.typing import AttributeType
from foresail.patterns.recognition.events import EventBatch
from foresail.patterns.recognition.recogniser import PatternRecogniser
from foresail.patterns.spec import Output, Report

NO_FEATURE = -1


@dataclass(frozen=True, slots=True, eq=False)
class Sequences:
    """Rows sorted by sequence and time, with the attributes that conditions and trees read."""

    columns: Mapping[str, ArrayColumn]
    times: NDArray[np.int64]
    """Microseconds."""
    first_of: NDArray[np.int64]
    """The first row of each sequence, and the end."""
    track: NDArray[np.int64]
    """The number of each row's track."""
    index: NDArray[np.int64]
    """The position of the event in its track, from 0."""
    length: NDArray[np.int64]
    """How many events that track has."""
    feature: NDArray[np.int64]
    """The feature of a family; NO_FEATURE for plain patterns."""
    scored: NDArray[np.bool_]
    """Not the rows that only stand before and after those near a feature."""
    event: NDArray[np.int64]
    """The row of the table that the sequences were made from."""

    def __len__(self) -> int:
        return len(self.times)

    def words(self, conditions: Sequence[Condition]) -> NDArray[np.int64]:
        """The conditions as bits of words: condition i is bit `i % 64` of word `i // 64`."""
        words = np.zeros((len(self), words_for(len(conditions))), dtype=np.uint64)
        for n, condition in enumerate(conditions):
            holds = evaluate(condition, self.columns, len(self))
            words[:, n // WORD_BITS] |= holds.astype(np.uint64) << np.uint64(n % WORD_BITS)
        return words.view(np.int64)

    def batch(self, conditions: Sequence[Condition]) -> EventBatch:
        """All rows as one batch, each sequence as a track of its own."""
        return EventBatch(self.words(conditions), self.times, self.first_of)

    def matched(self, pattern: CompiledPattern) -> NDArray[np.bool_]:
        """The rows on which the recogniser detects the pattern, window and all, told one by one."""
        spec = replace(pattern.spec, output=Output.DETECT, report=Report.EACH, min_dwell_us=0)
        recogniser = PatternRecogniser([replace(pattern, spec=spec, marking=None)])
        found, _ = recogniser.advance(self.batch(recogniser.conditions), recogniser.fresh(len(self.first_of) - 1))
        matched = np.zeros(len(self), dtype=np.bool_)
        matched[found.event] = True
        return matched

    def truth(self, matched: NDArray[np.bool_]) -> Truth:
        """What came after each row; what is left is that of the track, of which a sequence may be a part."""
        return Truth(truth_of(matched, self.first_of).until, self.length - 1 - self.index)


def plain_sequences(
    columns: Mapping[str, ArrayColumn], times: NDArray[np.int64], first_of: NDArray[np.int64]
) -> Sequences:
    """A sequence per track."""
    sizes = np.diff(first_of)
    events = len(times)
    return Sequences(
        columns=columns,
        times=times,
        first_of=first_of,
        track=np.repeat(np.arange(len(sizes)), sizes),
        index=np.arange(events) - np.repeat(first_of[:-1], sizes),
        length=np.repeat(sizes, sizes),
        feature=np.full(events, NO_FEATURE, dtype=np.int64),
        scored=np.ones(events, dtype=np.bool_),
        event=np.arange(events),
    )


def family_sequences(
    plain: Sequences,
    near_event: NDArray[np.int64],
    near_feature: NDArray[np.int64],
    near_distance_m: NDArray[np.float64],
    distance: str,
    around: int,
) -> Sequences:
    """A sequence per stretch of a track in which a feature is near, with `around` events before and after.

    Stretches are further apart than `2 * around` events, so truth up to that many events ahead is exact.
    """
    order = np.lexsort((near_event, near_feature))
    event, feature, metres = near_event[order], near_feature[order], near_distance_m[order]
    begins = _begins(event, feature, plain.track[event], 2 * around)
    last = np.append(begins[1:], len(event))[: len(begins)] - 1
    start = np.maximum(event[begins] - around, plain.first_of[plain.track[event[begins]]])
    end = np.minimum(event[last] + around + 1, plain.first_of[plain.track[event[last]] + 1])
    first_of = np.concatenate([[0], np.cumsum(end - start)]).astype(np.int64)
    rows = np.arange(first_of[-1]) - np.repeat(first_of[:-1] - start, end - start)
    stretch = np.repeat(np.arange(len(begins)), np.diff(np.append(begins, len(event))))
    places = first_of[stretch] + event - start[stretch]
    distances = np.full(len(rows), np.inf)
    distances[places] = metres
    scored = np.zeros(len(rows), dtype=np.bool_)
    scored[places] = True
    columns = {name: _taken(column, rows) for name, column in plain.columns.items()}
    return Sequences(
        columns={**columns, distance: ArrayColumn(distances, None, AttributeType.NUMBER)},
        times=plain.times[rows],
        first_of=first_of,
        track=plain.track[rows],
        index=plain.index[rows],
        length=plain.length[rows],
        feature=np.repeat(feature[begins], end - start),
        scored=scored,
        event=rows,
    )


def _begins(
    event: NDArray[np.int64], feature: NDArray[np.int64], track: NDArray[np.int64], most_apart: int
) -> NDArray[np.int64]:
    """Where a stretch begins among near rows sorted by feature and event."""
    if not len(event):
        return np.empty(0, dtype=np.int64)
    anew = (np.diff(feature) != 0) | (np.diff(track) != 0) | (np.diff(event) > most_apart + 1)
    return np.concatenate([[0], np.flatnonzero(anew) + 1])


def _taken(column: ArrayColumn, rows: NDArray[np.int64]) -> ArrayColumn:
    valid = None if column.valid is None else column.valid[rows]
    return replace(column, values=column.values[rows], valid=valid)
