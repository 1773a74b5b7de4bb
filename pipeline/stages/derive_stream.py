"""Derived attributes in a stream: the previous position of each track comes from Spark's state store, by buckets.

Tracks are grouped into buckets so that one Python call serves many; the arithmetic is that of `pipeline.stages.derive`.
"""

from collections.abc import Iterable, Iterator
from typing import Any

import pandas as pd
from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql import types as T  # noqa: N812
from pyspark.sql.streaming.state import GroupState, GroupStateTimeout

from foresail.pipeline.stages.derive import DeriveOptions, status, with_attributes
from foresail.pipeline.stages.track_memory import decode_memory, empty_memory, encode_memory, meet

DEFAULT_BUCKETS = 8
MEMORY_SCHEMA = T.StructType([T.StructField("memory", T.BinaryType())])


def derive_stream(
    positions: DataFrame,
    options: DeriveOptions,
    buckets: int = DEFAULT_BUCKETS,
    forget_after_s: float | None = None,
) -> DataFrame:
    """`positions` with derived attributes, and a `late_reason` where a row came too late to have any."""
    keyed = positions.withColumns({"bucket": F.pmod(F.hash("track"), F.lit(buckets)), "status": status()})
    schema = with_previous_schema(keyed.schema)

    def advance(key: tuple[Any, ...], batches: Iterable[pd.DataFrame], state: GroupState) -> Iterator[pd.DataFrame]:  # noqa: ARG001
        memory = decode_memory(state.get[0]) if state.exists else empty_memory()
        met = meet(pd.concat(list(batches), ignore_index=True), memory, forget_after_s, options.gap_us)
        state.update((encode_memory(met.memory),))
        yield met.positions.reindex(columns=schema.fieldNames())

    beside = keyed.groupBy("bucket").applyInPandasWithState(
        advance, schema, MEMORY_SCHEMA, "append", GroupStateTimeout.NoTimeout
    )
    derived = with_attributes(beside.drop("bucket", "status"), options)
    return derived.select(*positions.columns, *[name for name in derived.columns if name not in positions.columns])


def with_previous_schema(schema: T.StructType) -> T.StructType:
    """`schema` with the columns that `meet` adds."""
    before = [
        T.StructField("previous_time", T.TimestampType()),
        *[
            T.StructField(f"previous_{name}", T.DoubleType())
            for name in ("lon", "lat", "speed_kn", "heading_deg", "course_deg")
        ],
        T.StructField("status_since", T.TimestampType()),
        T.StructField("heard_since", T.TimestampType()),
        T.StructField("late_reason", T.StringType()),
    ]
    return T.StructType([*schema.fields, *before])
