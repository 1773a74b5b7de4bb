"""The fields of JSON messages, found by the kernel: one row per field, one column per message."""

import numpy as np
from numpy.typing import NDArray

from foresail.pipeline.stream.messages.scan_kernel import MOST_KEYS, scan_kernel


class Scanned:
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
