"""Events in memory as training asks for them: a sample, groups of tracks and counts, made in this process."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import xxhash
from numpy.typing import NDArray

from foresail.models.groups import PER_TRACK
from foresail.patterns.compiler import CompiledPattern
from foresail.patterns.conditions import AttributeType
from foresail.patterns.recognition.tables import shared_conditions
from foresail.pipeline.batch.parquet_reader import NearLayer
from foresail.pipeline.batch.partition import LayerPatterns
from foresail.pipeline.batch.sorted_rows import NO_LAYER
from foresail.pipeline.errors import InputError
from foresail.pipeline.local.frames import PLACE, whole
from foresail.pipeline.local.runner import EVENTS_PER_CALL, Packing
from foresail.pipeline.local.sorted_events import MINUTES, OFFSET, TIME, TRACK, SortedEvents
from foresail.pipeline.training.count import BeginCounting, Counted, merged_counts
from foresail.pipeline.training.sample import BUCKETS, Sample, attribute_column, share_of_buckets, sorted_sample
from foresail.pipeline.training.symbols import Membership

if TYPE_CHECKING:
    from foresail.geo.layers import Layer

SPARK_SEED = 42
"""Spark's `xxhash64` begins with it: the same tracks are sampled by both."""


@dataclass(frozen=True, slots=True)
class FrameEvents:
    """Events of a frame in order, and the layers that they may be near."""

    events: SortedEvents
    types: Mapping[str, AttributeType]
    layers: "Mapping[str, Layer]"

    @property
    def columns(self) -> Sequence[str]:
        """What conditions can name."""
        return self.events.columns

    def sample(self, attributes: Sequence[str], reach: Mapping[str, float], most_events: int) -> Sample:
        """Whole tracks with these attributes, and the features that they come near."""
        held = np.diff(self.events.first_of)
        bucket = _buckets(self.events.tracks) if held.sum() > most_events else np.zeros(len(held), dtype=np.int64)
        there, of_track = np.unique(bucket, return_inverse=True)
        in_bucket = np.bincount(of_track, weights=held).astype(np.int64)
        share = share_of_buckets(there, in_bucket, len(held), most_events)
        events = np.flatnonzero(np.repeat(bucket < share.buckets, held))
        places = [axis for axis in PLACE if axis in self.columns]
        wanted = list(dict.fromkeys([*attributes, *places]))
        values = {attribute_column(n): self._taken(name, events) for n, name in enumerate(wanted)}
        rows = [self._rows(events, NO_LAYER, pa.nulls(len(events), pa.string()), values)]
        rows += [self._near(n, layer, reach[layer], events) for n, layer in enumerate(reach)]
        table = pa.concat_tables(rows, promote_options="default")
        return sorted_sample(table, wanted, len(reach), share)

    def memberships(self, attributes: Iterable[str]) -> dict[str, Membership]:
        """For each attribute the value that each track has most often, the first in order where two are as frequent."""
        wanted = sorted(set(attributes))
        columns = [name for name in wanted if name != PER_TRACK]
        found: dict[str, Membership] = {PER_TRACK: Membership()} if PER_TRACK in wanted else {}
        return found | {name: self._membership(name) for name in columns}

    def counted(
        self,
        plain: tuple[CompiledPattern, ...],
        families: LayerPatterns,
        reach: Mapping[str, float],
        max_order: int,
        groups: Mapping[str, Membership],
    ) -> Counted:
        """The counts of each pattern."""
        walk = BeginCounting(plain, families, max_order, groups)()
        packing = Packing(shared_conditions(plain), near_layers_within(self.layers, families, reach))
        rows: list[dict[str, Any]] = []
        for some in self.events.slices(EVENTS_PER_CALL):
            for batch in walk.advance(packing.batch(self.events, some, places=False)):
                rows += batch.to_pylist()
        return merged_counts([*rows, *(row for batch in walk.finish() for row in batch.to_pylist())])

    def _rows(
        self, events: NDArray[np.int64], layer: int, features: pa.Array, values: Mapping[str, pa.Array]
    ) -> pa.Table:
        slot = np.searchsorted(self.events.first_of, events, side="right") - 1
        keys = {
            "track": self.events.tracks.cast(pa.string()).take(pa.array(slot)),
            "time_us": pa.array(self.events.times[events]),
            "offset": self._offsets(events),
            "layer": pa.array(np.full(len(events), layer, dtype=np.int32)),
            "feature": features,
        }
        return pa.table({**keys, **values})

    def _near(self, number: int, layer: str, reach_m: float, events: NDArray[np.int64]) -> pa.Table:
        from foresail.geo.layers import open_index  # noqa: PLC0415 - layers are slow to import
        from foresail.pipeline.local.near_layers import instance_names  # noqa: PLC0415

        held = self.layers[layer]
        lon, lat = (values[events] for values in self.events.places(slice(0, len(self.events))))
        row, feature, metres = open_index(str(held.folder)).nearby(lon, lat, reach_m)
        names = pa.array(instance_names(held), pa.string()).take(pa.array(feature))
        return self._rows(events[row], number, names, {"feature_distance_m": pa.array(metres, pa.float64())})

    def _offsets(self, events: NDArray[np.int64]) -> pa.Array:
        """What orders events of one time: their offset, or their place in the frame."""
        if OFFSET in self.events.frame.columns:
            return self._taken(OFFSET, events).cast(pa.int64())
        return pa.array(self._frame_rows(events))

    def _frame_rows(self, events: NDArray[np.int64]) -> NDArray[np.int64]:
        return events if self.events.order is None else self.events.order[events]

    def _taken(self, name: str, events: NDArray[np.int64]) -> pa.Array:
        """A column of some events, texts as texts: their codes must not depend on the frame."""
        held = self.events
        if name == TIME:
            return pa.array(held.times[events]).cast(pa.timestamp("us", tz="UTC"))
        if name == TRACK:
            slot = np.searchsorted(held.first_of, events, side="right") - 1
            return held.tracks.cast(pa.string()).take(pa.array(slot))
        if name == MINUTES and MINUTES not in held.frame.columns:
            return pa.array(held.taken(MINUTES, slice(0, len(held))).values[events])
        owner, dot, inner = name.partition(".")
        apart = bool(dot) and name not in held.frame.columns
        array = whole(held.frame.column(owner if apart else name))
        array = pc.struct_field(array, inner) if apart else array
        taken = array.take(pa.array(self._frame_rows(events)))
        return taken.cast(taken.type.value_type) if pa.types.is_dictionary(taken.type) else taken

    def _membership(self, attribute: str) -> Membership:
        if attribute not in self.columns:
            msg = f"events: there is no column '{attribute}', by which models are grouped. Add it, or leave it out."
            raise InputError(msg)
        rows = np.arange(len(self.events))
        slot = np.repeat(np.arange(len(self.events.tracks)), np.diff(self.events.first_of))
        table = pa.table({"slot": slot, "value": texts_of(self._taken(attribute, rows))})
        counted = table.filter(pc.is_valid(table["value"])).group_by(["slot", "value"]).aggregate([([], "count_all")])
        order = [("slot", "ascending"), ("count_all", "descending"), ("value", "ascending")]
        counted = counted.sort_by(order) if counted.num_rows else counted
        first = np.unique(counted["slot"].to_numpy(), return_index=True)
        usual = np.full(len(self.events.tracks), -1, dtype=np.int64)
        usual[first[0]] = first[1]
        values = pa.concat_arrays([*counted["value"].chunks, pa.array([], pa.string())])
        return Membership(self.events.tracks.cast(pa.string()), values.take(pa.array(usual, mask=usual < 0)))


