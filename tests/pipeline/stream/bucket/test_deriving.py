"""A bucket that puts positions in order, derives and recognises in one step: in any cut what a batch says."""

import json
from typing import Any

import numpy as np
import pandas as pd
import pytest

from foresail.patterns.compiler import CompiledPattern, compile_pattern
from foresail.patterns.conditions.typing import AttributeType
from foresail.patterns.recognition.tables import shared_conditions
from foresail.patterns.spec import Report, spec_of
from foresail.pipeline.stages.derive import DeriveOptions
from foresail.pipeline.stages.track_memory import empty_memory
from foresail.pipeline.stream.bucket.alerts import Alerting
from foresail.pipeline.stream.bucket.deriving import Deriving
from foresail.pipeline.stream.bucket.input_rows import CONTROL, EVENT, by_kind
from foresail.pipeline.stream.bucket.line_spec import LineSpec
from foresail.pipeline.stream.bucket.operator import BucketLine, step
from foresail.pipeline.stream.bucket.reordering import Reordering
from foresail.pipeline.stream.bucket.rules import BucketRules
from foresail.pipeline.stream.state.saved import Saved, from_row, to_row
from tests.pipeline.stream import lines

NUMBERS = ("lon", "lat", "speed_kn", "distance_m", "turn_deg", "status_duration_min", "minutes_since_start")
TYPES = {**dict.fromkeys(NUMBERS, AttributeType.NUMBER), "change_in_heading": AttributeType.BOOLEAN}
WHERE = {
    "slow": "speed_kn < 3 and distance_m < 400",
    "turn": "change_in_heading and turn_deg < 90",
    "late": "status_duration_min > 5 or minutes_since_start > 60",
}


def some_patterns() -> tuple[CompiledPattern, ...]:
    return (
        compile_pattern(
            spec_of("stays", "slow{2,}", WHERE, max_gap_us=10 * lines.MINUTE_US, report=Report.EPISODES), TYPES
        ),
        compile_pattern(spec_of("turns", "slow ; hidden _* ; turn", WHERE, window_us=20 * lines.MINUTE_US), TYPES),
        compile_pattern(spec_of("waits", "late ; turn", WHERE), TYPES),
    )


PATTERNS = some_patterns()
SPEC = LineSpec("deriving", PATTERNS, shared_conditions(PATTERNS), types=TYPES)


