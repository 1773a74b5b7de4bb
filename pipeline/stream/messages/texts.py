"""Texts among the bytes of messages: taken out as Arrow arrays, read as instants, and hashed as Spark hashes them."""

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from foresail.pipeline.stream.messages.text_kernels import gather_kernel, instant_kernel, place_kernel


def texts_at(data: NDArray[np.uint8], starts: NDArray[np.int32], ends: NDArray[np.int32]) -> pa.StringArray:
    """The texts between these places as an array; an empty one where both are the same."""
    cuts = np.zeros(len(starts) + 1, dtype=np.int32)
    np.cumsum(ends - starts, out=cuts[1:])
    out = np.empty(int(cuts[-1]), dtype=np.uint8)
    gather_kernel()(data, np.ascontiguousarray(starts), cuts, out)
    return pa.StringArray.from_buffers(len(starts), pa.py_buffer(cuts), pa.py_buffer(out))


def instants_at(
    data: NDArray[np.uint8], starts: NDArray[np.int32], ends: NDArray[np.int32], chosen: NDArray[np.bool_]
) -> NDArray[np.int64]:
    """Microseconds since 1970 of the chosen texts, -1 where one is no plain instant, 0 where none was chosen."""
    out = np.zeros(len(starts), dtype=np.int64)
    instant_kernel()(data, np.ascontiguousarray(starts), np.ascontiguousarray(ends), chosen, out)
    return out


def spark_places(texts: pa.StringArray, many: int) -> NDArray[np.int64]:
    """For each text what `pmod(hash(text), many)` is in Spark."""
    whole = texts if texts.offset == 0 else pa.concat_arrays([texts, texts[:0]])
    out = np.empty(len(whole), dtype=np.int64)
    _, cuts, data = whole.buffers()
    held = np.frombuffer(data, dtype=np.uint8) if data is not None else np.empty(0, dtype=np.uint8)
    place_kernel()(held, np.frombuffer(cuts, dtype=np.int32)[: len(whole) + 1], many, out)
    return out
