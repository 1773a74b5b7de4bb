"""Bindings as rows: the table of SPAseq's results, in files and as JSON."""

from collections.abc import Iterable, Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pyarrow as pa

from foresail.patterns.spaseq.results import Binding
from foresail.pipeline.languages.runner import ResultTable

_TIME = pa.timestamp("us", tz="UTC")
SCHEMA = pa.schema(
    [
        pa.field("binding_id", pa.string(), nullable=False),
        pa.field("query", pa.string(), nullable=False),
        pa.field("time", _TIME, nullable=False),
        pa.field("bindings", pa.map_(pa.string(), pa.string()), nullable=False),
        pa.field("events", pa.list_(pa.struct([("gpm", pa.string()), ("stream", pa.string()), ("time", _TIME)]))),
    ]
)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def binding_table(found: Iterable[Binding]) -> pa.Table:
    """The results as a table, in the order of query, time and name."""
    rows = sorted(found, key=lambda one: (one.query, one.time_us, one.binding_id))
    return pa.table(
        {
            "binding_id": [one.binding_id for one in rows],
            "query": [one.query for one in rows],
            "time": pa.array([one.time_us for one in rows], pa.int64()).cast(_TIME),
            "bindings": pa.array([list(one.bindings.items()) for one in rows], SCHEMA.field("bindings").type),
            "events": pa.array(
                [[{"gpm": e.gpm, "stream": e.stream, "time": moment(e.time_us)} for e in one.events] for one in rows],
                SCHEMA.field("events").type,
            ),
        },
        schema=SCHEMA,
    )


def rows_of(table: pa.Table) -> Iterator[dict[str, Any]]:
    """Rows as objects of JSON."""
    for batch in table.to_batches(max_chunksize=65_536):
        for row in batch.to_pylist():
            events = [{**event, "time": time_text(event["time"])} for event in row["events"]]
            yield {**row, "time": time_text(row["time"]), "bindings": dict(row["bindings"]), "events": events}


def row_of(one: Binding) -> dict[str, Any]:
    """A single result as an object of JSON."""
    events = [{"gpm": e.gpm, "stream": e.stream, "time": time_text(moment(e.time_us))} for e in one.events]
    return {
        "binding_id": one.binding_id,
        "query": one.query,
        "time": time_text(moment(one.time_us)),
        "bindings": one.bindings,
        "events": events,
    }


def moment(time_us: int) -> datetime:
    """Microseconds as a moment."""
    return _EPOCH + timedelta(microseconds=time_us)


def time_text(time: datetime) -> str:
    """A moment as ISO 8601 with microseconds, as in all rows."""
    return f"{time.astimezone(UTC):%Y-%m-%dT%H:%M:%S.%f}Z"


RESULTS = ResultTable("bindings", "binding", "query", SCHEMA, rows_of)
