"""The alerts of a bucket: what its micro-batch found, with the values behind it, shown to the rules once."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from foresail.models.model import Emission
from foresail.patterns.catalog.entry import PatternEntry
from foresail.pipeline.settings import AlertSettings
from foresail.pipeline.stream.alerts import (
    AlertMaker,
    AlertRules,
    alert_payloads,
    attributes_in_reasons,
    decode_alerts,
    encode_alerts,
)
from foresail.pipeline.stream.alerts.advance import STATUS
from foresail.pipeline.stream.alerts.kernel import OPENED
from foresail.pipeline.stream.bucket.findings import ALERT, FORECAST, MATCH, payload_rows
from foresail.pipeline.stream.bucket.monitor import BucketMonitor


@dataclass(frozen=True, slots=True)
class Alerting:
    """How a bucket makes alerts; without entries it makes none."""

    entries: Mapping[str, PatternEntry] = field(default_factory=dict)
    settings: AlertSettings = field(default_factory=AlertSettings)


class BucketAlerts:
    """Notes the rows of a micro-batch, then makes alerts of them; `encoded` is what to keep."""

    def __init__(self, alerting: Alerting, monitor: BucketMonitor, emission: Emission, stored: bytes) -> None:
        self._alerting, self._emission = alerting, emission
        self._state = decode_alerts(stored)
        self._noted: dict[str, list[pa.Table]] = {MATCH: [], FORECAST: []}
        self.use(monitor)

    def use(self, monitor: BucketMonitor) -> None:
        """From now on `monitor` is what finds."""
        entries = self._alerting.entries if monitor.entries is None else monitor.entries
        wanted = entries.values() if self._alerting.settings.enabled and self._alerting.entries else ()
        rules = AlertRules.of(wanted, self._alerting.settings, self._emission)
        patterns = {pattern.name: pattern for pattern in monitor.patterns}
        attributes = (
            {name for pattern in patterns.values() for name in attributes_in_reasons(pattern)} if wanted else set()
        )
        self._shown = ["lon", "lat", *sorted(attributes)]
        self._maker = AlertMaker(rules, patterns, {model.version: model for model in monitor.models})

    def note(self, rows: list[pa.Table], events: NDArray[np.int64] | None, read: pd.DataFrame) -> None:
        """Take in rows of one finding; `events` are the rows of `read` on which they were found, None for the clock."""
        for table in rows if self._maker.rules.patterns else ():
            kind = table.column("kind")[0].as_py()
            if kind == MATCH or self._alerting.settings.forecasts:
                valued = table if events is None else _with_values(table, events, read, self._shown)
                self._noted[kind].append(valued)

    def advance(self, now_us: int) -> tuple[list[pa.Table], int]:
        """The alerts that all noted rows and the clock make, as rows keyed by their track; how many are new."""
        found, forecasts = (_together(self._noted[kind]) for kind in (MATCH, FORECAST))
        self._noted = {MATCH: [], FORECAST: []}
        alerts, self._state = self._maker.advance(self._state, found, forecasts, now_us)
        if not alerts.num_rows:
            return [], 0
        rows = payload_rows(ALERT, alert_payloads(alerts))
        opened = pc.sum(pc.equal(alerts.column("status"), STATUS[OPENED])).as_py()
        return [rows.append_column("track", alerts.column("track"))], opened

    def encoded(self) -> bytes:
        """What to keep until the next micro-batch."""
        return encode_alerts(self._state)


def _with_values(table: pa.Table, events: NDArray[np.int64], read: pd.DataFrame, names: list[str]) -> pa.Table:
    there = [name for name in names if name in read.columns and name not in table.column_names]
    values = pa.Table.from_pandas(read[there].iloc[events], preserve_index=False)
    for name in there:
        table = table.append_column(name, values.column(name))
    return table


def _together(tables: list[pa.Table]) -> pa.Table | None:
    return pa.concat_tables(tables, promote_options="permissive") if tables else None
