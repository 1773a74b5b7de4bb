"""Events of whole tracks in memory, and which of them are near which feature: read without Spark."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from foresail.models.scoring.sequences import Sequences, family_sequences, plain_sequences
from foresail.patterns.conditions.evaluate import ArrayColumn


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
