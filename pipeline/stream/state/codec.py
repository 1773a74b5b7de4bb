"""Track states as bytes for Spark's state store: arrays one after the other, compressed, without pickle.

The shape of the nested tuples is not written: whoever reads gives a template, the state of no tracks, and receives the
arrays in its places. Arrays come back writable and aligned, as the kernels were compiled for.
"""

import json
import struct
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

_HEADER = struct.Struct("<IQ")
_ALIGNMENT = 8
_UNREADABLE = "It was written by another version of foresail: name a new folder in stream.checkpoint."


class StateFormatError(Exception):
    """Bytes that are not the state of this line."""


def encode(value: Any) -> bytes:
    """`value`, nested tuples (and dataclasses) of arrays, as bytes."""
    arrays = [np.ascontiguousarray(array) for array in _arrays(value)]
    header = json.dumps([[array.dtype.str, list(array.shape)] for array in arrays]).encode()
    body = bytearray()
    for array in arrays:
        body += array.tobytes()
        body += bytes(-len(body) % _ALIGNMENT)
    packed = pa.Codec("lz4").compress(bytes(body), asbytes=True) if body else b""
    return _HEADER.pack(len(header), len(body)) + header + packed


def decode(stored: bytes, template: Any) -> Any:
    """What `encode` made bytes of, in the places of `template`."""
    length, size = _HEADER.unpack_from(stored)
    header = json.loads(stored[_HEADER.size : _HEADER.size + length])
    packed = stored[_HEADER.size + length :]
    body = bytearray(pa.Codec("lz4").decompress(packed, size, asbytes=True)) if size else bytearray()
    arrays = _read(header, body)
    value = _filled(template, arrays)
    if next(arrays, None) is not None:
        msg = f"state: holds more arrays than its form says. {_UNREADABLE}"
        raise StateFormatError(msg)
    return value


def _read(header: list[Any], body: bytearray) -> Iterator[NDArray[Any]]:
    at = 0
    for kind, shape in header:
        dtype = np.dtype(kind)
        count = int(np.prod(shape))
        yield (
            np.frombuffer(body, dtype=dtype, count=count, offset=at).reshape(shape) if count else np.empty(shape, dtype)
        )
        at += count * dtype.itemsize
        at += -at % _ALIGNMENT


def _arrays(value: Any) -> Iterator[NDArray[Any]]:
    if isinstance(value, np.ndarray):
        yield value
    else:
        for inner in _inner(value):
            yield from _arrays(inner)


def _filled(template: Any, arrays: Iterator[NDArray[Any]]) -> Any:
    if isinstance(template, np.ndarray):
        array = next(arrays, None)
        if array is None or array.dtype != template.dtype or array.shape[1:] != template.shape[1:]:
            msg = f"state: an array is not as its form says. {_UNREADABLE}"
            raise StateFormatError(msg)
        return array
    values = [_filled(inner, arrays) for inner in _inner(template)]
    return type(template)(*values) if is_dataclass(template) or hasattr(template, "_fields") else tuple(values)


def _inner(value: Any) -> list[Any]:
    if is_dataclass(value):
        return [getattr(value, field.name) for field in fields(value)]
    assert isinstance(value, tuple), "a state is made of tuples, dataclasses and arrays"
    return list(value)
