"""Composite events as rows: the table of TESLA's results, in files and as JSON."""

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from foresail.patterns.tesla.machine import Composites
from foresail.patterns.tesla.plan import RulePlan
from foresail.patterns.tesla.resolved import Resolved
from foresail.patterns.tesla.values import BEYOND, FIRST_TEXT, TEXT_UNIT, TRUE, Dictionary
from foresail.pipeline.languages.runner import ResultTable
from foresail.pipeline.languages.tesla.events import NO_PLACE
from foresail.pipeline.results.ids import ID_DIGITS

_TIME = pa.timestamp("us", tz="UTC")
EVENTS = pa.map_(pa.string(), pa.struct([("time", _TIME), ("position", pa.int64())]))
_DECLARED = b"types"
"""The metadata of the column `attributes`: by type its attributes with their declared types."""
_STORED = {"string": pa.string(), "bool": pa.bool_()}


def schema_of(plans: Sequence[RulePlan]) -> pa.Schema:
    """The columns of the composites of some rule sets; an attribute has one column, whichever types have it."""
    kinds: dict[str, set[pa.DataType]] = {}
    declared: dict[str, list[tuple[str, str]]] = {}
    for plan in plans:
        for rule in plan.resolved:
            declared[rule.type] = list(rule.attributes)
            for name, kind in rule.attributes:
                kinds.setdefault(name, set()).add(_STORED.get(kind, pa.float64()))
    fields = [(name, found.pop() if len(found) == 1 else pa.string()) for name, found in kinds.items()]
    attributes = pa.field(
        "attributes", pa.struct(fields or [("none", pa.bool_())]), metadata={_DECLARED: json.dumps(declared)}
    )
    return pa.schema(
        [
            pa.field("composite_id", pa.string(), nullable=False),
            pa.field("rule", pa.string(), nullable=False),
            pa.field("type", pa.string(), nullable=False),
            pa.field("time", _TIME, nullable=False),
            attributes,
            pa.field("key", pa.string()),
            pa.field("events", EVENTS),
        ]
    )


def composite_table(
    plan: RulePlan, found: Composites, dictionary: Dictionary, schema: pa.Schema | None = None
) -> pa.Table:
    """Composites as a table, in the order in which they came about."""
    wanted = schema or schema_of([plan])
    texts = pa.array([*dictionary.texts, None], pa.string())
    digests = np.array([_digest(text) for text in dictionary.texts] or [0], dtype=np.int64)
    parts = []
    places = []
    for number in np.unique(found.rule):
        rows = np.flatnonzero(found.rule == number)
        places.append(rows)
        parts.append(_of_rule(plan, int(number), found, rows, texts, digests, wanted))
    if not parts:
        return wanted.empty_table()
    order = np.argsort(np.concatenate(places), kind="stable")
    return pa.concat_tables(parts).take(pa.array(order))


def _of_rule(
    plan: RulePlan,
    number: int,
    found: Composites,
    rows: NDArray[np.int64],
    texts: pa.Array,
    digests: NDArray[np.int64],
    schema: pa.Schema,
) -> pa.Table:
    rule = plan.resolved[number]
    values, times = found.values[rows], found.times[rows, : len(rule.names)]
    own = {name: values[:, n] for n, (name, _) in enumerate(rule.attributes)}
    struct = schema.field("attributes").type
    fields = [_stored(own.get(field.name), field.type, texts, len(rows)) for field in struct]
    keyed = plan.keys[number] is not None
    key = _as_texts(values[:, len(rule.attributes)], texts) if keyed else pa.nulls(len(rows), pa.string())
    kept = values[:, : len(rule.attributes) + keyed]
    columns = [
        pa.array(_ids(plan.name, rule, times, _stable(kept, digests)), pa.string()),
        pa.array([rule.name] * len(rows), pa.string()),
        pa.array([rule.type] * len(rows), pa.string()),
        pa.array(times[:, 0]).cast(_TIME),
        pa.StructArray.from_arrays(fields, fields=list(struct)),
        key,
        _events(rule, times, found.sources[rows, : len(rule.names)]),
    ]
    return pa.table(columns, schema=schema)


def _events(rule: Resolved, times: NDArray[np.int64], sources: NDArray[np.int64]) -> pa.Array:
    """By the name that the rule gives an event its time, and its place in the input where it is of the input."""
    count, slots = times.shape
    names = pa.array(rule.names, pa.string()).take(pa.array(np.tile(np.arange(slots), count)))
    flat = sources.ravel()
    positions = pa.array(flat, mask=(flat < 0) | (flat >= NO_PLACE))
    inner = pa.StructArray.from_arrays([pa.array(times.ravel()).cast(_TIME), positions], fields=list(EVENTS.item_type))
    return pa.MapArray.from_arrays(pa.array(np.arange(0, count * slots + 1, slots), pa.int32()), names, inner)


