from itertools import pairwise
from random import Random

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from foresail.pipeline.errors import InputError
from foresail.pipeline.local.frames import open_frame
from foresail.pipeline.local.sorted_events import Named, SortedEvents, in_order, sort_events

BEGIN = 1_700_000_000


def events(**columns: object) -> SortedEvents:
    return sort_events(open_frame(pa.table(columns)), Named(time_unit="s"))


def test_events_are_sorted_by_track_time_and_place_in_the_frame() -> None:
    found = events(track=["b", "a", "b", "a", "a"], time=[2, 3, 1, 1, 1], x=[0, 1, 2, 3, 4])
    assert found.tracks.to_pylist() == ["b", "a"]
    assert found.first_of.tolist() == [0, 2, 5]
    assert found.taken("x", slice(0, 5)).values.tolist() == [2, 0, 3, 4, 1]


def test_an_offset_orders_events_of_one_time() -> None:
    found = events(track=["a"] * 3, time=[1, 1, 1], offset=[3, 1, 2])
    assert found.order is not None
    assert found.order.tolist() == [1, 2, 0]


def test_what_lies_in_order_is_not_moved() -> None:
    assert events(track=["b", "b", "a"], time=[1, 2, 1]).order is None


def test_sorting_is_that_of_a_plain_sort() -> None:
    random = Random(3)
    for _ in range(200):
        size = random.randint(0, 30)
        codes = np.array([random.randint(0, 3) for _ in range(size)], dtype=np.int32)
        times = np.array([random.randint(0, 5) for _ in range(size)], dtype=np.int64)
        order = in_order(codes, times, None)
        rows = list(range(size)) if order is None else order.tolist()
        assert sorted(rows) == list(range(size))
        for track in set(codes.tolist()):
            mine = [(int(times[row]), row) for row in rows if codes[row] == track]
            assert mine == sorted(mine)
        assert sum(codes[a] != codes[b] for a, b in pairwise(rows)) == max(len(set(codes)) - 1, 0)


def test_rows_without_a_track_or_a_time_are_told() -> None:
    found = events(track=["a", None, " ", "a", "a"], time=[1.0, 2.0, 3.0, None, 2.0])
    assert {reason: rows.tolist() for reason, rows in found.rejected.items()} == {"no_track": [1, 2], "no_time": [3]}
    assert found.times.tolist() == [1_000_000, 2_000_000]


def test_numbers_of_tracks_that_became_fractions_are_whole_again() -> None:
    frame = pd.DataFrame({"track": [219000001.0, np.nan, 219000001.0], "time": [1, 2, 3]})
    found = sort_events(open_frame(frame), Named(time_unit="s"))
    assert found.tracks.to_pylist() == ["219000001"]
    with pytest.raises(InputError, match="holds fractions"):
        sort_events(open_frame(frame.assign(track=0.5)), Named(time_unit="s"))


def test_a_category_with_words_that_are_not_there_makes_no_tracks() -> None:
    frame = pd.DataFrame({"track": pd.Categorical(["b", "b"], categories=["a", "b"]), "time": [2, 1]})
    found = sort_events(open_frame(frame), Named(time_unit="s"))
    assert found.tracks.to_pylist() == ["b"]
    assert found.first_of.tolist() == [0, 2]


@pytest.mark.parametrize(
    ("columns", "named", "said"),
    [
        (["trak", "time"], Named(), "no column 'track'. Did you mean 'trak'? Say so: track='trak'"),
        (["MMSI", "time"], Named(), "no column 'track'. Did you mean 'MMSI'? Say so: track='MMSI'"),
        (["track", "BaseDateTime"], Named(), "no column 'time'. Did you mean 'BaseDateTime'?"),
        (["track", "x"], Named(), "no column 'time'. Say which it is: time='...'. Columns: track, x."),
        (["mmsi", "ts"], Named("mmsi", "tss"), "no column 'tss'. Did you mean 'ts'?"),
    ],
)
def test_a_missing_column_is_told_with_the_nearest_name(columns: list[str], named: Named, said: str) -> None:
    frame = open_frame(pa.table({name: ["1"] for name in columns}))
    with pytest.raises(InputError) as error:
        sort_events(frame, named)
    assert said in str(error.value)


def test_minutes_since_the_start_begin_anew_after_half_an_hour_of_silence() -> None:
    found = events(track=["a"] * 4 + ["b"], time=[0, 60, 1860, 3661, 7000])
    assert found.taken("minutes_since_start", slice(0, 5)).values.tolist() == [0.0, 1.0, 31.0, 0.0, 0.0]


def test_no_events_at_all() -> None:
    found = events(track=pa.array([], pa.string()), time=pa.array([], pa.int64()))
    assert len(found) == 0
    assert found.first_of.tolist() == [0]
    assert list(found.slices(10)) == []
