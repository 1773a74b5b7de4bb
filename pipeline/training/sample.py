"""A bounded sample of whole tracks in memory: what trees, thresholds and evaluations look at.

Tracks are chosen by a hash of their name, so the same events always give the same sample, and more events a larger one,
whether Spark or this process reads them.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from foresail.models.scoring.sequences import Sequences, family_sequences, plain_sequences
from foresail.patterns.conditions.evaluate import ArrayColumn
from foresail.pipeline.batch.sorted_rows import NO_LAYER
from foresail.pipeline.conditions.arrow import array_column
from foresail.pipeline.errors import InputError


@dataclass(frozen=True, slots=True)
class Share:
    """How much of the events a sample holds."""

    buckets: int
    """Tracks whose hash is below this are in it, of all buckets."""
    events: int
    """All events there are, and all tracks; those of the sample are counted in it."""
    tracks: int


@dataclass(frozen=True, slots=True, eq=False)
class Sample:
    """Events of whole tracks, sorted, and for each layer which of them are near which feature."""

    share: Share
    table: pa.Table
    columns: Mapping[str, ArrayColumn]
    tracks: pa.Array
    times: NDArray[np.int64]
    first_of: NDArray[np.int64]
    near: tuple["NearTable", ...]

    @property
    def events(self) -> int:
        """How many events it has."""
        return len(self.times)

    @property
    def plain(self) -> Sequences:
        """A sequence per track."""
        return plain_sequences(self.columns, self.times, self.first_of)

    def of_family(self, layer: int, family: str, around: int) -> Sequences:
        """A sequence per track and near feature of a layer, which conditions call `family`."""
        near = self.near[layer]
        return family_sequences(self.plain, near.event, near.feature, near.distance_m, f"{family}.distance_m", around)


@dataclass(frozen=True, slots=True, eq=False)
class NearTable:
    """Which event is near which feature of one layer."""

    event: NDArray[np.int64]
    feature: NDArray[np.int64]
    distance_m: NDArray[np.float64]
    names: tuple[str, ...]


BUCKETS = 1024
KEYS = ("track", "time_us", "offset", "layer", "feature")


def share_of_buckets(bucket: NDArray[np.int64], events: NDArray[np.int64], tracks: int, most_events: int) -> Share:
    """The buckets of tracks that together have at most `most_events` events, but at least one track.

    `bucket` are those that have tracks, in order, `events` how many each has.
    """
    if not len(bucket):
        msg = "events: there are none. Give events to learn from."
        raise InputError(msg)
    total = np.cumsum(events)
    fitting = max(1, int(np.searchsorted(total, most_events, side="right")))
    buckets = BUCKETS if fitting == len(bucket) else int(bucket[fitting - 1]) + 1
    return Share(buckets, int(total[-1]), tracks)


def attribute_column(number: int) -> str:
    """What the rows of a sample call an attribute."""
    return f"attribute_{number}"


def sorted_sample(rows: pa.Table, attributes: Sequence[str], layers: int, share: Share) -> Sample:
    """The sample of these rows: one for each event, and one for each feature that it is near."""
    rows = rows.sort_by([(key, "ascending") for key in KEYS])
    layer = rows.column("layer").to_numpy()
    is_event = layer == NO_LAYER
    event_of = np.cumsum(is_event) - 1
    table = rows.filter(pa.array(is_event)).combine_chunks()
    track = table.column("track").combine_chunks()
    codes = track.dictionary_encode().indices.to_numpy()
    first = np.flatnonzero(np.concatenate([[True], codes[1:] != codes[:-1]])) if len(codes) else np.empty(0, np.int64)
    columns = {name: array_column(table.column(attribute_column(n)), name) for n, name in enumerate(attributes)}
    return Sample(
        share,
        table,
        columns,
        track.take(pa.array(first)),
        table.column("time_us").to_numpy(),
        np.append(first, len(codes)).astype(np.int64),
        tuple(_near(rows.filter(pa.array(layer == n)), event_of[layer == n]) for n in range(layers)),
    )


def _near(rows: pa.Table, event_of: NDArray[np.int64]) -> NearTable:
    names = rows.column("feature").combine_chunks().dictionary_encode()
    return NearTable(
        event_of,
        names.indices.to_numpy().astype(np.int64),
        rows.column("feature_distance_m").to_numpy(),
        tuple(names.dictionary.to_pylist()),
    )
