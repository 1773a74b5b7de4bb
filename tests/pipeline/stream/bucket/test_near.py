"""Families in a bucket: near features as text, and the same matches as a batch in any cut."""

import numpy as np
import pandas as pd
import pyarrow as pa

from foresail.patterns.compiler import compile_pattern
from foresail.patterns.recognition.families import FamilyRecogniser
from foresail.patterns.recognition.recogniser import Batch
from foresail.patterns.spec import spec_of
from foresail.pipeline.results.match_batch import found_batch
from foresail.pipeline.stream.bucket.line_spec import FamilySpec, LineSpec
from foresail.pipeline.stream.bucket.near import near_of, text_of
from tests.pipeline.stream import lines

PATTERN = compile_pattern(
    spec_of(
        "enters",
        "out ; inside",
        {"out": "port.distance_m >= 5", "inside": "port.distance_m < 5"},
        max_gap_us=30 * lines.MINUTE_US,
        family="port",
    )
)
FAR, OUT, INSIDE = 1, 1, 2
"""Words: bit 0 is `out`, bit 1 is `inside`; far from a port is out of it."""
SPEC = LineSpec("families", (), (), (FamilySpec((PATTERN,), PATTERN.conditions, "ports"),))


def some_events(seed: int) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    frame = lines.some_events(seed, tracks=6, events=400).assign(word_0=0, family_0_0=FAR)
    near = [
        text_of([(name, [int(rng.choice([OUT, INSIDE]))]) for name in ("Kiel", "Tönning") if rng.random() < 0.4])
        for _ in range(len(frame))
    ]
    return frame.assign(near_0=pd.Series(near, dtype=object))


def test_the_text_of_near_features_is_read_as_it_was_written() -> None:
    features: dict[str, None] = {}
    texts = np.array([text_of([("Kiel", [1, -5])]), None, text_of([("B, C", [7, 8]), ("Kiel", [3, 4])])], dtype=object)
    near = near_of(texts, 2, features)
    assert near.at.tolist() == [0, 1, 1, 3]
    assert near.feature.tolist() == [0, 1, 0]
    assert near.words.tolist() == [[1, -5], [7, 8], [3, 4]]
    assert list(features) == ["Kiel", "B, C"]


def test_families_tell_in_any_cut_what_they_tell_in_a_batch() -> None:
    for seed in range(5):
        events = some_events(seed)
        line = lines.Running(SPEC)
        for first in range(0, 400, 37):
            line.read(events.iloc[first : first + 37])
        rows = events.sort_values(["track", "time_us"], kind="stable", ignore_index=True)
        family, features = FamilyRecogniser([PATTERN]), dict[str, None]()
        first_of = np.append(np.flatnonzero(~rows["track"].duplicated()), len(rows))
        batch = Batch(rows["family_0_0"].to_numpy(np.int64).reshape(-1, 1), rows["time_us"].to_numpy(), first_of)
        near = near_of(rows["near_0"].to_numpy(dtype=object), 1, features)
        matches, _ = family.advance(batch, near, family.fresh(len(first_of) - 1))
        expected = found_batch(
            matches, [PATTERN], pa.array(rows["track"].tolist()), matches.event, features
        ).to_pylist()
        same = (*lines.SAME, "instance")
        assert expected
        assert {tuple(r[n] for n in same) for r in line.rows("match")} == {tuple(r[n] for n in same) for r in expected}
