"""Messages of a stream as events of rules: read, judged, and sent to the buckets of the values that they carry."""

import json
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from foresail.patterns.tesla.values import BEYOND
from foresail.pipeline.languages.tesla.events import TIME, TYPE, EventTables, event_tables
from foresail.pipeline.local.files import TYPES, Reading, objects_table
from foresail.pipeline.local.frames import ArrowFrame
from foresail.pipeline.local.sorted_events import Named
from foresail.pipeline.stream.bucket.input_rows import EVENT, REJECTED_MESSAGE

EVERYWHERE = ""
"""The route of messages to rules without a key: all to one bucket."""
UNREAD = "unread"
"""The route of a message that carries no value to go by: it is only counted."""
LONGEST = 100_000
"""So many characters a message may have."""
DAY_US = 86_400_000_000
NAMED = Named()
ROUTED = pa.schema(
    [
        ("bucket", pa.int32()),
        ("kind", pa.int32()),
        ("route", pa.string()),
        ("first", pa.bool_()),
        ("time_us", pa.int64()),
        ("offset", pa.int64()),
        ("arrived_us", pa.int64()),
        ("payload", pa.string()),
    ]
)
ROUTED_DDL = (
    "bucket int, kind int, route string, first boolean, time_us long, offset long, arrived_us long, payload string"
)


@dataclass(frozen=True, slots=True)
class MessageForm:
    """What messages are expected to hold: the types of columns that conditions read, and whether `type` is asked."""

    columns: Mapping[str, str] = field(default_factory=dict)
    by_column: bool = True

    def read(self, rows: Sequence[dict[str, Any]]) -> EventTables:
        """Objects as one table of events; a column that none of them has is null."""
        types = {**self.columns, TYPE: "string"}
        table = objects_table(rows, Reading(time=TIME, types=types, mixed=True))
        if TIME not in table.column_names or pa.types.is_nested(table.schema.field(TIME).type):
            table = _with(table, TIME, pa.nulls(len(rows), pa.int64()))
        for name, kind in types.items():
            if name not in table.column_names or table.schema.field(name).type != TYPES[kind]:
                table = _with(table, name, pa.nulls(len(rows), TYPES[kind]))
        return event_tables([ArrowFrame(table)], NAMED, self.by_column, guess=True)


def _with(table: pa.Table, name: str, column: pa.Array) -> pa.Table:
    kept = table.drop_columns([name]) if name in table.column_names else table
    return kept.append_column(name, column)


def object_of(text: str) -> dict[str, Any] | None:
    """The object that a message is; None where it is none."""
    try:
        held = json.loads(text) if len(text) <= LONGEST else None
    except (ValueError, RecursionError):
        return None
    return held if isinstance(held, dict) else None


@dataclass(frozen=True, slots=True)
class Routing:
    """To which bucket a message goes: that of each value by which rules are keyed, or the first for the others."""

    form: MessageForm
    routes: tuple[str, ...]
    labels: tuple[int, ...]

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Batches of `raw`, `line` and `arrived` as rows for buckets."""
        count = 0
        for batch in batches:
            raw, line, arrived = (batch.column(name).to_pylist() for name in ("raw", "line", "arrived"))
            raw = [text or "" for text in raw]
            places = [count + n if place is None else place for n, place in enumerate(line)]
            count += len(raw)
            yield pa.RecordBatch.from_pylist(list(self.routed(raw, places, arrived)), schema=ROUTED)

    def routed(self, raw: Sequence[str], offsets: Sequence[int], arrived: Sequence[int]) -> Iterator[dict[str, Any]]:
        """The rows of some messages."""
        held = [object_of(text) for text in raw]
        places = [n for n, found in enumerate(held) if found is not None]
        objects = [found for found in held if found is not None]
        times, good = self._times(objects, [arrived[n] for n in places])
        at = dict(zip(places, range(len(places)), strict=True))
        for n, found in enumerate(held):
            row: dict[str, Any] = {"offset": offsets[n], "arrived_us": arrived[n], "time_us": 0, "first": True}
            if found is None or good[at[n]]:
                reason = "unreadable" if found is None else good[at[n]]
                said = json.dumps({"reason": reason, "raw": raw[n][:LONGEST]}, ensure_ascii=False)
                yield {**row, "bucket": self.labels[0], "kind": REJECTED_MESSAGE, "route": UNREAD, "payload": said}
                continue
            row |= {"kind": EVENT, "payload": raw[n], "time_us": int(times[at[n]])}
            for route, bucket in self._ways(found):
                yield {**row, "bucket": bucket, "route": route}
                row["first"] = False

    def _times(self, objects: Sequence[dict[str, Any]], arrived: Sequence[int]) -> tuple[NDArray[np.int64], list[str]]:
        """The time of each, and why one is no event, else nothing."""
        if not objects:
            return np.zeros(0, dtype=np.int64), []
        tables = self.form.read(objects)
        table = tables.tables[0]
        faults = ["no_time"] * len(objects)
        for row in table.rows:
            late = table.times[row] > arrived[row] + DAY_US
            faults[row] = "future_time" if late else ""
        if self.form.by_column:
            column = table.frame.column(TYPE)
            for row in np.flatnonzero(~np.isin(np.arange(len(objects)), table.rows)):
                faults[row] = "no_type" if column[int(row)].as_py() is None else "no_time"
        return table.times, faults

    def _ways(self, found: Mapping[str, Any]) -> Iterator[tuple[str, int]]:
        any_way = False
        for route in self.routes:
            value = found.get(route)
            if value is not None and (route == NAMED.track or self.form.columns.get(route) == "string"):
                value = value if isinstance(value, str) else json.dumps(value)
            spread = 0 if route == EVERYWHERE else spread_of(value)
            if spread is not None:
                any_way = True
                yield route, self.labels[spread % len(self.labels)]
        if not any_way:
            yield UNREAD, self.labels[0]


def spread_of(value: Any) -> int | None:
    """A number that equal values share; None for what equals nothing."""
    match value:
        case bool():
            said = f"b{value}"
        case int() | float() if abs(value) < BEYOND:
            said = f"n{float(value)!r}" if value else "n0"
        case str():
            said = f"t{value}"
        case list() | dict():
            said = f"t{json.dumps(value)}"
        case _:
            return None
    return zlib.crc32(said.encode("utf-8", "surrogatepass"))
