"""From numpy arrays to Arrow batches: unknown numbers become nulls, constants are repeated."""

from datetime import datetime
from typing import Any

import numpy as np
import pyarrow as pa

from pipeline.simulator.geometry import Floats

SOURCE = "simulated"


def times(start: datetime, time_s: Floats) -> pa.Array:
    """Timestamps in UTC, in microseconds."""
    first = round(start.timestamp() * 1e6)
    return pa.array(first + np.round(time_s * 1e6).astype(np.int64), type=pa.timestamp("us", tz="UTC"))


def doubles(values: Floats) -> pa.Array:
    """Numbers, NaN as null."""
    return pa.array(values, type=pa.float64(), from_pandas=True)


def whole(values: Floats) -> pa.Array:
    """Small whole numbers, NaN as null."""
    return pa.array(np.nan_to_num(values).astype(np.int32), type=pa.int32(), mask=np.isnan(values))


def repeated(value: Any, kind: pa.DataType, count: int) -> pa.Array:
    """The same value in every row."""
    return pa.repeat(pa.scalar(value, type=kind), count)
