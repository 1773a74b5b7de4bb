"""From matches and forecasts of a micro-batch to alerts: once per bucket and micro-batch, whole columns at a time."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from foresail.models.model import Model
from foresail.patterns.compiler import CompiledPattern
from foresail.pipeline.stream.alerts.groups import CONTENT, NAMES, AlertState, Grouped, grouped, remembered
from foresail.pipeline.stream.alerts.kernel import LONG_AGO, NONE, OPEN, AlertChanges, Observations, alert_kernel
from foresail.pipeline.stream.alerts.observations import (
    FORECAST_COLUMNS,
    MATCH_COLUMNS,
    ObservedRows,
    joined,
    observed_forecasts,
    observed_matches,
    with_rules,
)
from foresail.pipeline.stream.alerts.reasons import forecast_reasons, match_reasons
from foresail.pipeline.stream.alerts.rules import KINDS, AlertRules

STATUS = ("opened", "updated", "closed")
WHY_CLOSED = ("ended", "cleared", "silent")
ID_DIGITS = 32
ALERT = pa.schema(
    [
        ("alert_id", pa.string()),
        ("change", pa.int32()),
        ("status", pa.string()),
        ("severity", pa.string()),
        *NAMES,
        ("time_us", pa.int64()),
        ("start_time_us", pa.int64()),
        ("first_start_time_us", pa.int64()),
        ("closed_because", pa.string()),
        *CONTENT,
        ("says", pa.string()),
        ("link", pa.string()),
    ]
)
"""An alert as columns; `payloads` makes of it what docs/alert.schema.json describes."""


@dataclass(frozen=True, slots=True, eq=False)
class AlertMaker:
    """The rules of a line and what its reasons are made of."""

    rules: AlertRules
    patterns: Mapping[str, CompiledPattern]
    models: Mapping[str, Model]
    """By model version."""

    def advance(
        self, state: AlertState, found: pa.Table | None, forecasts: pa.Table | None, now_us: int = LONG_AGO
    ) -> tuple[pa.Table, AlertState]:
        """The alerts that these rows and the event-time clock `now_us` open, update or close; and the state after."""
        found = with_rules(found, self.rules, MATCH_COLUMNS)
        forecasts = with_rules(forecasts, self.rules, FORECAST_COLUMNS)
        if found is None and forecasts is None and not len(state):
            return ALERT.empty_table(), state
        state = self._of_known_patterns(state)
        seen = self._seen(found, forecasts)
        groups = self._with_rules(grouped(state, seen.names))
        order = np.lexsort((seen.time, groups.group))
        changes = _followed(self.rules, groups, seen, order, now_us)
        rows = (
            np.where(groups.machines.row == NONE, NONE, order[groups.machines.row]) if len(order) else _no_rows(groups)
        )
        shown = _Shown(self, found, forecasts, groups.content)
        alerts = self._alerts(changes, groups, shown.at(changes.group, changes.row))
        kept = np.where(groups.machines.phase == OPEN, rows, NONE)
        content = shown.at(np.arange(len(kept)), kept)
        return alerts, remembered(groups, content, self.rules.limits, now_us)

    def _of_known_patterns(self, state: AlertState) -> AlertState:
        names = pa.array(list(self.rules.numbers), pa.string())
        return AlertState(state.groups.filter(pa.compute.is_in(state.groups.column("pattern"), names)))

    def _seen(self, found: pa.Table | None, forecasts: pa.Table | None) -> ObservedRows:
        parts = []
        if found is not None:
            parts.append(observed_matches(found))
        if forecasts is not None:
            parts.append(observed_forecasts(forecasts, self.rules.clear_ratio))
        nothing = np.empty(0, dtype=np.int64)
        return joined(parts) if parts else ObservedRows(NAMES.empty_table(), *([nothing] * 6))

    def _with_rules(self, groups: Grouped) -> Grouped:
        """Every group with its rule."""
        patterns = pa.array([rule.name for rule in self.rules.patterns], pa.string())
        pattern = pa.compute.index_in(groups.names.column("pattern"), patterns).to_numpy().astype(np.int64)
        kind = pa.compute.index_in(groups.names.column("kind"), pa.array(KINDS)).to_numpy().astype(np.int64)
        return replace(groups, machines=groups.machines._replace(rule=pattern * len(KINDS) + kind))

    def _alerts(self, changes: AlertChanges, groups: Grouped, content: pa.Table) -> pa.Table:
        names = groups.names.take(pa.array(changes.group))
        pattern = pa.array(groups.machines.rule[changes.group] // len(KINDS))
        about = self.rules.patterns
        columns = {
            "alert_id": _ids(names, changes.named),
            "change": pa.array(changes.change, pa.int32()),
            "status": pa.array(STATUS).take(pa.array(changes.status)),
            "severity": pa.array([rule.severity for rule in about], pa.string()).take(pattern),
            **{name: names.column(name) for name in NAMES.names},
            "time_us": pa.array(changes.time),
            "start_time_us": pa.array(changes.began),
            "first_start_time_us": pa.array(changes.first_began),
            "closed_because": pa.array(WHY_CLOSED).take(pa.array(changes.why, mask=changes.why == NONE)),
            **{name: content.column(name) for name in CONTENT.names},
            "says": pa.array([rule.says for rule in about], pa.string()).take(pattern),
            "link": pa.array([rule.link for rule in about], pa.string()).take(pattern),
        }
        return pa.table(columns, schema=ALERT)


@dataclass(frozen=True, slots=True, eq=False)
class _Shown:
    """What alerts show: of a row of this micro-batch, or what was remembered of the group."""

    maker: AlertMaker
    found: pa.Table | None
    forecasts: pa.Table | None
    remembered: pa.Table

    def at(self, group: NDArray[np.int64], row: NDArray[np.int64]) -> pa.Table:
        """The content for each group: of the observation `row`, or as remembered where that is NONE."""
        matches = 0 if self.found is None else self.found.num_rows
        rows = np.unique(row[row != NONE])
        parts = [self.remembered]
        if self.found is not None:
            parts.append(match_content(self.found.take(pa.array(rows[rows < matches])), self.maker))
        if self.forecasts is not None:
            chosen = self.forecasts.take(pa.array(rows[rows >= matches] - matches))
            parts.append(forecast_content(chosen, self.maker))
        place = np.where(row == NONE, group, self.remembered.num_rows + np.searchsorted(rows, row))
        return pa.concat_tables(parts).take(pa.array(place))


def match_content(found: pa.Table, maker: AlertMaker) -> pa.Table:
    """What alerts show of these matches."""
    reasons = match_reasons(found, maker.patterns, {rule.name: rule.says for rule in maker.rules.patterns})
    return _content(found, {"reason": pa.array(reasons, pa.string())})


def forecast_content(forecasts: pa.Table, maker: AlertMaker) -> pa.Table:
    """What alerts show of these forecasts."""
    minutes = {
        f"{end}_min": pa.array(forecasts.column(f"{end}_s").to_numpy() / 60.0, pa.float64(), from_pandas=True)
        for end in ("earliest", "latest")
        if f"{end}_s" in forecasts.column_names
    }
    return _content(forecasts, {"reason": pa.array(forecast_reasons(forecasts, maker.models), pa.string()), **minutes})


def _content(rows: pa.Table, made: Mapping[str, pa.Array]) -> pa.Table:
    def column(field: pa.Field) -> pa.Array | pa.ChunkedArray:
        if field.name in made:
            return made[field.name]
        if field.name in rows.column_names:
            return rows.column(field.name).cast(field.type)
        return pa.nulls(rows.num_rows, field.type)

    return pa.table([column(field) for field in CONTENT], schema=CONTENT)


def _followed(
    rules: AlertRules, groups: Grouped, seen: ObservedRows, order: NDArray[np.intp], now_us: int
) -> AlertChanges:
    """What the kernel tells; `row` counts the rows as they came."""
    room = 2 * len(order) + len(groups.machines.rule)
    changes = AlertChanges(*(np.empty(room, dtype=np.int64) for _ in AlertChanges._fields))
    columns = (groups.group, seen.says, seen.time, seen.index, seen.began, seen.first_began, seen.named)
    written = alert_kernel()(
        rules.limits, groups.machines, Observations(*(column[order] for column in columns)), changes, now_us
    )
    changes = AlertChanges(*(column[:written] for column in changes))
    if len(order):
        changes = changes._replace(row=np.where(changes.row == NONE, NONE, order[changes.row]))
    return changes


def _no_rows(groups: Grouped) -> NDArray[np.int64]:
    return np.full(len(groups.machines.row), NONE, dtype=np.int64)


def _ids(names: pa.Table, first_us: NDArray[np.int64]) -> pa.Array:
    """A stable name for each alert: what it is about, and when it first held."""
    parts = [names.column(name).to_pylist() for name in NAMES.names]
    texts = (
        "\x1f".join("" if part is None else str(part) for part in row) for row in zip(*parts, first_us, strict=True)
    )
    return pa.array([hashlib.sha256(text.encode()).hexdigest()[:ID_DIGITS] for text in texts], pa.string())
