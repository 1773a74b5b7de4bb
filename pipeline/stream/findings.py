"""The rows that a bucket sends back to Spark: one table for everything, told apart by `kind`.

One table, because a query has one output; Spark's Kafka writer sends each row to the topic of its kind.
"""

import json
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
from numpy.typing import NDArray

from models.forecasts import Forecasts
from models.model import Model
from pipeline.stages.found import FOUND, FOUND_DDL

MATCH, FORECAST, ALERT, LATE, REJECTED = "match", "forecast", "alert", "late", "rejected"
ACK, COUNTS, OUTCOMES, STATS = "ack", "counts", "outcomes", "stats"
OUTPUT_KINDS = (MATCH, FORECAST, ALERT, LATE, REJECTED)
"""What leaves the line; the other kinds are for the driver."""

FORECAST_FIELDS = [
    ("model_version", pa.string()),
    ("forecast_kind", pa.string()),
    ("state", pa.int32()),
    ("probability", pa.float64()),
    ("positive", pa.bool_()),
    ("earliest", pa.int32()),
    ("latest", pa.int32()),
    ("most_likely", pa.int32()),
]
FINDING_DDL = (
    f"kind string, {FOUND_DDL}, model_version string, forecast_kind string, state int, probability double, "
    "positive boolean, earliest int, latest int, most_likely int, arrived_us long, payload string, content binary"
)
_SCHEMA = pa.schema(
    [
        ("kind", pa.string()),
        *FOUND,
        *FORECAST_FIELDS,
        ("arrived_us", pa.int64()),
        ("payload", pa.string()),
        ("content", pa.binary()),
    ]
)
_NULLABLE = {
    pa.int64(): pd.Int64Dtype(),
    pa.int32(): pd.Int32Dtype(),
    pa.bool_(): pd.BooleanDtype(),
}


def frame(tables: Sequence[pa.Table]) -> pd.DataFrame:
    """All rows as the data frame that Spark asks for; whole numbers keep their nulls."""
    whole = pa.concat_tables([completed(table) for table in tables]) if tables else _SCHEMA.empty_table()
    return pd.DataFrame({name: _series(whole.column(name)) for name in whole.column_names})


def _series(column: pa.ChunkedArray) -> "pd.Series[Any]":
    """A column whose whole numbers keep their nulls, and whose texts are plain objects: Spark takes no Arrow text."""
    if column.type in _NULLABLE:
        numbers: pd.Series[Any] = column.to_pandas(types_mapper=_NULLABLE.get)
        return numbers
    kind = object if column.type != pa.float64() else None
    return pd.Series(column.to_numpy(), dtype=kind)


def match_rows(found: pa.RecordBatch, arrived_us: NDArray[np.int64]) -> pa.Table:
    """Matches as rows."""
    table = pa.Table.from_batches([found])
    return _of_kind(table, MATCH).append_column("arrived_us", pa.array(arrived_us))


def forecast_rows(
    forecasts: Forecasts,
    models: Sequence[Model],
    track: pa.Array,
    features: Sequence[str],
    time_us: NDArray[np.int64],
    arrived_us: NDArray[np.int64],
) -> pa.Table:
    """Forecasts as rows; `track`, `time_us` and `arrived_us` are those of the events of the batch."""

    def per_model(values: list[Any], kind: pa.DataType) -> pa.Array:
        return pa.array(values, kind).take(pa.array(forecasts.model))

    def some(values: NDArray[np.int32]) -> pa.Array:
        return pa.array(values, mask=values == 0)

    columns = {
        "pattern": per_model([m.pattern for m in models], pa.string()),
        "pattern_version": per_model([m.header.identity.version for m in models], pa.int32()),
        "instance": pa.array(list(features), pa.string()).take(pa.array(forecasts.feature, mask=forecasts.feature < 0)),
        "track": track.take(pa.array(forecasts.event)),
        "time_us": pa.array(time_us[forecasts.event]),
        "index": pa.array(forecasts.index),
        "model_version": per_model([m.version for m in models], pa.string()),
        "forecast_kind": per_model([m.settings.kind for m in models], pa.string()),
        "state": pa.array(forecasts.state),
        "probability": pa.array(forecasts.probability, mask=np.isnan(forecasts.probability)),
        "positive": pa.array(forecasts.positive.astype(np.bool_)),
        "earliest": some(forecasts.earliest),
        "latest": some(forecasts.latest),
        "most_likely": some(forecasts.most_likely),
        "arrived_us": pa.array(arrived_us[forecasts.event]),
        # for alerts alone: these do not leave the bucket
        "chain": pa.array(forecasts.chain),
        "threshold": per_model([m.settings.threshold for m in models], pa.float64()),
        "earliest_s": pa.array(forecasts.earliest_s),
        "latest_s": pa.array(forecasts.latest_s),
    }
    return _of_kind(pa.table(columns), FORECAST)


def told_rows(kind: str, payloads: Sequence[dict[str, Any] | str]) -> pa.Table:
    """A row for each payload, as JSON."""
    texts = [text if isinstance(text, str) else json.dumps(text, default=str) for text in payloads]
    return _of_kind(pa.table({"payload": pa.array(texts, pa.string())}), kind)


def content_rows(kind: str, contents: Sequence[bytes], payloads: Sequence[str]) -> pa.Table:
    """A row for each piece of binary content, and what it is."""
    columns = {"payload": pa.array(payloads, pa.string()), "content": pa.array(contents, pa.binary())}
    return _of_kind(pa.table(columns), kind)


def _of_kind(table: pa.Table, kind: str) -> pa.Table:
    return table.append_column("kind", pa.array([kind] * table.num_rows, pa.string()))


def completed(table: pa.Table) -> pa.Table:
    """`table` with every column that a finding may have."""
    columns = [
        table.column(field.name).cast(field.type)
        if field.name in table.column_names
        else pa.nulls(table.num_rows, field.type)
        for field in _SCHEMA
    ]
    return pa.table(columns, schema=_SCHEMA)
