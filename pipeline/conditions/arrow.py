"""Arrow arrays as the columns that conditions read in Python, without copying where Arrow's layout allows it."""

from collections.abc import Iterable, Iterator

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from foresail.patterns.conditions import AttributeType
from foresail.patterns.conditions.evaluate import ArrayColumn
from foresail.pipeline.errors import InputError

MOST_EXACT_DIGITS = 15
"""Decimals of so many digits, and the power of ten they are divided by, are exact doubles: one rounding, as in Java."""


def attribute_types(schema: pa.Schema) -> dict[str, AttributeType]:
    """The type of each column that conditions can read, fields of structs under `struct.field`."""
    found = {key: attribute_type(kind) for key, kind in _fields(schema)}
    return {key: kind for key, kind in found.items() if kind is not None}


def attribute_type(kind: pa.DataType) -> AttributeType | None:
    """As what conditions compare values of this type; None where they cannot."""
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        return AttributeType.STRING
    if pa.types.is_boolean(kind):
        return AttributeType.BOOLEAN
    if pa.types.is_integer(kind) and kind != pa.uint64():
        return AttributeType.INTEGER
    if pa.types.is_floating(kind) or pa.types.is_decimal(kind) or kind == pa.uint64():
        return AttributeType.NUMBER
    return AttributeType.TIMESTAMP if pa.types.is_timestamp(kind) or pa.types.is_date(kind) else None


def _fields(schema: pa.Schema) -> Iterator[tuple[str, pa.DataType]]:
    for field in schema:
        yield field.name, field.type
        if pa.types.is_struct(field.type):
            yield from ((f"{field.name}.{inner.name}", inner.type) for inner in field.type)


def array_columns(table: pa.Table | pa.RecordBatch, names: Iterable[str] | None = None) -> dict[str, ArrayColumn]:
    """The named columns (all by default) under their names; fields of structs are asked for as `struct.field`."""
    chosen = table.schema.names if names is None else names
    return {name: array_column(_find(table, name), name) for name in chosen}


def array_column(array: pa.Array | pa.ChunkedArray, name: str = "column") -> ArrayColumn:
    """The values of an Arrow array with their validity, as the type that conditions compare."""
    flat = array.combine_chunks() if isinstance(array, pa.ChunkedArray) else array
    if isinstance(flat, pa.ChunkedArray):
        flat = pa.concat_arrays(flat.chunks)
    valid = None if flat.null_count == 0 else flat.is_valid().to_numpy(zero_copy_only=False)
    kind = flat.type
    if pa.types.is_dictionary(kind) or pa.types.is_string(kind) or pa.types.is_large_string(kind):
        return _texts(flat, valid)
    if pa.types.is_boolean(kind):
        return ArrayColumn(flat.to_numpy(zero_copy_only=False).astype(np.bool_), valid, AttributeType.BOOLEAN)
    if pa.types.is_integer(kind) and kind != pa.uint64():
        return ArrayColumn(_filled(flat, pa.int64()), valid, AttributeType.INTEGER)
    if pa.types.is_floating(kind) or kind == pa.uint64():
        return ArrayColumn(_filled(flat, pa.float64()), valid, AttributeType.NUMBER)
    if pa.types.is_timestamp(kind) or pa.types.is_date(kind):
        micros = flat.cast(pa.timestamp("us", tz=getattr(kind, "tz", None)), safe=False)
        return ArrayColumn(_filled(micros, pa.int64()), valid, AttributeType.TIMESTAMP)
    if pa.types.is_decimal(kind):
        return ArrayColumn(_decimals(flat), valid, AttributeType.NUMBER)
    msg = f"{name}: conditions cannot read a column of type {kind}. Convert it to a number, text, boolean or time."
    raise InputError(msg)


def _find(table: pa.Table | pa.RecordBatch, name: str) -> pa.Array | pa.ChunkedArray:
    if name in table.schema.names:
        return table.column(name)
    owner, _, field = name.partition(".")
    if field and owner in table.schema.names and pa.types.is_struct(table.schema.field(owner).type):
        return pc.struct_field(table.column(owner), field)
    msg = f"{name}: there is no such column. The columns are {', '.join(table.schema.names)}."
    raise InputError(msg)


def _filled(array: pa.Array, kind: pa.DataType) -> NDArray[np.generic]:
    """The values as one NumPy array of this type; null places hold anything."""
    same = array if array.type == kind else array.cast(kind, safe=False)
    if len(same) == 0:
        return np.empty(0, dtype=kind.to_pandas_dtype())
    values: NDArray[np.generic] = np.frombuffer(same.buffers()[1], dtype=kind.to_pandas_dtype())
    return values[same.offset : same.offset + len(same)]


def _texts(array: pa.Array, valid: NDArray[np.bool_] | None) -> ArrayColumn:
    encoded = array if pa.types.is_dictionary(array.type) else array.dictionary_encode()
    words = encoded.dictionary.cast(pa.string())
    if words.null_count:  # a null may also hide behind a code that points at it
        valid = np.asarray(encoded.cast(pa.string()).is_valid())
    codes = _filled(encoded.indices, pa.int32())
    return ArrayColumn(codes, valid, AttributeType.STRING, tuple(word or "" for word in words.to_pylist()))


def _decimals(array: pa.Array) -> NDArray[np.float64]:
    kind = array.type
    if kind.precision <= MOST_EXACT_DIGITS and 0 <= kind.scale <= MOST_EXACT_DIGITS:
        same = array.cast(pa.decimal128(kind.precision, kind.scale))
        unscaled = pa.Array.from_buffers(
            pa.decimal128(kind.precision, 0), len(same), same.buffers(), offset=same.offset
        )
        return _filled(unscaled.cast(pa.int64()), pa.int64()).astype(np.float64) / float(10**kind.scale)
    return np.array([np.nan if value is None else float(value) for value in array.to_pylist()], dtype=np.float64)
