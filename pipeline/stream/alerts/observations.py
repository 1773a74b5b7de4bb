"""Rows of matches and of forecasts as observations: that a pattern holds, is below its threshold, or is over.

Alerts as the JSON that leaves the line; docs/alert.schema.json describes it.
"""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from math import isfinite
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from foresail.pipeline.stream.alerts.groups import NAMES
from foresail.pipeline.stream.alerts.kernel import BELOW, ENDS, HOLDS
from foresail.pipeline.stream.alerts.rules import FORECAST, MATCH, AlertRules

MATCH_COLUMNS = (
    *("pattern", "pattern_version", "instance", "track", "time_us", "index"),
    *("start_time_us", "first_start_time_us", "status", "id_time_us"),
)
"""What is needed of a match; `lon`, `lat` and the attributes of `attributes_told` may be there."""
FORECAST_COLUMNS = (
    *(
        "pattern",
        "pattern_version",
        "instance",
        "track",
        "time_us",
        "index",
        "model_version",
        "probability",
        "positive",
    ),
)
"""What is needed of a forecast; `threshold`, `chain_state`, `earliest_s`, `latest_s`, `lon` and `lat` may be there."""
ENDED = ("closed", "timed_out", "retracted")


@dataclass(frozen=True, slots=True, eq=False)
class ObservedRows:
    """Observations as columns, matches first; `names` has the columns of NAMES."""

    names: pa.Table
    says: NDArray[np.int64]
    time: NDArray[np.int64]
    index: NDArray[np.int64]
    began: NDArray[np.int64]
    first_began: NDArray[np.int64]
    named: NDArray[np.int64]


def with_rules(rows: pa.Table | None, rules: AlertRules, columns: tuple[str, ...]) -> pa.Table | None:
    """The rows of patterns that have a rule; None where there are none."""
    if rows is None or not rows.num_rows:
        return None
    missing = [name for name in columns if name not in rows.column_names]
    assert not missing, f"rows for alerts lack the column {missing}"
    known = rows.filter(pc.is_in(rows.column("pattern"), pa.array(list(rules.numbers), pa.string())))
    return known if known.num_rows else None


def observed_matches(found: pa.Table) -> ObservedRows:
    """Matches: detections and episodes that go on hold, episodes that ended are over."""
    over = pc.is_in(found.column("status"), pa.array(ENDED)).to_numpy(zero_copy_only=False).astype(np.bool_)
    time = _longs(found, "time_us")
    single = pc.equal(found.column("status"), "detected").to_numpy(zero_copy_only=False).astype(np.bool_)
    return ObservedRows(
        names=_named(found, MATCH),
        says=np.where(over, ENDS, HOLDS).astype(np.int64),
        time=time,
        index=_longs(found, "index"),
        began=_longs(found, "start_time_us"),
        first_began=_longs(found, "first_start_time_us"),
        named=np.where(single, time, _longs(found, "id_time_us")),
    )


def observed_forecasts(forecasts: pa.Table, clear_ratio: float) -> ObservedRows:
    """Forecasts: positive ones hold, those far below the threshold end an alert, others are below it."""
    positive = pc.fill_null(forecasts.column("positive"), False).to_numpy(zero_copy_only=False).astype(np.bool_)
    says = np.where(positive, HOLDS, np.where(_far_below(forecasts, clear_ratio), ENDS, BELOW)).astype(np.int64)
    time = _longs(forecasts, "time_us")
    return ObservedRows(
        names=_named(forecasts, FORECAST),
        says=says,
        time=time,
        index=_longs(forecasts, "index"),
        began=time,
        first_began=time,
        named=time,
    )


def joined(parts: list[ObservedRows]) -> ObservedRows:
    """All observations of `parts`, one part after the other."""
    arrays = {
        name: np.concatenate([getattr(part, name) for part in parts])
        for name in ObservedRows.__dataclass_fields__
        if name != "names"
    }
    return ObservedRows(names=pa.concat_tables([part.names for part in parts]), **arrays)


def _far_below(forecasts: pa.Table, ratio: float) -> NDArray[np.bool_]:
    if "threshold" not in forecasts.column_names:
        return np.zeros(forecasts.num_rows, dtype=np.bool_)
    limit = forecasts.column("threshold").to_numpy() * ratio
    # where no interval reaches the threshold there is no probability: nothing is expected, so an alert may end
    below: NDArray[np.bool_] = pc.fill_null(forecasts.column("probability"), 0.0).to_numpy() < limit
    return below


def _named(rows: pa.Table, kind: str) -> pa.Table:
    columns = [pa.array([kind], pa.string()).take(pa.array(np.zeros(rows.num_rows, dtype=np.int32)))]
    columns += [rows.column(field.name).cast(field.type) for field in list(NAMES)[1:]]
    return pa.table(columns, schema=NAMES)


def _longs(rows: pa.Table, name: str) -> NDArray[np.int64]:
    return np.asarray(rows.column(name).to_numpy(), dtype=np.int64)


_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_ORDER = (
    *("alert_id", "change", "status", "kind", "severity", "pattern", "pattern_version", "model_version", "instance"),
    *("track", "time", "start_time", "first_start_time"),
    *("lon", "lat", "reason", "says", "link", "closed_because", "probability"),
    *("earliest_min", "latest_min", "arrived"),
)


def alert_payloads(alerts: pa.Table) -> list[dict[str, Any]]:
    """A JSON object for each alert; alerts are few, so that a row may be an object here."""
    return [alert_payload(row) for row in alerts.to_pylist()]


def alert_payload(row: dict[str, Any]) -> dict[str, Any]:
    """One alert as a JSON object: times in ISO 8601, unknown numbers as null."""
    arrived = iso(row["arrived_us"]) if row["arrived_us"] else None
    times = {name: iso(row[f"{name}_us"]) for name in ("time", "start_time", "first_start_time")}
    held = {**row, **times, "arrived": arrived}
    return {name: _plain(held[name]) for name in _ORDER}


def iso(time_us: int) -> str:
    """A time as text, in UTC with milliseconds."""
    return (_EPOCH + timedelta(microseconds=time_us)).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _plain(value: Any) -> Any:
    if not isinstance(value, float):
        return value
    return round(value, 6) if isfinite(value) else None
