"""A worker's own reading of Parquet: batches of events with their condition words, columns at a time."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from foresail.models.inputs.columns import InputColumn
from foresail.patterns.conditions import AttributeType
from foresail.patterns.conditions.evaluate import ArrayColumn
from foresail.patterns.conditions.packing import Packer
from foresail.patterns.conditions.relations import Column, value_columns
from foresail.patterns.conditions.syntax import Condition
from foresail.patterns.conditions.text import attributes_of
from foresail.patterns.recognition.events import LAT, LON, EventBatch, LayerEvents, Near, Places
from foresail.pipeline.batch.parquet_source import OFFSET, TIME, TRACK, Piece
from foresail.pipeline.conditions.arrow import array_columns
from foresail.pipeline.errors import InputError

BATCH_ROWS = 250_000


@dataclass(frozen=True, slots=True)
class NearLayer:
    """A layer as workers open it, with all that its families ask of one event."""

    name: str
    conditions: tuple[Condition, ...]
    owners: tuple[str, ...]
    """The names under which conditions read the feature: `port` in `port.distance_m`."""
    folder: str
    radius_m: float
    names: tuple[str, ...]
    """The name of each feature, by its number."""


@dataclass(frozen=True, slots=True)
class Reading:
    """What to read of each file, and which conditions to evaluate."""

    conditions: tuple[Condition, ...]
    layers: tuple[NearLayer, ...] = ()
    places: bool = False
    offsets: bool = False
    skip_corrupt: bool = False
    kept: tuple[Column, ...] = ()
    """The values that patterns with registers compare."""
    inputs: tuple[InputColumn, ...] = ()
    """What trees read of an event."""

    @property
    def attributes(self) -> tuple[str, ...]:
        """The columns that conditions, registers and trees read."""
        every = [*self.conditions, *(condition for layer in self.layers for condition in layer.conditions)]
        owners = {owner for layer in self.layers for owner in layer.owners}
        read = (a.key for condition in every for a in attributes_of(condition) if a.owner not in owners)
        kept = (a.key for some in self.kept for a in attributes_of(some.value))
        return tuple(dict.fromkeys([*read, *kept, *(column.name for column in self.inputs)]))

    @property
    def columns(self) -> tuple[str, ...]:
        """All columns that are read."""
        place = (LON, LAT) if self.places or self.layers else ()
        return tuple(dict.fromkeys([TRACK, TIME, *((OFFSET,) if self.offsets else ()), *place, *self.attributes]))


def read_piece(piece: Piece, reading: Reading, left_out: Callable[[str], None]) -> Iterator[EventBatch]:
    """The events of a piece in the order of the file, some at a time: a track that is not laid out begins many times.

    If corrupt pieces are to be skipped, there are none of such a one, and its path goes to `left_out`.
    """
    try:
        batches = _batches(piece, reading)
        yield from list(batches) if reading.skip_corrupt else batches
    except (OSError, pa.ArrowException) as error:
        if reading.skip_corrupt:
            left_out(piece.path)
            return
        fault = _first_line(error)
        msg = f"{piece.path}: is corrupt ({fault}). Mend or remove it, or go on without it: --skip-corrupt."
        raise InputError(msg) from None


def _batches(piece: Piece, reading: Reading) -> Iterator[EventBatch]:
    columns, asking = list(reading.columns), _Asking.of(reading)
    with pq.ParquetFile(piece.path) as file:
        texts = [name for name in columns if pa.types.is_string(file.schema_arrow.field(name).type)]
    with pq.ParquetFile(piece.path, read_dictionary=texts) as file:
        for batch in file.iter_batches(BATCH_ROWS, list(piece.row_groups), columns, use_threads=False):
            if batch.num_rows:
                yield _read(batch, reading, asking)


@dataclass(frozen=True, slots=True, eq=False)
class _Asking:
    """What the batches of a piece are asked, made ready once."""

    attributes: tuple[str, ...]
    plain: Packer
    layers: tuple[tuple[NearLayer, Packer], ...]

    @classmethod
    def of(cls, reading: Reading) -> "_Asking":
        layers = tuple((layer, Packer(layer.conditions)) for layer in reading.layers)
        return cls(reading.attributes, Packer(reading.conditions), layers)


def _first_line(error: BaseException) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0].rstrip(".")[:120]


def _read(batch: pa.RecordBatch, reading: Reading, asking: _Asking) -> EventBatch:
    track = _distinct(batch.column(TRACK))
    columns = array_columns(batch, asking.attributes)
    times = array_columns(batch, [TIME])[TIME].values
    places = _places(batch) if reading.places or reading.layers else None
    kept = value_columns(reading.kept, columns, len(times)) if reading.kept else {}
    if places is not None and reading.places:
        kept |= {LON: places.lon, LAT: places.lat}
    if reading.offsets:
        kept[OFFSET] = batch.column(OFFSET).to_numpy()
    kept |= {column.key: column.numbers(columns[column.name]) for column in reading.inputs}
    codes = track.indices.to_numpy()
    first = np.concatenate([[0], np.flatnonzero(codes[1:] != codes[:-1]) + 1])
    return EventBatch(
        asking.plain.words(columns, len(times)),
        times,
        np.append(first, len(codes)).astype(np.int64),
        pa.DictionaryArray.from_arrays(pa.array(codes[first]), track.dictionary),
        kept,
        {
            layer.name: near_events(layer, packer, columns, places, len(times))
            for layer, packer in asking.layers
            if places
        },
    )


def _distinct(track: pa.DictionaryArray) -> pa.DictionaryArray:
    """The same tracks, each under one code."""
    if len(track.dictionary.unique()) == len(track.dictionary):
        return track
    return track.cast(pa.string()).dictionary_encode()


def _places(batch: pa.RecordBatch) -> Places:
    lon, lat = (batch.column(axis).cast(pa.float64()).to_numpy(zero_copy_only=False) for axis in (LON, LAT))
    return Places(lon, lat)


def near_events(
    layer: NearLayer, packer: Packer, columns: dict[str, ArrayColumn], places: Places | None, rows: int
) -> LayerEvents:
    """What the families over a layer read of events: the features that each is near."""
    assert places is not None, "families read places"
    from foresail.geo.layers import open_index  # noqa: PLC0415 - half of a worker's imports, needed by families alone

    row, feature, metres = open_index(layer.folder).nearby(places.lon, places.lat, layer.radius_m)
    near = {name: _taken(column, row) for name, column in columns.items()}
    far_words = packer.words(columns | _distances(layer, np.full(rows, np.inf)), rows)
    near_words = packer.words(near | _distances(layer, metres), len(row))
    at = np.concatenate([[0], np.cumsum(np.bincount(row, minlength=rows))]).astype(np.int64)
    return LayerEvents(far_words, Near(at, feature.astype(np.int32), near_words), layer.names)


def _distances(layer: NearLayer, metres: NDArray[np.float64]) -> dict[str, ArrayColumn]:
    column = ArrayColumn(metres, None, AttributeType.NUMBER)
    return {f"{owner}.distance_m": column for owner in layer.owners}


def _taken(column: ArrayColumn, rows: NDArray[np.int64]) -> ArrayColumn:
    valid = None if column.valid is None else column.valid[rows]
    return ArrayColumn(column.values[rows], valid, column.type, column.dictionary)
