"""What kernels find in the bytes of messages: fields, and texts as Arrow arrays, instants, or hashes as Spark's."""

from collections.abc import Callable

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from foresail.patterns.recognition.compilation import Kernel
from foresail.pipeline.stream.messages.scan_kernel import MOST_KEYS, scan_kernel
from foresail.pipeline.stream.messages.text_kernels import gather_kernel, instant_kernel, place_kernel

KERNELS: dict[str, Callable[[], Kernel]] = {
    "messages": scan_kernel,
    "texts": gather_kernel,
    "instants": instant_kernel,
    "buckets": place_kernel,
}
"""By name, to be compiled ahead."""


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


class ScannedFields:
    """What was found in some messages: one row per field, one column per message."""

    def __init__(self, data: NDArray[np.uint8], at: NDArray[np.int32], fields: tuple[str, ...]) -> None:
        rows, many = len(at) - 1, len(fields)
        self.data, self.fields = data, fields
        self.starts, self.ends = (np.zeros((many, rows), dtype=np.int32) for _ in range(2))
        self.states = np.zeros((many, rows), dtype=np.uint8)
        self.numbers = np.zeros((many, rows), dtype=np.float64)
        self.plain = np.zeros(rows, dtype=np.bool_)
        names = [name.encode() for name in fields]
        name_at = np.cumsum([0, *map(len, names)]).astype(np.int32)
        keys = np.full((MOST_KEYS, 3), -1, dtype=np.int64)
        spelled = np.frombuffer(b"".join(names), dtype=np.uint8)
        scan_kernel()(data, at, spelled, name_at, keys, (self.starts, self.ends, self.states), self.numbers, self.plain)
