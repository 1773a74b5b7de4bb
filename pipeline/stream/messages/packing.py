"""Whole batches of plain messages on their way to the first step with state: one value for each bucket and batch.

A row for every event would be made in Java, sorted and made an array again, only to arrive where arrays are read. So a
Python worker reads the messages as they came, and sends the plain ones of a batch to each bucket as one packed table;
what is not plain it hands on, untouched, to Spark's own parser.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import pandas as pd
import pyarrow as pa
from numpy.typing import NDArray

from foresail.arrow_bytes import table_from_bytes, table_to_bytes
from foresail.patterns.conditions.packing import Packer
from foresail.patterns.conditions.syntax import Condition
from foresail.pipeline.conditions.arrow import array_column
from foresail.pipeline.stream.messages.positions import PlainFeed, Positions, plain_positions
from foresail.pipeline.stream.messages.scanning import spark_places

PACKED_DDL = "value binary, partition int, offset long, arrived long, packed_bucket int, packed binary"
_SCHEMA = pa.schema(
    [
        ("value", pa.binary()),
        ("partition", pa.int32()),
        ("offset", pa.int64()),
        ("arrived", pa.int64()),
        ("packed_bucket", pa.int32()),
        ("packed", pa.binary()),
    ]
)


@dataclass(frozen=True, slots=True)
class Packing:
    """What a worker does with the messages of a topic (value, partition, offset, arrived)."""

    feed: PlainFeed
    labels: tuple[int, ...]
    """The numbers of the buckets, by the place that a track's hash gives it."""
    conditions: tuple[Condition, ...] | None = None
    """Those whose words are wanted; None where they are computed later."""

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Packed events by bucket, and the messages that are not plain."""
        for batch in batches:
            if batch.num_rows:
                yield self._handed_on(batch)

    def _handed_on(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        data, cuts = _bytes_of(batch.column("value"))
        positions = plain_positions(data, cuts, batch.column("arrived").to_numpy(), self.feed)
        odd = batch.filter(pa.array(~positions.plain))
        packed = self._packed(positions, batch)
        columns = [pa.concat_arrays([odd.column(n), pa.nulls(len(packed), _SCHEMA.field(n).type)]) for n in range(4)]
        columns.append(pa.array([None] * len(odd) + list(packed), pa.int32()))
        columns.append(pa.array([None] * len(odd) + list(packed.values()), pa.binary()))
        return pa.RecordBatch.from_arrays(columns, schema=_SCHEMA)

    def _packed(self, positions: Positions, batch: pa.RecordBatch) -> dict[int, bytes]:
        """The events of each bucket that has any."""
        if not len(positions.time_us):
            return {}
        events = self._events(positions, batch)
        track = events.column("track")
        place = spark_places(track.dictionary, len(self.labels))[track.indices.to_numpy()]
        found = {}
        for n, label in enumerate(self.labels):
            mine = np.flatnonzero(place == n)
            if len(mine):
                some = events if len(mine) == len(place) else events.take(pa.array(mine))
                found[label] = table_to_bytes(pa.Table.from_batches([some]))
        return found

    def _events(self, positions: Positions, batch: pa.RecordBatch) -> pa.RecordBatch:
        plain = pa.array(positions.plain)
        columns = {
            "track": positions.track.dictionary_encode(),
            "offset": batch.column("offset").filter(plain),
            "arrived_us": batch.column("arrived").filter(plain),
            "time_us": pa.array(positions.time_us),
        }
        if self.conditions is not None:
            words = _words(self.conditions, positions)
            columns |= {f"word_{n}": pa.array(words[:, n]) for n in range(words.shape[1])}
        coded = {
            name: array.dictionary_encode() if pa.types.is_string(array.type) else array
            for name, array in positions.columns.items()
        }
        return pa.RecordBatch.from_pydict(columns | coded)


def _words(conditions: tuple[Condition, ...], positions: Positions) -> NDArray[np.int64]:
    time = pa.array(positions.time_us, pa.timestamp("us", tz="UTC"))
    arrays = {**positions.columns, "track": positions.track, "time": time}
    columns = {name: array_column(array, name) for name, array in arrays.items()}
    return _packer(conditions).words(columns, len(positions.time_us))


@lru_cache(maxsize=8)
def _packer(conditions: tuple[Condition, ...]) -> Packer:
    return Packer(conditions)


def _bytes_of(values: pa.BinaryArray) -> tuple[NDArray[np.uint8], NDArray[np.int32]]:
    """The bytes of all values, and where each begins; a message without a value is one of no bytes."""
    whole = values if values.offset == 0 else pa.concat_arrays([values, values[:0]])
    _, cuts, data = whole.buffers()
    held = np.frombuffer(data, dtype=np.uint8) if data is not None else np.empty(0, dtype=np.uint8)
    return held, np.frombuffer(cuts, dtype=np.int32)[: len(whole) + 1]


def unpacked(values: Sequence[bytes]) -> pd.DataFrame:
    """The events of packed values, as Spark would have handed their rows over."""
    tables = [table_from_bytes(value) for value in values]
    return pd.concat([_frame(table) for table in tables], ignore_index=True) if tables else pd.DataFrame()


def _frame(table: pa.Table) -> pd.DataFrame:
    columns = {}
    for name in table.column_names:
        column = table.column(name).combine_chunks()
        if pa.types.is_dictionary(column.type):  # each word becomes one object, not one for every event
            words = np.array([*column.dictionary.to_pylist(), None], dtype=object)
            codes = column.indices.fill_null(len(words) - 1).to_numpy()
            columns[name] = pd.Series(words[codes], dtype=object)
        else:
            columns[name] = column.to_pandas()
    return pd.DataFrame(columns, copy=False)
