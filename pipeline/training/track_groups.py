"""Which group each track belongs to: a small table that is made once and sent to the workers."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray
from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812

from foresail.models.counts import NO_GROUP, TrackGroups
from foresail.models.groups import PER_TRACK

KEY = "_track"


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


def memberships(events: DataFrame, attributes: Iterable[str]) -> dict[str, Membership]:
    """For each attribute the value that each track has most often, the first in order where two are equally frequent.

    One pass over these columns; what comes back is one row per track.
    """
    wanted = sorted(set(attributes))
    columns = [name for name in wanted if name != PER_TRACK]
    found: dict[str, Membership] = {PER_TRACK: Membership()} if PER_TRACK in wanted else {}
    if columns:
        usual = [F.mode(F.col(name).cast("string"), deterministic=True).alias(name) for name in columns]
        table = events.groupBy(F.col("track").cast("string").alias(KEY)).agg(*usual).toArrow()
        found |= {name: Membership(_whole(table, KEY), _whole(table, name)) for name in columns}
    return found


def _whole(table: pa.Table, column: str) -> pa.Array:
    return pa.concat_arrays([*table.column(column).chunks, pa.array([], pa.string())])


def of_tracks(groups: Mapping[str, Membership], pattern: str, tracks: pa.Array) -> TrackGroups:
    """The groups in which a pattern's tracks are counted: one for all, unless it has a membership."""
    return groups[pattern].track_groups(tracks) if pattern in groups else TrackGroups.one(len(tracks))
