"""The live line with patterns that read registers: any cut, late events and eviction tell what a batch tells."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st

from foresail.patterns.compiler import compile_pattern
from foresail.patterns.conditions.relations import value_columns
from foresail.patterns.conditions.typing import AttributeType
from foresail.patterns.recognition.events import EventBatch
from foresail.patterns.recognition.register_recogniser import RegisterRecogniser, kept_columns
from foresail.patterns.spec import Output, Report, spec_of
from foresail.pipeline.conditions.arrow import array_columns
from foresail.pipeline.results.match_batch import found_batch
from foresail.pipeline.stream.bucket.rules import BucketRules
from tests.pipeline.stream import lines
from tests.pipeline.stream.bucket.test_bucket import cut, without_last_silence

MINUTE_US = lines.MINUTE_US
WHERE = {
    **lines.CONDITIONS,
    "more": "x > was.x + 2",
    "same": "k == was.k",
    "later": "seconds_since(was) > 600 and k != was.k",
}
TYPES = {"x": AttributeType.NUMBER, "k": AttributeType.STRING}
PATTERNS = tuple(
    compile_pattern(spec_of(name, text, WHERE, **rules), TYPES)  # type: ignore[arg-type]
    for name, text, rules in (
        ("gathers", "slow as was ; hidden _* ; (more & same)", {"window_us": 20 * MINUTE_US}),
        ("twice", "any(fast as was, same+)", {"window_events": 6, "output": Output.ENUMERATE, "limit": 50}),
        (
            "moves",
            "_ as was ; hidden _* ; later",
            {"window_us": 60 * MINUTE_US, "max_gap_us": 30 * MINUTE_US, "report": Report.EPISODES},
        ),
    )
)
SPEC = replace(lines.spec_for(PATTERNS), types=TYPES)
SAME = (*lines.SAME, "events", "registers")


def some_events(seed: int) -> pd.DataFrame:
    events = lines.some_events(seed, events=500)
    rng = np.random.default_rng(seed)
    x = np.select([events["word_0"] == 1, events["word_0"] == 2], [0.5, 6.0], 3.0) + rng.random(len(events)) / 3
    keys = pd.Series(rng.choice(["a", "b", "c"], len(events)), dtype=object)
    return events.assign(x=x, k=keys.mask(rng.random(len(events)) < 0.05, None))


def in_batch(events: pd.DataFrame) -> list[dict[str, object]]:
    rows = events.sort_values(["track", "time_us", "offset"], kind="stable", ignore_index=True)
    first = np.flatnonzero(~rows["track"].duplicated()).astype(np.int64)
    recogniser = RegisterRecogniser(PATTERNS, SPEC.conditions)
    table = pa.table({"x": rows["x"], "k": rows["k"], "time": pa.array(rows["time_us"], pa.timestamp("us"))})
    batch = EventBatch(
        rows["word_0"].to_numpy(np.int64).reshape(-1, 1),
        rows["time_us"].to_numpy(np.int64),
        np.append(first, len(rows)),
        None,
        value_columns(kept_columns(PATTERNS), array_columns(table), len(rows)),
    )
    matches, _ = recogniser.advance(batch, recogniser.fresh(len(first)))
    return list(found_batch(matches, PATTERNS, pa.array(rows["track"].tolist()), matches.event).to_pylist())


def told(rows: list[dict[str, object]]) -> set[str]:
    return {repr([row.get(name) for name in SAME]) for row in rows}


@settings(max_examples=12, deadline=None)
@given(seed=st.integers(0, 10_000), rest_s=st.sampled_from([60, 600, 100_000]), late=st.booleans())
def test_any_cut_tells_what_a_batch_tells(seed: int, rest_s: int, late: bool) -> None:
    events = some_events(seed)
    sent = events
    if late:
        delay = np.random.default_rng(seed).integers(0, 50_000_000, len(events))
        sent = events.iloc[np.argsort(events["time_us"] + delay)]
    line = lines.Running(SPEC, BucketRules(rest_after_us=rest_s * 1_000_000, out_of_order_us=60_000_000 if late else 0))
    for part in cut(sent, seed):
        line.read(part)
    if late:
        line.read(lines.NOTHING, control=['{"id": "end", "flush": true}'])
    live, batch = line.rows("match"), in_batch(events)
    assert {row["pattern"] for row in batch} == {"gathers", "twice", "moves"}
    open_at_end = lines.as_set(live) - without_last_silence(live, events)
    kept = [row for row in live if tuple(row[name] for name in lines.SAME) not in open_at_end]
    assert told(kept) == told(batch)
