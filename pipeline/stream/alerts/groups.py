"""What alerts remember between micro-batches: a row per track, pattern and instance that has something under way."""

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from foresail.arrow_bytes import table_from_bytes, table_to_bytes
from foresail.pipeline.stream.alerts.kernel import IDLE, LONG_AGO, NONE, Limits, Machines

NAMES = pa.schema(
    [
        ("kind", pa.string()),
        ("pattern", pa.string()),
        ("pattern_version", pa.int32()),
        ("instance", pa.string()),
        ("track", pa.string()),
    ]
)
CONTENT = pa.schema(
    [
        ("lon", pa.float64()),
        ("lat", pa.float64()),
        ("reason", pa.string()),
        ("model_version", pa.string()),
        ("probability", pa.float64()),
        ("earliest_min", pa.float64()),
        ("latest_min", pa.float64()),
        ("arrived_us", pa.int64()),
    ]
)
"""What an alert shows of the row that held last."""
_KEPT = tuple(name for name in Machines._fields if name not in ("rule", "row"))
_SCHEMA = pa.schema([*NAMES, *((name, pa.int64()) for name in _KEPT), *CONTENT])
_FRESH = {"phase": IDLE, "below_index": NONE, "last": LONG_AGO, "told": LONG_AGO, "ended": LONG_AGO}
_BETWEEN = "\x1f"


@dataclass(frozen=True, slots=True, eq=False)
class AlertState:
    """The groups under way, and those whose cool-down is not over."""

    groups: pa.Table

    def __len__(self) -> int:
        return int(self.groups.num_rows)


def fresh_alert_state() -> AlertState:
    """The state before anything was seen."""
    return AlertState(_SCHEMA.empty_table())


def encode_alerts(state: AlertState) -> bytes:
    """`state` as bytes; nothing where there is nothing to remember."""
    if not len(state):
        return b""
    return table_to_bytes(state.groups, "lz4")


def decode_alerts(stored: bytes) -> AlertState:
    """What `encode_alerts` made bytes of."""
    if not stored:
        return fresh_alert_state()
    return AlertState(table_from_bytes(stored).cast(_SCHEMA))


@dataclass(frozen=True, slots=True, eq=False)
class Grouped:
    """The groups of the state and the new ones, and which of them each observation belongs to."""

    names: pa.Table
    machines: Machines
    content: pa.Table
    group: NDArray[np.int64]


def grouped(state: AlertState, seen: pa.Table) -> Grouped:
    """The groups of `state` followed by those that only `seen` (columns of NAMES) has, still without their rules."""
    known = _keys(state.groups)
    encoded = pa.chunked_array([known, _keys(seen)]).combine_chunks()
    if isinstance(encoded, pa.ChunkedArray):
        encoded = pa.concat_arrays(encoded.chunks)
    numbers = encoded.dictionary_encode().indices.to_numpy().astype(np.int64)
    group = numbers[len(known) :]
    count = int(numbers.max(initial=-1)) + 1
    # the keys of the state are all different: they keep their places, new groups follow in the order they are met
    _, first = np.unique(numbers, return_index=True)
    new = pa.array(first[len(known) :] - len(known))
    names = pa.concat_tables([state.groups.select(NAMES.names), seen.select(NAMES.names).take(new)])
    machines = _machines(state.groups, count)
    content = [state.groups.select(CONTENT.names), _nulls(count - len(known))]
    return Grouped(names, machines, pa.concat_tables(content), group)


def remembered(after: Grouped, content: pa.Table, limits: Limits, now: int) -> AlertState:
    """What is worth remembering of the groups; `content` is what each of them shows."""
    machines = after.machines
    kept = np.flatnonzero((machines.phase != IDLE) | _cooling(machines, limits, now))
    columns = {name: after.names.column(name) for name in NAMES.names}
    columns |= {name: pa.array(getattr(machines, name)) for name in _KEPT}
    columns |= {name: content.column(name) for name in CONTENT.names}
    return AlertState(pa.table(columns, schema=_SCHEMA).take(pa.array(kept)))


def _cooling(machines: Machines, limits: Limits, now: int) -> NDArray[np.bool_]:
    ended = machines.ended != LONG_AGO
    cooling: NDArray[np.bool_] = ended & (now - np.where(ended, machines.ended, 0) < limits.cool_down[machines.rule])
    return cooling


def _keys(table: pa.Table) -> pa.Array:
    parts = [pc.fill_null(table.column(name).cast(pa.string()), "") for name in NAMES.names]
    keys = pc.binary_join_element_wise(*parts, _BETWEEN)
    return keys.combine_chunks() if isinstance(keys, pa.ChunkedArray) else keys


def _machines(groups: pa.Table, count: int) -> Machines:
    arrays = {name: np.full(count, _FRESH.get(name, 0), dtype=np.int64) for name in Machines._fields}
    for name in _KEPT:
        arrays[name][: groups.num_rows] = groups.column(name).to_numpy()
    arrays["row"][:] = NONE
    arrays["rule"][:] = NONE
    return Machines(**arrays)


def _nulls(rows: int) -> pa.Table:
    return pa.table([pa.nulls(rows, field.type) for field in CONTENT], schema=CONTENT)