def near_layers_within(
    layers: "Mapping[str, Layer]", families: LayerPatterns, reach: Mapping[str, float]
) -> tuple[NearLayer, ...]:
    """How to ask the layers of families which features are near."""
    if not families:
        return ()
    from foresail.pipeline.local.near_layers import near_layer  # noqa: PLC0415 - layers are slow to import

    return tuple(near_layer(layers[name], patterns, reach[name]) for name, patterns in families.items())


def texts_of(values: pa.Array) -> pa.Array:
    """Values as the texts that Spark makes of them; a fraction as Java writes it."""
    if not pa.types.is_floating(values.type):
        return values.cast(pa.string())
    encoded = values.cast(pa.float64()).dictionary_encode()
    texts = [None if value is None else repr(value) for value in encoded.dictionary.to_pylist()]
    return pa.array([text if text != "nan" else "NaN" for text in texts], pa.string()).take(encoded.indices)


def _buckets(tracks: pa.Array) -> NDArray[np.int64]:
    """For each track the bucket that a sample takes or leaves: a hash of its name, as Spark has it."""
    hashed = (xxhash.xxh64_intdigest(name.encode(), seed=SPARK_SEED) for name in tracks.cast(pa.string()).to_pylist())
    signed = np.fromiter(hashed, dtype=np.uint64, count=len(tracks)).astype(np.int64)
    return np.asarray(np.mod(signed, BUCKETS))
