"""Sorted rows become events, each with the features it is near, however Spark cut them into batches."""

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pytest

from foresail.pipeline.batch.sorted_rows import NO_LAYER, SortedRows, track_starts, whole_events, words_of

ROWS = [
    ("a", 1, NO_LAYER, None),
    ("a", 1, 0, "north"),
    ("a", 1, 1, "reef"),
    ("a", 2, NO_LAYER, None),
    ("b", 1, NO_LAYER, None),
    ("b", 1, 0, "south"),
    ("b", 1, 0, "north"),
    ("c", 5, NO_LAYER, None),
]
"""Track, time, layer and feature: an event, and after it a row for each feature it is near."""


def batch(rows: Sequence[tuple[str, int, int, str | None]], first: int = 0) -> pa.RecordBatch:
    track, time, layer, feature = (list(column) for column in zip(*rows, strict=True)) if rows else ([], [], [], [])
    numbers = np.arange(first, first + len(rows), dtype=np.int64)
    return pa.RecordBatch.from_pydict(
        {
            "track": pa.array(track, pa.string()),
            "time_us": pa.array(time, pa.int64()),
            "layer": pa.array(layer, pa.int32()),
            "feature": pa.array(feature, pa.string()),
            "word_0": numbers,
            "family_0_0": numbers + 100,
            "family_1_0": numbers + 200,
            "lon": numbers / 2,
            "lat": -numbers / 2,
        }
    )


@pytest.mark.parametrize(
    ("tracks", "names", "first_of"),
    [
        (["a"], ["a"], [0, 1]),
        (["a", "b"], ["a", "b"], [0, 1, 2]),
        (["a", "a", "b", "c", "c", "a"], ["a", "b", "c", "a"], [0, 2, 3, 5, 6]),
    ],
)
def test_a_track_begins_where_the_name_changes(tracks: list[str], names: list[str], first_of: list[int]) -> None:
    found, starts = track_starts(pa.array(tracks))
    assert found.to_pylist() == names
    assert starts.tolist() == first_of


def test_words_are_put_side_by_side_in_their_order() -> None:
    rows = pa.RecordBatch.from_pydict({"word_0": [1, 2], "other_0": [7, 7], "word_1": [3, 4]})
    assert words_of(rows, "word").tolist() == [[1, 3], [2, 4]]
    assert words_of(rows, "other").tolist() == [[7], [7]]


def test_an_event_has_the_features_of_each_layer_that_it_is_near() -> None:
    events = SortedRows(("ports", "reefs")).events(batch(ROWS))
    assert events.keys.to_pylist() == ["a", "b", "c"]
    assert events.first_of.tolist() == [0, 2, 3, 4]
    assert events.times.tolist() == [1, 2, 1, 5]
    assert events.words.ravel().tolist() == [0, 3, 4, 7]
    assert events.places is not None
    assert events.places.lon.tolist() == [0.0, 1.5, 2.0, 3.5]
    assert events.places.lat.tolist() == [0.0, -1.5, -2.0, -3.5]
    ports, reefs = events.layers.values()
    assert list(ports.names) == ["north", "south"]
    assert ports.near.at.tolist() == [0, 1, 1, 3, 3]
    assert ports.near.feature.tolist() == [0, 1, 0]
    assert ports.near.words.ravel().tolist() == [101, 105, 106]
    assert ports.words.ravel().tolist() == [100, 103, 104, 107]
    assert list(reefs.names) == ["reef"]
    assert reefs.near.at.tolist() == [0, 1, 1, 1, 1]


def test_a_feature_keeps_its_number_from_batch_to_batch() -> None:
    rows = SortedRows(("ports", "reefs"))
    rows.events(batch(ROWS[:4]))
    ports, _ = rows.events(batch(ROWS[4:])).layers.values()
    assert list(ports.names) == ["north", "south"]
    assert ports.near.feature.tolist() == [1, 0]


def test_without_families_there_is_no_layer_to_read() -> None:
    plain = batch([row for row in ROWS if row[2] == NO_LAYER]).drop_columns(["layer", "feature", "lon", "lat"])
    events = SortedRows(()).events(plain)
    assert len(events.times) == 4
    assert events.layers == {}
    assert events.places is None


@pytest.mark.parametrize("cut", range(len(ROWS) + 1))
def test_rows_of_near_features_come_with_their_event_wherever_batches_are_cut(cut: int) -> None:
    parts = [batch(ROWS[:cut]), batch(ROWS[cut:], cut)]
    whole = list(whole_events(parts))
    assert pa.Table.from_batches(whole).to_pylist() == pa.Table.from_batches([batch(ROWS)]).to_pylist()
    assert all(part.column("layer")[0].as_py() == NO_LAYER for part in whole if part.num_rows)
