"""From numpy arrays to Arrow batches: unknown numbers become nulls, constants are repeated.

The columns of what simulations write beside positions: the truth table and the fault table.
"""

from datetime import datetime
from typing import Any

import numpy as np
import pyarrow as pa
from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.types import LongType, StringType, StructField, StructType, TimestampType

from foresail.pipeline.schemas import POSITION_SCHEMA
from foresail.pipeline.simulator.geometry import Floats

SOURCE = "simulated"
CANONICAL: pa.Schema = to_arrow_schema(POSITION_SCHEMA)


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


def canonical_batch(columns: dict[str, pa.Array]) -> pa.RecordBatch:
    """A batch with all canonical columns; those not given are null."""
    count = len(columns["track"])
    arrays = [columns.get(field.name, pa.nulls(count, field.type)) for field in CANONICAL]
    return pa.RecordBatch.from_arrays(arrays, schema=CANONICAL)


def repeated(value: Any, kind: pa.DataType, count: int) -> pa.Array:
    """The same value in every row."""
    return pa.repeat(pa.scalar(value, type=kind), count)


TRUTH = StructType(
    [
        StructField("pattern", StringType()),
        StructField("track", StringType()),
        StructField("other_track", StringType()),
        StructField("start", TimestampType()),
        StructField("end", TimestampType()),
        StructField("kind", StringType()),
        StructField("rows", LongType()),
        StructField("feature", StringType()),
        StructField("detail", StringType()),
    ]
)

FAULTS = StructType(
    [
        StructField("fault", StringType()),
        StructField("track", StringType()),
        StructField("start", TimestampType()),
        StructField("end", TimestampType()),
        StructField("rows", LongType()),
        StructField("table", StringType()),
        StructField("detail", StringType()),
    ]
)
