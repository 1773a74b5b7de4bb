"""The one form of events from reader to kernel: arrays in order of key and time, cut and joined here alone.

A key is what recognisers remember something of: a track, a pair of tracks, an area. Whoever reads events asks the
recognisers what they need (`Needs`) and fills a batch with just that.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Keys: TypeAlias = Any
"""Names of keys as an Arrow array: it is cut and taken from here, and read by whoever writes results."""
LON, LAT = "lon", "lat"


@dataclass(frozen=True, slots=True, eq=False)
class Places:
    """Where events were; NaN where that is unknown."""

    lon: NDArray[np.float64]
    lat: NDArray[np.float64]

    def at(self, rows: NDArray[np.integer[Any]]) -> "Places":
        """Where the events of these rows were."""
        return Places(self.lon[rows], self.lat[rows])


@dataclass(frozen=True, slots=True, eq=False)
class Near:
    """Which features each event is near, and the condition words that hold with respect to them."""

    at: NDArray[np.int64]
    """Event e is near the rows `at[e]..at[e + 1]`."""
    feature: NDArray[np.int32]
    words: NDArray[np.int64]

    def slice(self, begin: int, end: int) -> "Near":
        """What the events from place `begin` up to `end` are near."""
        at = self.at[begin : end + 1]
        rows = slice(int(at[0]), int(at[-1]))
        return Near(at - at[0], self.feature[rows], self.words[rows])

    def take(self, events: NDArray[np.int64]) -> "Near":
        """The same for events in another order."""
        rows, at = ranges(self.at[events], np.diff(self.at)[events])
        return Near(at, self.feature[rows], self.words[rows])


@dataclass(frozen=True, slots=True, eq=False)
class LayerEvents:
    """The same events as the families over one layer read them."""

    words: NDArray[np.int64]
    """The conditions that hold of each event with respect to a feature that is far."""
    near: Near
    names: Sequence[str] = ()
    """The name of each feature that `near` counts."""

    def slice(self, begin: int, end: int) -> "LayerEvents":
        """Of the events from place `begin` up to `end`."""
        return LayerEvents(self.words[begin:end], self.near.slice(begin, end), self.names)

    def take(self, events: NDArray[np.int64]) -> "LayerEvents":
        """The same for events in another order."""
        return LayerEvents(self.words[events], self.near.take(events), self.names)

    def followed_by(self, other: "LayerEvents") -> "LayerEvents":
        """Of these events, then those; features are numbered alike in both."""
        near = Near(
            np.concatenate([self.near.at[:-1], other.near.at + self.near.at[-1]]),
            np.concatenate([self.near.feature, other.near.feature]),
            np.concatenate([self.near.words, other.near.words]),
        )
        return LayerEvents(np.concatenate([self.words, other.words]), near, other.names)


@dataclass(frozen=True, slots=True, eq=False)
class EventBatch:
    """Events sorted by key and time: condition words, times in microseconds, and where each key begins."""

    words: NDArray[np.int64]
    """The truth of all conditions that were asked for, in 64-bit words."""
    times: NDArray[np.int64]
    first_of: NDArray[np.int64]
    """The first event of each key, and the end."""
    keys: Keys = None
    """The name of each key; none where nobody asks."""
    columns: Mapping[str, NDArray[Any]] = field(default_factory=dict)
    """Values of further columns that were asked for, one per event; `lon` and `lat` among them where they are known."""
    layers: Mapping[str, LayerEvents] = field(default_factory=dict)
    """By the name of a layer what its families read."""

    def __len__(self) -> int:
        return len(self.times)

    @property
    def key_count(self) -> int:
        """How many keys the batch has."""
        return len(self.first_of) - 1

    @property
    def key_of(self) -> NDArray[np.int64]:
        """Per event the place of its key."""
        return np.repeat(np.arange(self.key_count), np.diff(self.first_of))

    @property
    def places(self) -> Places | None:
        """Where the events were, if that was asked for."""
        return Places(self.columns[LON], self.columns[LAT]) if LON in self.columns else None

    def keys_at(self, events: NDArray[np.integer[Any]]) -> NDArray[np.int64]:
        """The places of the keys of these events."""
        return np.searchsorted(self.first_of, events, side="right") - 1

    def of_layer(self, layer: str | None) -> "EventBatch":
        """The batch whose words are those that a recogniser of that layer reads; None is no layer."""
        return self if layer is None else replace(self, words=self.layers[layer].words)

    def slice(self, begin: int, end: int) -> "EventBatch":
        """The events from place `begin` up to `end`."""
        low = int(np.searchsorted(self.first_of, begin, side="right")) - 1
        high = int(np.searchsorted(self.first_of, end, side="left"))
        return EventBatch(
            self.words[begin:end],
            self.times[begin:end],
            np.clip(self.first_of[low : high + 1], begin, end) - begin,
            None if self.keys is None else self.keys[low:high],
            {name: values[begin:end] for name, values in self.columns.items()},
            {name: own.slice(begin, end) for name, own in self.layers.items()},
        )

    def in_slices(self, most: int) -> Iterator["EventBatch"]:
        """The same events, at most so many at a time."""
        for begin in range(0, len(self), most):
            yield self.slice(begin, min(begin + most, len(self)))

    def of_keys(self, first: int, end: int) -> "EventBatch":
        """The events of some keys."""
        return self.slice(int(self.first_of[first]), int(self.first_of[end]))

    def take(self, events: NDArray[np.int64], first_of: NDArray[np.int64], keys: Keys) -> "EventBatch":
        """These events in that order, under the keys that they then have."""
        return EventBatch(
            self.words[events],
            self.times[events],
            first_of,
            keys,
            {name: values[events] for name, values in self.columns.items()},
            {name: own.take(events) for name, own in self.layers.items()},
        )


def ranges(begin: NDArray[np.int64], sizes: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """All places of ranges, one range after the other, and where each range begins in them (and the end)."""
    at = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    return np.arange(at[-1]) + np.repeat(begin - at[:-1], sizes), at