def _stored(values: NDArray[np.float64] | None, stored: pa.DataType, texts: pa.Array, count: int) -> pa.Array:
    """Values in the column of their attribute, which is of texts where types differ in it."""
    if values is None:
        return pa.nulls(count, stored)
    if pa.types.is_floating(stored):
        return pa.array(values, mask=~(np.abs(values) < BEYOND))
    if pa.types.is_boolean(stored):
        return pa.array(values == TRUE, mask=~(values <= -BEYOND))
    return _as_texts(values, texts)


def _as_texts(values: NDArray[np.float64], texts: pa.Array) -> pa.Array:
    """Values as texts: a number as it is written, null as null."""
    is_text = values >= BEYOND
    codes = np.where(is_text, np.where(is_text, values, 0.0) / TEXT_UNIT - FIRST_TEXT, len(texts) - 1)
    found = texts.take(pa.array(codes.astype(np.int64)))
    others = np.flatnonzero(~is_text & ~np.isnan(values))
    if not len(others):
        return found
    said = found.to_pylist()
    for row in others:
        said[row] = _said(float(values[row]))
    return pa.array(said, pa.string())


def _said(value: float) -> str:
    if value <= -BEYOND:
        return "true" if value == TRUE else "false"
    return str(int(value)) if value.is_integer() else repr(value)


def _digest(text: str) -> int:
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "little", signed=True)


def _stable(values: NDArray[np.float64], digests: NDArray[np.int64]) -> NDArray[np.int64]:
    """Values as numbers that do not depend on what other texts were met."""
    is_text = values >= BEYOND
    codes = np.where(is_text, np.where(is_text, values, 0.0) / TEXT_UNIT - FIRST_TEXT, 0).astype(np.int64)
    plain = np.where(np.isnan(values), np.nan, values + 0.0).view(np.int64)
    stable: NDArray[np.int64] = np.where(is_text, digests[codes], plain)
    return stable


def _ids(entry: str, rule: Resolved, times: NDArray[np.int64], values: NDArray[np.int64]) -> list[str]:
    """A name for each composite, of its rule, its events' times and its values; equal ones are counted."""
    start = f"{entry}\0{rule.name}\0{rule.type}\0".encode()
    whole = np.ascontiguousarray(np.hstack([times, values]))
    seen: dict[bytes, int] = {}
    found = []
    for row in whole:
        held = row.tobytes()
        count = seen[held] = seen.get(held, -1) + 1
        found.append(hashlib.sha256(start + held + count.to_bytes(4, "little")).hexdigest()[:ID_DIGITS])
    return found


def rows_of(table: pa.Table) -> Iterator[dict[str, Any]]:
    """Rows as objects of JSON; a composite has just the attributes of its type, null where they are null."""
    metadata = table.schema.field("attributes").metadata or {}
    declared: dict[str, Sequence[Sequence[str]]] = json.loads(metadata.get(_DECLARED, b"{}"))
    for batch in table.to_batches(max_chunksize=65_536):
        for row in batch.to_pylist():
            own = declared.get(row["type"], [(name, "double") for name in row["attributes"]])
            attributes = {name: _plain(row["attributes"].get(name), kind) for name, kind in own}
            events = {name: {**held, "time": time_text(held["time"])} for name, held in row["events"]}
            yield {**row, "time": time_text(row["time"]), "attributes": attributes, "events": events}


def _plain(value: Any, kind: str) -> Any:
    if isinstance(value, str) and kind != "string":
        try:
            value = json.loads(value)
        except ValueError:
            return value
    return int(value) if kind == "int" and isinstance(value, float) and value.is_integer() else value


def time_text(time: datetime) -> str:
    """A moment as ISO 8601 with microseconds, as in all rows."""
    return f"{time.astimezone(UTC):%Y-%m-%dT%H:%M:%S.%f}Z"


def joined(tables: Sequence[pa.Table], schema: pa.Schema) -> pa.Table:
    """The composites of several rule sets, by time."""
    table = pa.concat_tables(tables) if tables else schema.empty_table()
    if len(tables) > 1:
        table = table.take(pc.sort_indices(table, sort_keys=[("time", "ascending")]))
    return table


def limit_notes(limits: Mapping[str, int]) -> list[str]:
    """What was left out because of a limit."""
    return [f"limit reached, {name}: {number:,} left out" for name, number in limits.items()]


RESULTS = ResultTable("composites", "composite", "rule", schema_of(()), rows_of)
