"""Events sent in pieces and put together again are the same events, in order of track, time and offset."""

from random import Random

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from foresail.patterns.recognition.events import EventBatch, LayerEvents, Near
from foresail.pipeline.batch.gathering import bucket_keys, gathered, put_together, spark_hash

Event = tuple[str, int, int, int, float, tuple[int, ...]]


def read_batch(events: list[Event]) -> EventBatch:
    """Events as (track, time, offset, word, lon, near features)."""
    track = pa.array([event[0] for event in events]).dictionary_encode()
    near = [feature for event in events for feature in event[5]]
    at = np.cumsum([0, *(len(event[5]) for event in events)])
    family = LayerEvents(
        np.array([[-event[3]] for event in events], dtype=np.int64),
        Near(at.astype(np.int64), np.array(near, dtype=np.int32), np.array(near, dtype=np.int64).reshape(-1, 1) * 10),
        [f"f{n}" for n in range(9)],
    )
    columns = [np.array([event[place] for event in events], dtype=np.int64) for place in (1, 2, 3)]
    lon = np.array([event[4] for event in events])
    return EventBatch(
        columns[2].reshape(-1, 1), columns[0], np.arange(len(events) + 1), track,
        {"offset": columns[1], "lon": lon, "lat": -lon}, {"ports": family},
    )  # fmt: skip


def listed(rows: EventBatch) -> list[tuple[object, ...]]:
    (family,) = rows.layers.values()
    assert rows.places is not None
    return [
        (
            rows.keys[slot].as_py(), int(rows.times[n]), int(rows.words[n, 0]), float(rows.places.lon[n]),
            family.near.feature[family.near.at[n] : family.near.at[n + 1]].tolist(),
            (family.near.words[family.near.at[n] : family.near.at[n + 1], 0]).tolist(), int(family.words[n, 0]),
        )
        for slot in range(rows.key_count)
        for n in range(rows.first_of[slot], rows.first_of[slot + 1])
    ]  # fmt: skip


EVENTS = st.lists(
    st.tuples(
        st.sampled_from(["a", "b", "ç", "d"]), st.integers(0, 9), st.integers(0, 3), st.integers(0, 99),
        st.floats(-180, 180), st.lists(st.integers(0, 8), max_size=3, unique=True).map(lambda f: tuple(sorted(f))),
    ),
    min_size=1, max_size=40, unique_by=lambda event: (event[0], event[1], event[2]),
)  # fmt: skip


@settings(max_examples=150, deadline=None)
@given(EVENTS, st.integers(1, 3), st.integers(1, 6), st.integers(1, 9))
def test_nothing_is_lost_or_out_of_order(events: list[Event], buckets: int, batches: int, most: int) -> None:
    keys = bucket_keys(buckets)
    sent = [gathered(read_batch(events[n::batches]), keys) for n in range(batches) if events[n::batches]]
    arrived: list[tuple[object, ...]] = []
    for key in keys:
        mine = [batch.filter(pa.array(batch.column("bucket").to_numpy() == key)) for batch in sent]
        for rows in put_together([batch for batch in mine if len(batch)], 1, {"ports": (1, ["f"] * 9)}):
            arrived += [event for part in rows.in_slices(most) for event in listed(part)]
    by_track = {track: [event for event in arrived if event[0] == track] for track in {event[0] for event in events}}
    for track, found in by_track.items():
        ordered = sorted((event for event in events if event[0] == track), key=lambda event: event[1:3])
        assert found == [
            (t, time, word, lon, list(near), [10 * f for f in near], -word) for t, time, _, word, lon, near in ordered
        ]
    assert len(arrived) == len(events)


@pytest.mark.parametrize("buckets", [1, 2, 7, 64])
def test_each_bucket_has_a_partition_of_its_own(buckets: int) -> None:
    assert len({spark_hash(key) % buckets for key in bucket_keys(buckets)}) == buckets


@pytest.mark.spark
def test_the_hash_is_that_of_spark(spark) -> None:  # type: ignore[no-untyped-def]
    random = Random(3)
    numbers = [0, 1, 42, 2**31 - 1, *(random.randrange(2**31) for _ in range(50))]
    frame = spark.createDataFrame([(n,) for n in numbers], "n int").selectExpr("n", "hash(n) as h")
    assert [(row.n, row.h) for row in frame.collect()] == [(n, spark_hash(n)) for n in numbers]
