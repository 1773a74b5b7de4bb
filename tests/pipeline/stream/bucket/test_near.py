"""Families in a bucket: near features as lists, and the same matches as a batch in any cut."""

from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from foresail.patterns.compiler import compile_pattern
from foresail.patterns.recognition.events import EventBatch
from foresail.patterns.recognition.families import FamilyRecogniser
from foresail.patterns.spec import spec_of
from foresail.pipeline.results.match_batch import found_batch
from foresail.pipeline.stream.bucket.line_spec import FamilySpec, LineSpec
from foresail.pipeline.stream.bucket.near import check_near, near_of
from foresail.pipeline.stream.state.codec import StateFormatError
from tests.patterns.layered import LAYER, beside
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
    near = [[name for name in ("Kiel", "Tönning") if rng.random() < 0.4] or None for _ in range(len(frame))]
    words = [None if names is None else rng.choice([OUT, INSIDE], len(names)) for names in near]
    return frame.assign(near_0_name=lists(near), near_0_word_0=lists(words))


def lists(values: list[Any]) -> "pd.Series[Any]":
    return pd.Series(values, dtype=object)


def test_lists_of_near_features_are_read_as_flat_arrays() -> None:
    features: dict[str, None] = {}
    rows = pd.DataFrame(
        {
            "near_0_name": lists([["Kiel"], None, np.array(["B, C", "Kiel"], dtype=object), []]),
            "near_0_word_0": lists([[1], None, np.array([7, 3]), []]),
            "near_0_word_1": lists([[-5], None, np.array([8, -(1 << 63)]), []]),
        }
    )
    near = near_of(rows, 0, 2, features)
    assert near.at.tolist() == [0, 1, 1, 3, 3]
    assert near.feature.tolist() == [0, 1, 0]
    assert near.words.tolist() == [[1, -5], [7, 8], [3, -(1 << 63)]]
    assert list(features) == ["Kiel", "B, C"]
    nothing = near_of(rows.iloc[[1, 3]], 0, 2, features)
    assert (nothing.at.tolist(), nothing.feature.tolist(), nothing.words.shape) == ([0, 0, 0], [], (0, 2))


def test_events_kept_with_near_features_as_text_are_refused_with_the_way_out() -> None:
    check_near(None)
    check_near(some_events(1))
    with pytest.raises(StateFormatError, match=r"3 events .* earlier foresail. Name a new folder in stream.checkpoint"):
        check_near(pd.DataFrame({"track": ["a"] * 3, "near_0": [None, "", "Kiel\x1f1"]}))


def test_families_tell_in_any_cut_what_they_tell_in_a_batch() -> None:
    for seed in range(5):
        events = some_events(seed)
        line = lines.Running(SPEC)
        for first in range(0, 400, 37):
            line.read(events.iloc[first : first + 37])
        rows = events.sort_values(["track", "time_us"], kind="stable", ignore_index=True)
        family, features = FamilyRecogniser([PATTERN], LAYER), dict[str, None]()
        first_of = np.append(np.flatnonzero(~rows["track"].duplicated()), len(rows))
        batch = EventBatch(rows["family_0_0"].to_numpy(np.int64).reshape(-1, 1), rows["time_us"].to_numpy(), first_of)
        near = near_of(rows, 0, 1, features)
        matches, _ = family.advance(beside(batch, near), family.fresh(len(first_of) - 1))
        expected = found_batch(
            matches, [PATTERN], pa.array(rows["track"].tolist()), matches.event, features
        ).to_pylist()
        same = (*lines.SAME, "instance")
        assert expected
        assert {tuple(r[n] for n in same) for r in line.rows("match")} == {tuple(r[n] for n in same) for r in expected}
