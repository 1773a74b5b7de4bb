"""What a bucket tells: findings and late events as rows, and how many there were, for the metrics."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute
from numpy.typing import NDArray

from foresail.patterns.recognition.events import EventBatch
from foresail.patterns.recognition.matches import STATUS
from foresail.patterns.recognition.protocol import Finding
from foresail.patterns.recognition.rows import DETECTED, OPENED
from foresail.pipeline.results.match_batch import found_batch
from foresail.pipeline.stream.bucket import findings
from foresail.pipeline.stream.bucket.monitor import BucketMonitor
from foresail.pipeline.stream.bucket.ordering import LATE

_NONE: NDArray[np.int64] = np.empty(0, dtype=np.int64)
_BEGINS = (STATUS[DETECTED], STATUS[OPENED])
"""A match is emitted once with one of these; the other rows of an episode tell how it goes on."""


@dataclass(slots=True)
class BatchCounts:
    """What a micro-batch amounted to, for the metrics."""

    events: int = 0
    pairs: int = 0
    late: int = 0
    rerun: int = 0
    repeated: int = 0
    rejected: int = 0
    tracks: int = 0
    waiting: int = 0
    runs: int = 0
    forgotten: int = 0
    alerts: int = 0
    alert_rows: int = 0
    matches: dict[str, int] = field(default_factory=dict)
    match_rows: dict[str, int] = field(default_factory=dict)
    forecasts: dict[str, int] = field(default_factory=dict)
    composites: dict[str, int] = field(default_factory=dict)

    def counted(
        self, tables: Sequence[pa.Table], episodes: str, new: Sequence[pa.Table] | None = None
    ) -> list[pa.Table]:
        """The rows that are emitted, counted by pattern: with `changes`, of episodes opened and ended ones alone.

        Matches are counted where they are first emitted: in `new`, where only some of the rows are of new matches.
        """
        for rows in tables if new is None else new:
            if rows.column("kind")[0].as_py() == findings.MATCH:
                begins = pa.compute.is_in(rows.column("status"), pa.array(_BEGINS))
                _count(self.matches, rows.filter(begins))
        emitted = []
        for rows in tables:
            match = rows.column("kind")[0].as_py() == findings.MATCH
            if match and episodes == "changes":
                rows = rows.filter(pa.compute.not_equal(rows.column("status"), "updated"))  # noqa: PLW2901
            _count(self.match_rows if match else self.forecasts, rows)
            emitted += [rows] if rows.num_rows else []
        return emitted

    def counted_alerts(self, tables: Sequence[pa.Table], opened: int) -> Sequence[pa.Table]:
        """The rows that tell of alerts, counted; `opened` of the alerts are new."""
        self.alerts += opened
        self.alert_rows += sum(rows.num_rows for rows in tables)
        return tables

    def of_pairs(self) -> "BatchCounts":
        """The same where what was read are pairs: no positions came in for them, and they are no tracks of anyone."""
        return replace(self, events=0, pairs=self.events, tracks=0, forgotten=0)

    def counted_late(self, behind: pd.DataFrame) -> list[pa.Table]:
        """Late and repeated events as rows, counted."""
        if not len(behind):
            return []
        late = int((behind["reason"] == LATE).sum())
        self.late += late
        self.repeated += len(behind) - late
        return [late_rows(behind)]


def _count(tally: dict[str, int], rows: pa.Table) -> None:
    for counted in pa.compute.value_counts(rows.column("pattern").combine_chunks()).to_pylist():
        tally[counted["values"]] = tally.get(counted["values"], 0) + counted["counts"]


def finding_rows(
    finding: Finding, monitor: BucketMonitor, events: EventBatch, features: Sequence[str], disabled: Collection[str]
) -> tuple[list[pa.Table], NDArray[np.int64]]:
    """A finding as rows, without those of patterns that are switched off, and the event of each."""
    results = finding.results
    at: NDArray[np.int64] = results.event.astype(np.int64)
    if not len(at):
        return [], _NONE
    arrived = events.columns[findings.ARRIVED][at]
    if finding.kind == findings.MATCH:
        places = None if events.places is None else events.places.at(at)
        found = found_batch(results, finding.by.patterns, events.keys, events.keys_at(at), features, places)
        return _enabled(findings.match_rows(found, arrived), at, disabled)
    rows = findings.forecast_rows(results, monitor.forecast_columns(finding.by), finding.by.models, features, events)
    return _enabled(rows, at, disabled)


def _enabled(
    rows: pa.Table, events: NDArray[np.int64], disabled: Collection[str]
) -> tuple[list[pa.Table], NDArray[np.int64]]:
    if disabled:
        off = pa.compute.is_in(rows.column("pattern"), pa.array(sorted(disabled), pa.string()))
        on = ~off.to_numpy()
        rows, events = rows.filter(pa.array(on)), events[on]
    return ([rows] if rows.num_rows else []), events


def late_rows(behind: pd.DataFrame) -> pa.Table:
    """Events that came too late or twice, as they came, with the reason."""
    inner = {"bucket", "kind", "payload", "packed"}
    words = ("word_", "family_", "near_")
    shown = behind.drop(columns=[c for c in behind.columns if c in inner or c.startswith(words)])
    time = pd.to_datetime(shown["time_us"], unit="us", utc=True)
    records = shown.assign(time=time.map(lambda t: t.isoformat())).drop(columns=["time_us", "arrived_us"])
    plain = records.astype(object).where(records.notna(), None)
    rows = [{str(name): value for name, value in row.items()} for row in plain.to_dict("records")]
    return findings.payload_rows(findings.LATE, rows)
