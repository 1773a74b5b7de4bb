"""Held-out tracks come back from the store as they were kept, one day or several as one."""

from pathlib import Path

import numpy as np
import pyarrow as pa

from foresail.models.store import Interval, LocalStorage
from foresail.patterns.conditions import AttributeType
from foresail.pipeline.conditions.arrow import array_column
from foresail.pipeline.training.held_out import HeldOut, read_held_out, write_held_out
from foresail.pipeline.training.sample import NearTable, Sample, Share

DAY_US = 86_400_000_000
TYPES = {"speed_kn": AttributeType.NUMBER, "engine": AttributeType.STRING}


def day(number: int) -> Interval:
    return Interval(number * DAY_US, (number + 1) * DAY_US)


def held(number: int, tracks: str, near_event: int, port: str) -> HeldOut:
    """One event per letter, a minute apart, of the track of that name."""
    count = len(tracks)
    table = pa.table(
        {
            "track": list(tracks),
            "time_us": np.arange(count) * 60_000_000 + number * DAY_US,
            "offset": np.arange(count),
            "attribute_0": pa.array([None, *range(1, count)], pa.float64()),
            "attribute_1": [f"{number}"] * count,
        }
    )
    columns = {name: array_column(table.column(f"attribute_{n}"), name) for n, name in enumerate(TYPES)}
    near = NearTable(np.array([near_event]), np.array([0]), np.array([12.5]), (port,))
    first_of = np.array([0, count])
    sample = Sample(Share(1, count, 1), table, columns, pa.array(["a"]), np.arange(count), first_of, (near,))
    return HeldOut(sample, ("ports",), TYPES)


def test_several_days_are_one_sample_sorted_by_track_and_time(tmp_path: Path) -> None:
    storage = LocalStorage(tmp_path)
    write_held_out(storage, day(0), held(0, "aab", 2, "Brest"))
    write_held_out(storage, day(1), held(1, "abb", 1, "Roscoff"))
    found = read_held_out(storage, newest=2)
    assert found is not None
    assert found.sample.table.column("track").to_pylist() == list("aaabbb")
    assert found.sample.tracks.to_pylist() == ["a", "b"]
    assert found.sample.first_of.tolist() == [0, 3, 6]
    assert (np.diff(found.sample.times[:3]) > 0).all()
    assert [v.value for v in found.types.values()] == ["a number", "a text"]
    near = found.sample.near[0]
    tracks_near = [found.sample.table.column("track")[int(event)].as_py() for event in near.event]
    days_near = [found.sample.table.column("attribute_1")[int(event)].as_py() for event in near.event]
    assert (tracks_near, days_near) == (["b", "b"], ["0", "1"])
    assert [near.names[feature] for feature in near.feature] == ["Brest", "Roscoff"]
    assert found.data == f"{day(0)}..{day(1)}"


def test_nothing_later_than_asked_for_is_read(tmp_path: Path) -> None:
    storage = LocalStorage(tmp_path)
    assert read_held_out(storage) is None
    write_held_out(storage, day(0), held(0, "aab", 0, "Brest"))
    write_held_out(storage, day(1), held(1, "ab", 0, "Brest"))
    early = read_held_out(storage, until_us=DAY_US, newest=5)
    assert early is not None
    assert early.data == str(day(0))
    newest = read_held_out(storage)
    assert newest is not None
    assert newest.sample.events == 2