def some_positions(seed: int, number: int = 500) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({"track": [f"t{n}" for n in rng.integers(0, 7, number)]})
    steps = rng.choice([20, 60, 2400], number, p=[0.5, 0.45, 0.05])
    seconds = 1_700_000_000 + pd.Series(steps).groupby(frame["track"]).cumsum() + np.arange(number) * 1e-3
    frame["time"] = pd.to_datetime((seconds * 1e6).round().astype("int64"), unit="us")
    frame["lon"] = 8 + rng.normal(0, 0.003, number)
    frame["lat"] = 54 + rng.normal(0, 0.002, number)
    frame["speed_kn"] = np.where(rng.random(number) < 0.3, np.nan, rng.uniform(0, 6, number))
    for name in ("heading_deg", "course_deg"):
        frame[name] = np.where(rng.random(number) < 0.3, np.nan, rng.uniform(0, 360, number))
    frame["nav_status"] = np.repeat(rng.choice([0, 1, np.nan], number // 5), 5)
    frame = frame.sort_values("time", kind="stable", ignore_index=True)
    return frame.assign(
        offset=np.arange(number), kind=EVENT, payload=None, arrived_us=0, bucket=0, engine=None, accelerating=None
    )


class Running:
    """A bucket of a line that derives, from micro-batch to micro-batch, through bytes as in the state store."""

    def __init__(self, rules: BucketRules) -> None:
        self.deriving = Deriving(DeriveOptions(), rules, SPEC)
        settled = BucketRules(rest_after_us=rules.rest_after_us, rerun_us=rules.rerun_us)
        self.line = BucketLine(SPEC, settled, Alerting(), deriving=self.deriving)
        self.kept: Any = None
        self.positions: dict[int, pd.DataFrame] = {}
        self.saved: Saved | None = None
        self.chunks, self.emitted = lines.Chunks(), list[Any]()

    def read(self, arrived: pd.DataFrame) -> None:
        reordering = Reordering(
            self.deriving.rules,
            self.kept,
            lambda number: self.positions.get(number, empty_memory()),
            self.positions.__setitem__,
        )
        rows = by_kind(reordering.advance(arrived), self.deriving)
        self.kept = reordering.row()
        bucket, emitted = step(self.line, (SPEC,), 0, rows, self.saved, self.chunks)
        self.saved = from_row(to_row(bucket.saved()))
        self.emitted += emitted

    def flush(self, like: pd.DataFrame) -> None:
        self.read(like.iloc[[0]].assign(kind=CONTROL, payload='{"id": "1", "flush": true}'))

    def rows(self, kind: str) -> list[dict[str, Any]]:
        return [row for table in self.emitted for row in table.to_pylist() if row["kind"] == kind]


def in_batch(rows: pd.DataFrame) -> set[tuple[Any, ...]]:
    reordering = Reordering(BucketRules(out_of_order_us=10**15), None, lambda _: empty_memory(), lambda *_: None)
    reordering.advance(rows)
    flushed = reordering.advance(rows.iloc[[0]].assign(kind=CONTROL, payload='{"id": "1", "flush": true}'))
    events = by_kind(flushed, Deriving(DeriveOptions(), BucketRules(), SPEC)).events
    return lines.as_set(lines.in_batch(PATTERNS, events))


def differ(told: list[dict[str, Any]], batch: set[tuple[Any, ...]]) -> tuple[Any, Any]:
    """What is missing, and what is too much but for what the clock closed."""
    live = lines.as_set(told)
    return batch - live, {row for row in live - batch if row[4] != "timed_out"}


@pytest.mark.parametrize("rest_s", [100, 100_000])
@pytest.mark.parametrize("size", [13, 90, 500])
def test_a_bucket_that_derives_says_in_any_cut_what_a_batch_says(size: int, rest_s: int) -> None:
    rows, rng = some_positions(1), np.random.default_rng(1)
    seconds = rows["time"].astype("datetime64[us]").astype("int64").to_numpy() / 1e6
    arriving = rows.iloc[np.argsort(seconds + rng.uniform(0, 50, len(rows)))]
    line = Running(BucketRules(out_of_order_us=60_000_000, rest_after_us=rest_s * 1_000_000))
    for first in range(0, len(rows), size):
        line.read(arriving.iloc[first : first + size])
    line.flush(rows)
    batch = in_batch(rows)
    assert {row[0] for row in batch} == {"stays", "turns", "waits"}
    assert differ(line.rows("match"), batch) == (set(), set())
    stats = [json.loads(row["payload"]) for row in line.rows("stats")]
    assert sum(some["events"] for some in stats) == len(rows)


def test_late_and_repeated_events_are_emitted_and_counted_apart() -> None:
    rows = some_positions(2)
    line = Running(BucketRules())
    line.read(rows)
    line.read(pd.concat([rows.groupby("track").tail(1), rows.iloc[:3]]).assign(offset=range(900, 910)))
    stats = [json.loads(row["payload"]) for row in line.rows("stats")]
    assert [(some["late"], some["repeated"]) for some in stats] == [(0, 0), (3, 7)]
    late = [json.loads(row["payload"]) for row in line.rows("late")]
    assert sorted(row["reason"] for row in late) == ["late"] * 3 + ["same_time"] * 7
    assert set(late[0]) == {"track", "time", "reason", "lon", "lat", "rerun"}


def test_late_events_that_are_read_after_all_leave_the_rows_of_a_batch() -> None:
    rows, rng = some_positions(3), np.random.default_rng(3)
    held_back = rng.random(len(rows)) < 0.08
    arriving = rows.iloc[np.argsort(np.arange(len(rows)) + np.where(held_back, 60, 0), kind="stable")]
    line = Running(BucketRules(rerun_us=10**12, rest_after_us=10**12))
    for first in range(0, len(rows), 30):
        line.read(arriving.iloc[first : first + 30])
    told = line.rows("match")
    assert "retracted" in {row["status"] for row in told}
    last: dict[tuple[Any, ...], dict[tuple[Any, ...], dict[str, Any]]] = {}
    for row in told:
        match = (row["pattern"], row["track"], row["id_time_us"], row["id_tie"])
        if row["status"] == "retracted":
            last.pop(match, None)
        else:
            last.setdefault(match, {})[row["status"], row["time_us"]] = row
    kept = [row for some in last.values() for row in some.values()]
    assert differ(kept, in_batch(rows)) == (set(), set())
