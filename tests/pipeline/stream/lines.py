"""Small lines for tests of buckets: patterns over one number, events as rows, and what a batch says of them."""

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from foresail.patterns.compiler import CompiledPattern, compile_pattern
from foresail.patterns.recognition.events import EventBatch
from foresail.patterns.recognition.recogniser import PatternRecogniser
from foresail.patterns.recognition.tables import shared_conditions
from foresail.patterns.spec import Output, Report, spec_of
from foresail.pipeline.results.match_batch import found_batch
from foresail.pipeline.stream.bucket.alerts import Alerting
from foresail.pipeline.stream.bucket.bucket import Bucket
from foresail.pipeline.stream.bucket.input_rows import CONTROL, EVENT, by_kind
from foresail.pipeline.stream.bucket.line_spec import LineSpec
from foresail.pipeline.stream.bucket.operator import BucketLine, step
from foresail.pipeline.stream.bucket.rules import BucketRules
from foresail.pipeline.stream.state.saved import Chunk, Saved, from_row, to_row

MINUTE_US = 60_000_000
CONDITIONS = {"slow": "x < 1", "fast": "x >= 5"}
"""Bit 0 and bit 1 of the words."""


def some_patterns() -> tuple[CompiledPattern, ...]:
    return (
        compile_pattern(spec_of("stays", "slow{3,}", CONDITIONS, max_gap_us=10 * MINUTE_US, report=Report.EPISODES)),
        compile_pattern(spec_of("starts", "slow ; hidden _* ; fast", CONDITIONS, window_us=20 * MINUTE_US)),
        compile_pattern(spec_of("swings", "slow ; fast", CONDITIONS, output=Output.COUNT, max_gap_us=30 * MINUTE_US)),
    )


def spec_for(patterns: tuple[CompiledPattern, ...], name: str = "test") -> LineSpec:
    return LineSpec(name, patterns, shared_conditions(patterns))


def some_events(seed: int, tracks: int = 12, events: int = 900) -> pd.DataFrame:
    """Random walks of tracks whose times are all different, with silences longer than any `max_gap`."""
    rng = np.random.default_rng(seed)
    steps = rng.choice([20, 60, 400, 1500, 2400], size=events, p=[0.4, 0.4, 0.1, 0.07, 0.03]) * 1_000_000
    frame = pd.DataFrame({"track": [f"t{n}" for n in rng.integers(0, tracks, events)]})
    frame["time_us"] = 1_700_000_000_000_000 + pd.Series(steps).groupby(frame["track"]).cumsum().to_numpy()
    frame["time_us"] += np.arange(events)
    frame["word_0"] = rng.choice([0, 1, 2], size=events, p=[0.3, 0.5, 0.2])
    frame = frame.sort_values("time_us", kind="stable", ignore_index=True)
    return frame.assign(offset=np.arange(events), kind=EVENT, arrived_us=0, payload=None)


class Chunks(dict[int, Chunk]):
    """Resting tracks in a dictionary."""

    def take(self, number: int) -> Chunk | None:
        return self.get(number)

    def put(self, number: int, chunk: Chunk | None) -> None:
        if chunk is None:
            self.pop(number, None)
        else:
            self[number] = chunk


class Running:
    """A bucket that goes from micro-batch to micro-batch, through bytes as in the state store."""

    def __init__(
        self,
        spec: LineSpec,
        rules: BucketRules | None = None,
        alerts: Alerting | None = None,
        specs: tuple[LineSpec, ...] = (),
    ) -> None:
        self.spec, self.rules, self.alerts = spec, rules or BucketRules(), alerts or Alerting()
        self.specs = specs or (spec,)
        self.saved: Saved | None = None
        self.chunks = Chunks()
        self.told: list[Any] = []
        self.bucket: Bucket | None = None

    def read(self, events: pd.DataFrame, now_us: int = 0, control: list[str] | None = None) -> None:
        messages = pd.DataFrame({"payload": control or []}).assign(
            kind=CONTROL, offset=0, track="", time_us=0, arrived_us=0, word_0=0
        )
        ticks = NOTHING.assign(arrived_us=now_us) if now_us else NOTHING[:0]
        parts = [some for some in (events, messages, ticks) if len(some)]
        rows = pd.concat(parts, ignore_index=True) if parts else events
        line = BucketLine(self.spec, self.rules, self.alerts)
        self.bucket, told = step(line, self.specs, 0, by_kind(rows), self.saved, self.chunks)
        self.saved = from_row(to_row(self.bucket.saved()))
        self.told += told

    def rows(self, kind: str) -> list[dict[str, Any]]:
        return [row for table in self.told for row in table.to_pylist() if row["kind"] == kind]


NOTHING = pd.DataFrame(
    {"kind": [2], "track": [""], "payload": [None], "offset": [0], "time_us": [0], "arrived_us": [0], "word_0": [0]}
)
"""A tick of the clock."""

SAME = (
    *("pattern", "track", "time_us", "index", "status", "id_time_us", "id_tie"),
    *("start_time_us", "first_start_time_us", "count"),
)


def as_set(rows: list[dict[str, Any]]) -> set[tuple[Any, ...]]:
    return {tuple(row[name] for name in SAME) for row in rows}


def in_batch(patterns: tuple[CompiledPattern, ...], events: pd.DataFrame) -> list[dict[str, Any]]:
    """What batch recognition says of all events at once."""
    rows = events.sort_values(["track", "time_us", "offset"], kind="stable", ignore_index=True)
    first: NDArray[np.int64] = np.flatnonzero(~rows["track"].duplicated()).astype(np.int64)
    recogniser = PatternRecogniser(patterns)
    words = rows["word_0"].to_numpy(np.int64).reshape(-1, 1)
    batch = EventBatch(words, rows["time_us"].to_numpy(np.int64), np.append(first, len(rows)))
    matches, _ = recogniser.advance(batch, recogniser.fresh(len(first)))
    import pyarrow as pa

    return list(found_batch(matches, patterns, pa.array(rows["track"].tolist()), matches.event).to_pylist())
