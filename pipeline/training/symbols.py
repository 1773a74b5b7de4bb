"""Whole tracks of events, put together from batches that cut them anywhere, and counted as symbols."""

from collections.abc import Iterator, Sequence

import numpy as np
import pyarrow as pa

from foresail.models.counts import GroupedCounts, TrackGroups, count_family_groups, count_groups
from foresail.models.symbols import SymbolTable
from foresail.patterns.compiler import CompiledPattern
from foresail.patterns.conditions.syntax import Condition
from foresail.patterns.recognition.families import Near
from foresail.pipeline.batch.recognition_line import EventRows, FamilyRows


class WholeTracks:
    """Holds the last track of each batch until its rest has come."""

    def __init__(self) -> None:
        self._held: EventRows | None = None

    def complete(self, rows: EventRows) -> Iterator[EventRows]:
        """The tracks that end before the last one of `rows` begins."""
        whole = rows if self._held is None else joined_rows(self._held, rows)
        cut = len(whole.tracks) - 1
        self._held = tracks_of(whole, cut, cut + 1)
        if cut:
            yield tracks_of(whole, 0, cut)

    def rest(self) -> Iterator[EventRows]:
        """The track that was held."""
        if self._held is not None:
            yield self._held
            self._held = None


def tracks_of(rows: EventRows, first: int, end: int) -> EventRows:
    """The events of some tracks of `rows`."""
    begin, stop = int(rows.first_of[first]), int(rows.first_of[end])
    return EventRows(
        rows.tracks.slice(first, end - first),
        rows.first_of[first : end + 1] - begin,
        rows.times[begin:stop],
        rows.words[begin:stop],
        tuple(_near_between(own, begin, stop) for own in rows.families),
    )


def joined_rows(one: EventRows, other: EventRows) -> EventRows:
    """The events of both; a track that ends `one` and begins `other` is one track."""
    same = bool(len(one.tracks) and len(other.tracks) and one.tracks[-1].as_py() == other.tracks[0].as_py())
    rest = other.first_of[1 if same else 0 :] + len(one.times)
    first_of = np.concatenate([one.first_of[:-1], rest])
    return EventRows(
        pa.concat_arrays([one.tracks.cast(pa.string()), other.tracks.slice(int(same)).cast(pa.string())]),
        first_of,
        np.concatenate([one.times, other.times]),
        np.concatenate([one.words, other.words]),
        tuple(_joined_near(a, b) for a, b in zip(one.families, other.families, strict=True)),
    )


def _near_between(own: FamilyRows, begin: int, end: int) -> FamilyRows:
    at = own.near.at[begin : end + 1]
    rows = slice(int(at[0]), int(at[-1]))
    near = Near(at - at[0], own.near.feature[rows], own.near.words[rows])
    return FamilyRows(own.words[begin:end], near, own.names)


def _joined_near(one: FamilyRows, other: FamilyRows) -> FamilyRows:
    near = Near(
        np.concatenate([one.near.at[:-1], other.near.at + one.near.at[-1]]),
        np.concatenate([one.near.feature, other.near.feature]),
        np.concatenate([one.near.words, other.near.words]),
    )
    return FamilyRows(np.concatenate([one.words, other.words]), near, other.names)


class PatternCounter:
    """Counts one pattern over batches of whole tracks."""

    def __init__(self, pattern: CompiledPattern, conditions: Sequence[Condition], max_order: int) -> None:
        self.pattern = pattern
        self._table = SymbolTable(pattern, conditions)
        self._max_order = max_order

    def count(self, rows: EventRows, groups: TrackGroups) -> GroupedCounts:
        """The counts of these tracks, for a plain pattern."""
        symbols = self._table.symbols(rows.words)
        return count_groups(symbols, rows.times, rows.first_of, groups, self.pattern, self._max_order)

    def count_family(self, rows: EventRows, own: FamilyRows, groups: TrackGroups) -> GroupedCounts:
        """The counts of these tracks, for a family: over the stretches near a feature."""
        return count_family_groups(
            self._table.symbols(own.words),
            rows.times,
            rows.first_of,
            own.near.at,
            own.near.feature,
            self._table.symbols(own.near.words),
            groups,
            self.pattern,
            self._max_order,
        )
