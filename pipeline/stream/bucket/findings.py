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

from foresail.models.forecasts import Forecasts
from foresail.models.model import Model
from foresail.patterns.recognition.events import EventBatch
from foresail.pipeline.results.forecast_table import FORECAST_SCHEMA, ForecastColumns, forecast_columns
from foresail.pipeline.results.match_batch import FOUND, FOUND_DDL

_DDL = {
    pa.string(): "string",
    pa.int32(): "int",
    pa.float32(): "float",
    pa.float64(): "double",
    pa.bool_(): "boolean",
}
MATCH, FORECAST, ALERT, LATE, REJECTED = "match", "forecast", "alert", "late", "rejected"
POSITION = "position"
"""Where a track is: one row a track and micro-batch."""
COMPOSITE = "composite"
ACK, COUNTS, OUTCOMES, STATS = "ack", "counts", "outcomes", "stats"
OUTPUT_KINDS = (MATCH, FORECAST, ALERT, LATE, REJECTED, POSITION, COMPOSITE)
"""What leaves the line; the other kinds are for the driver."""

ARRIVED = "arrived_us"
FORECAST_KIND = "forecast_kind"
"""What is `kind` in a forecast: here that is what tells rows apart."""
FORECAST_FIELDS = [
    field for field in FORECAST_SCHEMA.remove(FORECAST_SCHEMA.get_field_index("kind")) if field.name not in FOUND.names
]
"""What a forecast says beside what a match does too."""
FINDING_DDL = (
    f"kind string, {FOUND_DDL}, {FORECAST_KIND} string, "
    + ", ".join(f"{field.name} {_DDL[field.type]}" for field in FORECAST_FIELDS)
    + ", arrived_us long, payload string, content binary"
)
_SCHEMA = pa.schema(
    [
        ("kind", pa.string()),
        *FOUND,
        (FORECAST_KIND, pa.string()),
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
    kind = None if pa.types.is_floating(column.type) else object
    return pd.Series(column.to_numpy(), dtype=kind)


def match_rows(found: pa.RecordBatch, arrived_us: NDArray[np.int64]) -> pa.Table:
    """Matches as rows."""
    table = pa.Table.from_batches([found])
    return _of_kind(table, MATCH).append_column("arrived_us", pa.array(arrived_us))


def forecast_rows(
    forecasts: Forecasts,
    columns: ForecastColumns,
    models: Sequence[Model],
    features: Sequence[str],
    events: EventBatch,
) -> pa.Table:
    """Forecasts after `events` as rows."""
    said = forecast_columns(forecasts, columns, features, events.places)
    thresholds = np.array([model.settings.threshold for model in models], dtype=np.float64)
    columns_of_rows = {
        **said,
        FORECAST_KIND: said["kind"],
        "track": events.keys.take(pa.array(events.keys_at(forecasts.event))),
        "time_us": pa.array(events.times[forecasts.event]),
        ARRIVED: pa.array(events.columns[ARRIVED][forecasts.event]),
        # for alerts alone: it does not leave the bucket
        "threshold": pa.array(thresholds[forecasts.model]),
    }
    del columns_of_rows["kind"]
    return _of_kind(pa.table(columns_of_rows), FORECAST)


def payload_rows(kind: str, payloads: Sequence[dict[str, Any] | str]) -> pa.Table:
    """A row for each payload, as JSON."""
    texts = [text if isinstance(text, str) else json.dumps(text, default=str) for text in payloads]
    return _of_kind(pa.table({"payload": pa.array(texts, pa.string())}), kind)


def position_rows(last: pd.DataFrame, shown: Sequence[str]) -> pa.Table:
    """The last event of each track as a row of JSON: track, time, place, and what is `shown` of it."""
    there = [name for name in dict.fromkeys(("lon", "lat", *shown)) if name in last.columns and name != "track"]
    times = np.datetime_as_string(last["time_us"].to_numpy(np.int64).view("datetime64[us]"))
    said = pd.DataFrame({"track": last["track"].to_numpy(), "time": [f"{time}+00:00" for time in times]})
    said = said.assign(**{name: last[name].to_numpy() for name in there})
    lines = said.to_json(orient="records", lines=True, double_precision=6).splitlines()
    tracks = pa.array(said["track"].tolist(), pa.string())
    return _of_kind(pa.table({"track": tracks, "payload": pa.array(lines, pa.string())}), POSITION)


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
