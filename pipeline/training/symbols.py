"""Whole tracks of events, put together from batches that cut them anywhere, and counted as symbols.

Which group each track belongs to: a small table that is made once and sent to the workers.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from foresail.models.counts import NO_GROUP, GroupedCounts, TrackGroups, count_family_groups, count_groups
from foresail.models.symbols import SymbolTable
from foresail.patterns.compiler import CompiledPattern
from foresail.patterns.conditions.syntax import Condition
from foresail.patterns.recognition.events import EventBatch, LayerEvents


class WholeTracks:
    """Holds the last track of each batch until its rest has come."""

    def __init__(self) -> None:
        self._held: EventBatch | None = None

    def complete(self, events: EventBatch) -> Iterator[EventBatch]:
        """The tracks that end before the last one of `events` begins."""
        whole = events if self._held is None else followed_by(self._held, events)
        cut = whole.key_count - 1
        self._held = whole.of_keys(cut, cut + 1)
        if cut:
            yield whole.of_keys(0, cut)

    def rest(self) -> Iterator[EventBatch]:
        """The track that was held."""
        if self._held is not None:
            yield self._held
            self._held = None


def followed_by(one: EventBatch, other: EventBatch) -> EventBatch:
    """The events of both, without further columns; a track that ends `one` and begins `other` is one track."""
    same = bool(len(one) and len(other) and one.keys[-1].as_py() == other.keys[0].as_py())
    rest = other.first_of[1 if same else 0 :] + len(one)
    return EventBatch(
        np.concatenate([one.words, other.words]),
        np.concatenate([one.times, other.times]),
        np.concatenate([one.first_of[:-1], rest]),
        pa.concat_arrays([one.keys.cast(pa.string()), other.keys.slice(int(same)).cast(pa.string())]),
        layers={layer: own.followed_by(other.layers[layer]) for layer, own in one.layers.items()},
    )


class PatternCounter:
    """Counts one pattern over batches of whole tracks."""

    def __init__(self, pattern: CompiledPattern, conditions: Sequence[Condition], max_order: int) -> None:
        self.pattern = pattern
        self._table = SymbolTable(pattern, conditions)
        self._max_order = max_order

    def count(self, events: EventBatch, groups: TrackGroups) -> GroupedCounts:
        """The counts of these tracks, for a plain pattern."""
        symbols = self._table.symbols(events.words)
        return count_groups(symbols, events.times, events.first_of, groups, self.pattern, self._max_order)

    def count_family(self, events: EventBatch, own: LayerEvents, groups: TrackGroups) -> GroupedCounts:
        """The counts of these tracks, for a family: over the stretches near a feature."""
        return count_family_groups(
            self._table.symbols(own.words),
            events.times,
            events.first_of,
            own.near.at,
            own.near.feature,
            self._table.symbols(own.near.words),
            groups,
            self.pattern,
            self._max_order,
        )


@dataclass(frozen=True, slots=True, eq=False)
class Membership:
    """The group of every track, by an attribute; without a table every track is a group of its own."""

    tracks: pa.Array | None = None
    groups: pa.Array | None = None

    def names_of(self, tracks: pa.Array) -> pa.Array:
        """The group of each of these tracks; null where it is not known."""
        names = tracks.cast(pa.string())
        if self.tracks is None or self.groups is None:
            return names
        return self.groups.take(pc.index_in(names, value_set=self.tracks))

    def track_groups(self, tracks: pa.Array) -> TrackGroups:
        """These tracks with their groups numbered, for counting."""
        named = pc.fill_null(self.names_of(tracks), NO_GROUP).dictionary_encode()
        order = np.argsort(names := named.dictionary.to_numpy(zero_copy_only=False).astype(str))
        number = np.empty(len(order), dtype=np.int64)
        number[order] = np.arange(len(order))
        return TrackGroups(tuple(map(str, names[order])), number[named.indices.to_numpy()])

    def members(self, tracks: pa.Array, names: Sequence[str]) -> NDArray[np.int64]:
        """For each track 1 + the place of its group among `names`; 0 where it is none of them."""
        found = pc.index_in(self.names_of(tracks), value_set=pa.array(names, pa.string()))
        found = pc.fill_null(found, -1)
        return np.asarray(found, dtype=np.int64) + 1


def of_tracks(groups: Mapping[str, Membership], pattern: str, tracks: pa.Array) -> TrackGroups:
    """The groups in which a pattern's tracks are counted: one for all, unless it has a membership."""
    return groups[pattern].track_groups(tracks) if pattern in groups else TrackGroups.one(len(tracks))
